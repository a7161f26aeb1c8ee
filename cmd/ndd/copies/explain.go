package copies

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/corpus"
	"ndd/engine/copies"
	"ndd/engine/corpus/document"
	"ndd/engine/result"
)

// passageGap is how many bytes may lie between parts of one passage: a signature's width of words
// that were not selected.
const passageGap = 100

func explainCopies(ctx context.Context, g *cli.Files, args []string, f *copiesFlags) error {
	if ext := filepath.Ext(f.out); ext == ".html" || ext == ".htm" {
		return cli.Usagef("-o %s: --explain writes text, with where the passages are; name another file", f.out)
	}
	if len(args) < 3 {
		return cli.Usagef("--explain needs inputs and two IDs, such as: ndd copies --explain crawl.jsonl ID ID")
	}
	o, config, err := f.signatures.optionsOf(g, nil)
	if err != nil {
		return err
	}
	inputs, a, b := args[:len(args)-2], args[len(args)-2], args[len(args)-1]
	two, err := corpus.TwoDocuments(ctx, g, a, b, inputs, config.Document)
	if err != nil {
		return err
	}
	s, err := copies.NewSigner(ctx, o)
	if err != nil {
		return err
	}
	if o.Method == copies.Auto {
		o.Method = s.MethodOfPair(two[0].Text, two[1].Text)
	}
	e, err := s.Explain(o.Method, two[0].Text, two[1].Text, passageGap)
	if err != nil {
		return err
	}
	for i, size := range []int{e.SizeA, e.SizeB} {
		if size == 0 {
			g.Log.Warn(fmt.Sprintf("%s has no signatures by %s; --method names another method", result.Escape(two[i].ID),
				e.Method))
		}
	}
	out, err := g.NewOutput(f.out)
	if err != nil {
		return err
	}
	defer out.Abort()
	writeExplanation(out, &e, two)
	return out.Commit()
}

func writeExplanation(w io.Writer, e *copies.Explanation, two [2]document.Document) {
	fmt.Fprintf(w, "%s shared of %s and %s, by %s\n", cli.Number(e.Shared, "signature"),
		humanize.Comma(int64(e.SizeA)), humanize.Comma(int64(e.SizeB)), e.Method)
	for i, side := range []struct {
		passages []copies.Passage
		covered  float64
	}{{e.A, e.CoveredA}, {e.B, e.CoveredB}} {
		fmt.Fprintf(w, "%s: %s shared, %.1f %% of its bytes\n", result.Escape(two[i].ID),
			cli.Number(len(side.passages), "passage"), 100*side.covered)
		for _, p := range side.passages {
			fmt.Fprintf(w, "  %d-%d: %s\n", p.Start, p.End, corpus.Excerpt(two[i].Text[p.Start:p.End]))
		}
	}
}
