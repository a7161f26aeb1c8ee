package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/result"
)

// withFeatures reads documents and calls emit with what work makes of each, in their order.
func withFeatures[R any](ctx context.Context, g *cli.Files, inputs []string, c ingest.Config,
	work func(*simhash.Fingerprinter, *format.Document) R, emit func(R) error) (ingest.Report, error) {
	report, err := cli.Extract(ctx, g, inputs, c, ingest.Steps[R]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (R, error), error) {
			f, err := simhash.New(c.Recipe)
			if err == nil {
				f.Until(ctx)
			}
			return func(_ int, doc *format.Document) (R, error) { return work(f, doc), nil }, err
		},
		Emit: emit,
	})
	if err != nil {
		return report, err
	}
	return report, g.Report(report)
}

// explainedFeatures is the number of features of a document that --explain shows.
const explainedFeatures = 200

// explain shows how each document becomes its fingerprint.
func explain(ctx context.Context, g *cli.Files, inputs []string, c ingest.Config) error {
	_, err := withFeatures(ctx, g, inputs, c, explanation, func(s string) error {
		_, err := io.WriteString(g.Stdout, s)
		return err
	})
	return err
}

// explanation returns the tables of one document.
func explanation(f *simhash.Fingerprinter, doc *format.Document) string {
	var w strings.Builder
	r, e := f.Recipe(), f.Explain(doc.Text)
	fmt.Fprintf(&w, "document\t%s\nrecipe\t%s\nfeatures\t%d\n\n", result.Escape(doc.ID),
		cmp.Or(r.Name(), r.Shown().String()), len(e.Features))
	w.WriteString("feature\tweight\thash\n")
	for _, feature := range e.Features[:min(explainedFeatures, len(e.Features))] {
		fmt.Fprintf(&w, "%s\t%d\t%016x\n", feature.Text, feature.Weight, feature.Hash)
	}
	if omitted := len(e.Features) - explainedFeatures; omitted > 0 {
		fmt.Fprintf(&w, "... and %s that are not shown\n", cli.Number(omitted, "feature"))
	}
	switch {
	case !e.OK:
		fmt.Fprintf(&w, "\nfingerprint\t%s\t%s\n\n", ndf.NoPrint, r.TooShort(e.Filled))
		return w.String()
	case r.Sketch == simhash.SketchMinwise:
		w.WriteString("\nbit\tbin\tminimum\tfeature\tvalue\n")
	default:
		w.WriteString("\nbit\tvector\tvalue\n")
	}
	for j := len(e.Bits) - 1; j >= 0; j-- {
		b := &e.Bits[j]
		if r.Sketch == simhash.SketchMinwise {
			fmt.Fprintf(&w, "%d\t%d\t%d\t%s\t%d\n", j, b.Bin, b.Rank, e.Features[b.Feature].Text, b.Bit(j, &r))
		} else {
			fmt.Fprintf(&w, "%d\t%d\t%d\n", j, b.Sum, b.Bit(j, &r))
		}
	}
	fmt.Fprintf(&w, "\nfingerprint\t%s\n\n", e.Fingerprint)
	return w.String()
}

// idfColumns are the columns of a table of factors that recipes read.
var idfColumns = cli.ColumnsOf("feature factor:r")

// learnIDF writes the inverse document frequency of each feature: ln(n/df), where df of n documents have it. A
// feature of a single document has no row, since it counts as much as one of no document.
func learnIDF(ctx context.Context, g *cli.Files, inputs []string, c ingest.Config, out string) error {
	if c.Recipe.IDF != (simhash.Resource{}) {
		return cli.Usagef("--learn-idf: the recipe has an idf already; leave it out of the recipe file")
	}
	if err := g.CheckOutput(out, idfColumns...); err != nil {
		return err
	}
	// Count the documents of each feature.
	documents := map[string]int{} // number of documents with each feature
	report, partly := withFeatures(ctx, g, inputs, c, texts, func(features []string) error {
		for _, f := range features {
			documents[f]++
		}
		if len(documents) >= simhash.IDFRows {
			return fmt.Errorf("--learn-idf: more than %s distinct features, the limit; learn from a share of the documents",
				humanize.Comma(simhash.IDFRows))
		}
		return nil
	})
	if partly != nil && !errors.Is(partly, cli.ErrPartly) {
		return partly
	}
	if report.Documents < 2 {
		return fmt.Errorf("--learn-idf: %s; learning needs at least 2", cli.Number(report.Documents, "document"))
	}
	// Write the factors.
	maps.DeleteFunc(documents, func(_ string, df int) bool { return df == 1 })
	documents[simhash.IDFOther] = 1
	err := g.WriteTable(out, result.TSV, idfColumns, func(t *result.TableWriter) error {
		for _, f := range slices.Sorted(maps.Keys(documents)) {
			factor := math.Log(float64(report.Documents) / float64(documents[f]))
			if err := t.Text(f).Real(math.Round(100*factor) / 100).End(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !cli.IsStdout(out) {
		g.Log.Info(fmt.Sprintf(`%s: %s of %s; a recipe file uses them by "idf": {"file": %q}`, out,
			cli.Number(len(documents), "factor"), cli.Number(report.Documents, "document"), out))
	}
	return cmp.Or(err, partly)
}

// texts returns the features of a document that a table may have.
func texts(f *simhash.Fingerprinter, doc *format.Document) []string {
	var list []string
	for _, feature := range f.NamedFeatures(doc.Text) {
		if len(feature.Text) <= simhash.IDFBytes {
			list = append(list, feature.Text)
		}
	}
	return list
}
