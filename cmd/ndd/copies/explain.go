package copies

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/corpus"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/result"
)

// passageGap is the limit of the bytes between two parts of a passage. Signatures are a selection of the text, and it is
// about the width of one.
const passageGap = 100

func explainCopies(ctx context.Context, g *cli.Files, args []string, f *copiesFlags) error {
	// Check the arguments.
	if ext := filepath.Ext(f.out); ext == ".html" || ext == ".htm" {
		return cli.Usagef("-o %s: --explain writes text, not HTML; name another file", f.out)
	}
	if len(args) < 3 {
		return cli.Usagef("--explain needs inputs and two IDs, such as: ndd copies --explain crawl.jsonl ID ID")
	}
	// Read the two documents.
	s, err := newSignRun(g, &f.signatures, nil)
	if err != nil {
		return err
	}
	inputs, a, b := args[:len(args)-2], args[len(args)-2], args[len(args)-1]
	two, err := corpus.TwoDocuments(ctx, g, a, b, inputs, s.reading.Document)
	if err != nil {
		return err
	}
	// Explain their signatures.
	signer, err := copies.NewSigner(ctx, s.options)
	if err != nil {
		return err
	}
	method := s.options.Method
	if method == copies.Auto {
		method = signer.MethodOfPair(two[0].Text, two[1].Text)
	}
	e, err := signer.Explain(method, two[0].Text, two[1].Text, passageGap)
	if err != nil {
		return err
	}
	for i, text := range []copies.ExplainedText{e.A, e.B} {
		if text.Size == 0 {
			g.Log.Warn(fmt.Sprintf("%s has no signatures by %s; --method names another method", result.Escape(two[i].ID),
				e.Method))
		}
	}
	// Write the explanation.
	out, err := g.NewOutput(f.out)
	if err != nil {
		return err
	}
	defer out.Abort()
	writeExplanation(out, &e, two)
	return out.Commit()
}

func writeExplanation(w io.Writer, e *copies.Explanation, two [2]format.Document) {
	fmt.Fprintf(w, "%s shared of %s and %s, by %s\n", cli.Number(e.Shared, "signature"),
		humanize.Comma(int64(e.A.Size)), humanize.Comma(int64(e.B.Size)), e.Method)
	texts := []copies.ExplainedText{e.A, e.B}
	for i, text := range texts {
		fmt.Fprintf(w, "%s: %s shared, %.1f %% of its bytes\n", result.Escape(two[i].ID),
			cli.Number(len(text.Passages), "passage"), 100*text.Covered)
		for _, p := range text.Passages {
			fmt.Fprintf(w, "  %d-%d: %s\n", p.Start, p.End, corpus.Excerpt(two[i].Text[p.Start:p.End]))
		}
	}
	for i, text := range texts {
		fmt.Fprintf(w, "%s: signatures in order, shared ones with =\n", result.Escape(two[i].ID))
		for _, term := range text.Terms {
			mark := ' '
			if term.Shared {
				mark = '='
			}
			fmt.Fprintf(w, "%c %d-%d: %s\n", mark, term.Start, term.End, result.Escape(term.Words))
		}
	}
}
