package index

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/memory"
	"example.org/ndd/numa"
)

// OpenFlags holds the flags for opening an index for queries.
type OpenFlags struct {
	verify  live.Verify
	Preload bool
}

// Register adds the flags.
func (o *OpenFlags) Register(cmd *cobra.Command) {
	o.RegisterChecksums(cmd)
	cmd.Flags().BoolVar(&o.Preload, "preload", false, "read the index into huge pages instead of mapping its files")
}

// RegisterChecksums adds --checksums alone.
func (o *OpenFlags) RegisterChecksums(cmd *cobra.Command) {
	cli.ValueVar(cmd.Flags(), &o.verify, "checksums", "full: verify all; fast: open in milliseconds",
		[]string{"full", "fast"}, live.VerifyFull, live.VerifyFast)
}

// Open opens an index with the flags and options. It logs the number of bytes that were not verified, and with
// --verbose how the index was opened.
func (o *OpenFlags) Open(ctx context.Context, g *cli.Files, dir string,
	options live.OpenOptions) (*engine.Index, error) {
	// Complete the options.
	bar := g.Progress.NewBar("verifying", 0, cli.BytesUnit)
	options.Threads, options.Verify, options.Load = g.Threads, o.verify, o.Preload
	if options.Budget == nil {
		options.Budget = memory.NewBudget(g.Machine.Limit(0))
	}
	options.Progress = bar.SetOf
	options.ClockJumped = func(by time.Duration) {
		side := "ahead of"
		if by < 0 {
			side = "behind"
		}
		g.Log.Warn(fmt.Sprintf("%s: the system's clock is %.1f days %s the last use of the index: "+
			"no document expires until the clock is right; if it is right, start 'ndd serve' with --accept-clock", dir,
			by.Abs().Hours()/24, side))
	}
	// Open the index.
	index, err := live.Open(ctx, dir, options)
	bar.End()
	if err != nil {
		if o.Preload {
			err = memory.Advise(err, "without --preload the files are mapped instead")
		}
		return nil, err
	}
	// Report the unverified bytes.
	did := index.OpenReport
	g.Log.Debug(fmt.Sprintf("%s: %v", dir, did))
	if did.Skipped > 0 {
		g.Log.Info(fmt.Sprintf("%s: --checksums fast: %s of %s were not verified; run 'ndd check %s' to verify them",
			dir, humanize.IBytes(did.Skipped), humanize.IBytes(did.Bytes), dir))
	}
	return engine.Wrap(index), nil
}

// RegisterSpread adds the flag --numa: whether each memory node gets a copy of the tables.
func RegisterSpread(cmd *cobra.Command, when *string) {
	cli.WordVar(cmd.Flags(), when, "numa", "copy tables to each memory node: auto, on or off", "auto", "on", "off")
}

// processorsMin is the number of processors from which on workers answer queries. A query by a worker takes several
// times as long (go run ./bench search), which pays off only if cache misses to another node are expensive.
const processorsMin = 8

// Spread returns the placement of tables for a value of --numa. nil means that the tables remain in their file, as for
// "off" and "".
func Spread(g *cli.Files, when string) *worker.Options {
	if when == "off" || when == "" {
		return nil
	}
	h := numa.New(numa.Options{Log: g.Log})
	if when == "auto" && len(h.Nodes()) == 1 {
		return nil
	}
	g.Log.Debug("memory nodes: " + h.String())
	return &worker.Options{Host: h, Direct: runtime.GOMAXPROCS(0) < processorsMin}
}

// LogSpread logs the placement of an index's tables.
func LogSpread(g *cli.Files, x *engine.Index) {
	if r, ok := live.Unwrap(x).Spread(); ok {
		g.Log.Info("memory nodes: " + r.String())
	}
}

// openToWrite verifies every checksum of the index in folder dir, and opens it for writing.
func openToWrite(ctx context.Context, g *cli.Files, dir string, how live.OpenOptions) (*engine.Index, error) {
	var o OpenFlags
	how.Write, how.Disk, how.Budget = true, g.Disk, memory.ForProgram(g.Machine.Limit(0))
	how.Planned = SayPlanned(g, how.Budget)
	x, err := o.Open(ctx, g, dir, how)
	if err != nil {
		return nil, err
	}
	g.Log.Debug(fmt.Sprintf("%s: %v", dir, live.Unwrap(x).Recovery))
	return x, nil
}

// SayPlanned returns a function that logs the memory for making a segment before it is allocated.
func SayPlanned(g *cli.Files, b *memory.Budget) func(docs, bytes uint64) {
	return func(docs, bytes uint64) {
		g.Log.Debug(fmt.Sprintf("making a segment of %s uses at most %s of memory without mapped files; %s are available (%s)",
			cli.Number(docs, "document"), humanize.IBytes(b.Total(bytes)), humanize.IBytes(b.Limit().Bytes), b.Limit().Source))
	}
}
