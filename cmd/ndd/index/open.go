package index

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/index/live"
	"ndd/engine/memory"
)

// OpenFlags say how an index is opened for queries.
type OpenFlags struct {
	verify  live.Verify
	Preload bool
}

// Register adds the flags.
func (o *OpenFlags) Register(cmd *cobra.Command) {
	cmd.Flags().Var(&o.verify, "checksums", "how to verify the index: full checks every checksum before the first answer; fast opens in milliseconds and leaves large sections to 'ndd check'")
	cmd.Flags().BoolVar(&o.Preload, "preload", false, "read the index into huge pages instead of mapping its files; fails at once if there is not enough memory")
}

// Open opens the index as the flags and the options say. It reports how with --verbose, and
// always what was not verified.
func (o *OpenFlags) Open(ctx context.Context, g *cli.Globals, dir string, options engine.OpenOptions) (*engine.Index, error) {
	bar := g.NewBar("verifying", 0, cli.BytesUnit)
	options.Threads, options.Verify, options.Load = g.Threads, o.verify, o.Preload
	if options.Budget == nil {
		options.Budget = memory.NewBudget(g.Machine.Limit(0))
	}
	options.Progress = bar.SetOf
	x, err := engine.Open(ctx, dir, options)
	bar.End()
	if err != nil {
		return nil, memory.Advise(err, "without --preload the files are mapped instead")
	}
	did := x.Live().Opening()
	g.Log.Debug(fmt.Sprintf("%s: %v", dir, did))
	if did.Skipped > 0 {
		g.Log.Info(fmt.Sprintf("%s: --checksums fast: %s of %s were not verified; run 'ndd check %s' to verify them",
			dir, humanize.IBytes(did.Skipped), humanize.IBytes(did.Bytes), dir))
	}
	return x, nil
}
