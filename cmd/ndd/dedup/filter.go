package dedup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/rewrite"
	"ndd/engine/corpus/simhash"
	"ndd/engine/near/dedup"
)

// filtering reports whether the command is a filter between pipes: --write-kept -.
func (d *deduping) filtering() bool { return d.writeKept == document.Stdin }

// filter copies standard input to standard output without near-duplicates, in one pass.
func (d *deduping) filter(ctx context.Context) error {
	if !slices.Equal(d.inputs, []string{document.Stdin}) {
		return cli.Usagef("--write-kept - filters standard input: give - as the only input")
	}
	if f := d.docs.Format; f != string(document.JSONL) && f != string(document.Lines) {
		return cli.Usagef("--write-kept - filters lines: give --input-format jsonl or lines")
	}
	if err := d.g.Refuse("cannot be had in one pass, as --write-kept - makes it: write the input to a file first",
		append(sourceFlagNames, "output", "format", "keep", "verify", "quality", "report", "against", "against-docs",
			"dry-run", "work", "annotate", "same-url")...); err != nil {
		return err
	}
	if err := d.choose(); err != nil {
		return err
	}
	config, err := d.docs.Config(d.g, nil)
	if err != nil {
		return err
	}
	budget, err := d.g.Budget(d.memory)
	if err != nil {
		return err
	}
	x, err := engine.New(d.k, engine.Options{Recipe: &config.Recipe, NoIDs: true, Budget: budget})
	if err != nil {
		return err
	}
	defer x.Close()
	dropped, report, err := dedup.Filter(ctx, d.g.Stdin, d.g.Stdout, config, func(f simhash.Fingerprint) (bool, error) {
		found, err := x.CheckAndInsert(ctx, engine.Doc{Fingerprint: f}, d.k, engine.FirstDoc)
		if err != nil || found.Inserted {
			return false, err
		}
		if d.chains && found.Near[0].Distance > 0 { // what is near this document belongs to the cluster, too
			_, err = x.Insert(ctx, engine.Doc{Fingerprint: f})
		}
		return true, err
	})
	if errors.Is(err, rewrite.ErrPacked) {
		return fmt.Errorf("standard input is compressed: decompress it first, such as by 'zstd -dc FILE |'")
	}
	if err != nil {
		return err
	}
	partly := d.g.Ingested(report)
	d.g.Log.Info(fmt.Sprintf("dropped %s; kept %s", cli.Number(dropped, "duplicate"),
		cli.Number(report.Documents-dropped, "document")))
	return partly
}
