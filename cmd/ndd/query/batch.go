package query

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/index"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/result"
	"example.org/ndd/permute"
)

func newBatch(g *cli.Files) *cobra.Command {
	b := &batch{g: g}
	cmd := &cobra.Command{
		Use:   "batch [flags] (-i INDEX | --scan F) QUERIES",
		Short: "Answer a file of queries",
		Long: `Answer all queries of a file on all processors.

With -i an index answers the queries. With --scan they are compared with fingerprints that
have no index. A message counts queries and hits.`,
		Annotations: cli.HelpOf("Guide: ndd help indexes. Formats: ndd help formats",
			"Search: index=DIR scan=FILE distance=N unique threshold=X",
			"Output: output=FILE format=FORMAT count shard=I/N",
			"Resources: memory=SIZE numa=WHEN checksums=HOW"),
		Example: `  ndd batch -i index -o hits.tsv Q.bin
  ndd batch -i index --count Q.bin
  ndd batch -i index --threshold 0.8 new.ndf
  ndd batch -i index --shard 3/16 -o hits.3.tsv Q.bin
  ndd batch --scan F.bin --memory 4GiB -o hits.tsv Q.bin`,
		Args: cli.OneArg("Q.bin"),
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd, args[0]) },
	}
	b.index.register(cmd)
	b.index.RegisterChecksums(cmd)
	index.RegisterSpread(cmd, &b.index.spread)
	g.RegisterForce(cmd)
	g.RegisterRaw(cmd)
	f := cmd.Flags()
	f.StringVar(&b.scan, "scan", "", "file of fingerprints to scan (-k defaults to 3)")
	f.StringVarP(&b.out, "output", "o", "", "file for the hits (default: standard output)")
	b.format.Register(cmd, result.Binary)
	f.BoolVar(&b.tally.Unique, "unique", false, "one line per distinct fingerprint, with its first ID")
	f.BoolVar(&b.count, "count", false, "write no hits, only their number")
	f.StringVar(&b.shardFlag, "shard", "", "do only part I of N of the work, 0/N to N-1/N")
	f.StringVar(&b.memoryFlag, "memory", "",
		"memory limit; with -i, of matches alone")
	return cmd
}

// A shard is part i of n equal parts of the work. {0, 1} is the whole work.
type shard struct{ i, n uint64 }

// rows returns the range of rows of the shard. The ranges of all shards cover the total, and their lengths differ by at
// most one.
func (s shard) rows(total uint64) (from, to uint64) {
	cut := func(i uint64) uint64 {
		hi, lo := bits.Mul64(total, i)
		q, _ := bits.Div64(hi, lo, s.n)
		return q
	}
	return cut(s.i), cut(s.i + 1)
}

// batch is one run of the command.
type batch struct {
	g *cli.Files
	batchFlags

	shard    shard
	memory   uint64
	queries  []uint64        // queries of the shard
	sketches []sketch.Sketch // their sketches; nil if the file has none, or with --threshold 0
	first    int             // row of the first query

	rows  *result.Writer
	tally result.Tally
}

// batchFlags are the flags of the command.
type batchFlags struct {
	index      indexFlags
	scan       string
	out        string
	format     cli.TableFormat
	count      bool
	shardFlag  string
	memoryFlag string
}

// check checks the flags that exclude or need each other. q is the path of the queries.
func (b *batch) check(q string) (err error) {
	i, n, err := cli.ShardOf(b.shardFlag)
	if err != nil {
		return err
	}
	b.shard = shard{uint64(i), uint64(n)}
	if b.memory, err = cli.ParseMemory(b.memoryFlag); err != nil {
		return err
	}
	if err := b.index.threshold.Check(); err != nil {
		return err
	}
	if err := b.format.CheckFile(b.g, b.out); err != nil && !b.count {
		return err
	}
	switch {
	case b.scan != "" && b.index.dir != "":
		return cli.Usagef("-i and --scan cannot be given together")
	case b.scan == input.Stdin && q == input.Stdin:
		return cli.Usagef("--scan and the queries cannot both be standard input: one of them must be a file")
	case b.scan != "":
		err = b.checkScan()
	}
	if err = cmp.Or(err, b.g.CheckOutput(b.out)); err == nil && b.count {
		err = b.g.RejectFlags("has no effect with --count, which writes no hits", "output", "format")
	}
	return err
}

func (b *batch) checkScan() error {
	if k := b.index.k; k < -1 || k > permute.MaxK || k == -1 && b.g.Given["distance"] {
		return cli.Usagef("-k %d: must be 0 to %d", k, permute.MaxK)
	}
	if info, err := os.Stat(b.scan); err == nil && info.IsDir() {
		return cli.Usagef("--scan %[1]s: is a folder: -i searches an index, and 'ndd export %[1]s -o FILE' makes a file of it",
			b.scan)
	}
	return b.g.RejectFlags("applies only with -i: a scan does not search an index", "numa", "checksums")
}

func (b *batch) run(cmd *cobra.Command, path string) error {
	ctx := cmd.Context()
	// Check the flags, and read the queries.
	if err := b.check(path); err != nil {
		return err
	}
	q, err := openVerified(ctx, b.g, path)
	if err != nil {
		return err
	}
	defer q.Close()
	b.queries = q.Fingerprints()
	if b.index.threshold > 0 {
		b.sketches = sketchesOf(q)
	}
	// With an index, a shard is a range of queries.
	if b.scan == "" {
		from, to := b.shard.rows(q.Len())
		b.queries, b.first = b.queries[from:to], int(from)
		if b.sketches != nil {
			b.sketches = b.sketches[from:to]
		}
	}

	// Open the index or the file to scan.
	var searched answerer
	if b.scan != "" {
		searched, err = b.openScan(ctx, q)
	} else {
		searched, err = b.openIndex(cmd, q)
	}
	if err != nil {
		return err
	}
	// Answer the queries, and report the counts.
	defer searched.Close()
	if err := b.answer(ctx, searched); err != nil {
		return err
	}
	b.report()
	return nil
}

// answer answers the queries and publishes the output.
func (b *batch) answer(ctx context.Context, searched answerer) error {
	o, err := b.g.NewOutput(b.out)
	if err != nil {
		return err
	}
	defer o.Abort()
	if !b.count {
		verified := b.sketches != nil && searched.keepsSketches()
		b.rows = result.NewWriter(o, b.format.Format, result.Integer, verified, searched.Name)
	}
	start := time.Now()
	switch {
	case b.count:
		err = searched.count(ctx, &b.tally)
	default:
		err = searched.answer(ctx, b.line)
	}
	if err != nil {
		return err
	}
	b.g.Log.Debug(fmt.Sprintf("answered in %v", time.Since(start).Round(time.Millisecond)))
	if b.count {
		return nil
	}
	if err := b.rows.Close(); err != nil {
		return err
	}
	return o.Commit()
}

func (b *batch) report() {
	to := b.g.Stderr
	if b.g.Progress.Quiet {
		to = io.Discard
		if b.count { // the counts are the answer
			to = b.g.Stdout
		}
	}
	fmt.Fprintf(to, "queries %d with-hits %d hits %d\n", len(b.queries), b.tally.WithHits, b.tally.Hits)
	b.g.Log.Debug(fmt.Sprintf("checksum %016x", b.tally.Sum))
}

// sketchesOf returns the sketches of a file by row, or nil if it has none.
func sketchesOf(f *ndf.File) []sketch.Sketch {
	parts := slices.Collect(f.Sketches)
	if len(parts) == 1 {
		return parts[0] // part of the mapped file
	}
	return slices.Concat(parts...)
}

// openVerified opens a fingerprint file and verifies its checksums.
func openVerified(ctx context.Context, g *cli.Files, path string) (*ndf.File, error) {
	f, err := g.OpenFingerprints(path)
	if err != nil {
		return nil, err
	}
	if err := f.Verify(ctx, g.Threads); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// line counts one line of the answer, and writes it.
func (b *batch) line(r result.Row) error {
	if !b.tally.Count(r, 1) || b.count {
		return nil
	}
	return b.rows.Write(r)
}
