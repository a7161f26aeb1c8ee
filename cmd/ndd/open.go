package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/index/live"
	"ndd/engine/memory"
)

// openFlags say how an index is opened for queries.
type openFlags struct {
	verify  live.Verify
	preload bool
}

func (o *openFlags) register(cmd *cobra.Command) {
	cmd.Flags().Var(&o.verify, "checksums", "how to verify the index: full checks every checksum before the first answer; fast opens in milliseconds and leaves large sections to 'ndd check'")
	cmd.Flags().BoolVar(&o.preload, "preload", false, "read the index into huge pages instead of mapping its files; fails at once if there is not enough memory")
}

// open opens the index as the flags and the options say. It reports how with --verbose, and
// always what was not verified.
func (o *openFlags) open(ctx context.Context, g *globals, dir string, options engine.OpenOptions) (*engine.Index, error) {
	bar := g.newBar("verifying", 0, bytesUnit)
	options.Threads, options.Verify, options.Load = g.threads, o.verify, o.preload
	if options.Budget == nil {
		options.Budget = memory.NewBudget(g.machine.Limit(0))
	}
	options.Progress = bar.setOf
	x, err := engine.Open(ctx, dir, options)
	bar.end()
	if err != nil {
		return nil, memory.Advise(err, "without --preload the files are mapped instead")
	}
	did := x.Live().Opening()
	g.log.Debug(fmt.Sprintf("%s: %v", dir, did))
	if did.Skipped > 0 {
		g.log.Info(fmt.Sprintf("%s: --checksums fast: %s of %s were not verified; run 'ndd check %s' to verify them",
			dir, humanize.IBytes(did.Skipped), humanize.IBytes(did.Bytes), dir))
	}
	return x, nil
}
