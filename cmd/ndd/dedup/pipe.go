package dedup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/near/dedup"
)

// filterPipe copies standard input to standard output without near-duplicates, in one pass: --write-kept -.
func filterPipe(ctx context.Context, g *cli.Files, f *flags, inputs []string) error {
	// Check the flags.
	if !slices.Equal(inputs, []string{input.Stdin}) {
		return cli.Usagef("--write-kept - filters standard input: give - as the only input")
	}
	if kind := f.docs.Format; kind != string(format.JSONL) && kind != string(format.Lines) {
		return cli.Usagef("--write-kept - filters lines: give --input-format jsonl or lines")
	}
	if err := g.RejectFlags("needs several passes, and --write-kept - makes one: write the input to a file first",
		append(sourceFlagNames, "output", "format", "keep", "verify", "report", "against", "dry-run", "work", "annotate",
			"same-url")...); err != nil {
		return err
	}
	// Create an index in memory for the kept documents.
	s := &settings{inputs: inputs}
	if err := s.setDecision(g, f); err != nil {
		return err
	}
	config, err := f.docs.Config(g, nil)
	if err != nil {
		return err
	}
	budget, err := g.Budget(f.memory)
	if err != nil {
		return err
	}
	k := s.finding.K
	config.Sketches = f.threshold > 0
	x, err := engine.New(k, engine.Options{Recipe: &config.Recipe, NoIDs: true, NoSketches: !config.Sketches,
		Threshold: f.threshold.Option(), Budget: budget})
	if err != nil {
		return err
	}
	defer x.Close()
	// Copy the lines.
	dropped, report, err := dedup.Filter(ctx, g.Stdin, g.Stdout, config, func(r ingest.Record) (bool, error) {
		doc := engine.Doc{Fingerprint: r.Fingerprint, Sketch: r.Sketch}
		outcomes, err := x.CheckAndInsert(ctx, engine.QueryOptions{K: k, Docs: engine.FirstDoc}, doc)
		return err == nil && !outcomes[0].Inserted, err
	})
	if errors.Is(err, rewrite.ErrPacked) {
		return fmt.Errorf("standard input is compressed: decompress it first, such as by 'zstd -dc FILE |'")
	}
	if err != nil {
		return err
	}
	// Report the result.
	partly := g.Report(report)
	g.Log.Info(fmt.Sprintf("dropped %s; kept %s", cli.Number(dropped, "duplicate"),
		cli.Number(report.Documents-dropped, "document")))
	return partly
}
