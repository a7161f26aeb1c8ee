package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/near/shingle"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/object"
)

type compareFlags struct {
	docs     cli.DocumentFlags
	k        int
	passages int
}

func newCompare(g *cli.Files) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [flags] A B",
		Short: "Show what two documents have in common, and their distance",
		Long: `Compare two documents: distance, features, Jaccard similarity, and the passages that only
one of them has.

A and B are files with one document each, or FILE:ROW, a line or record of a file, from 1,
as in the columns file and row of 'ndd dedup'. One of them may be - for standard input.
Shingles are 3 words, or 5 characters in scripts without spaces. Jaccard by sketches is
the estimate that dedup uses. Before each passage is its position in the text, in bytes.`,
		Annotations: cli.HelpOf("Guide: ndd help corpus. Terms: ndd help concepts", "Documents: k=N passages=N"),
		Example: `  ndd compare old.html new.html
  ndd compare crawl.jsonl.zst:17 crawl.jsonl.zst:4711`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("%s where two documents are needed", cli.Number(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return compareTwo(cmd.Context(), g, args[0], args[1], &f)
		},
	}
	f.docs.Register(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.k, "k", "k", cli.DefaultK, "maximum distance of near-duplicates")
	fl.IntVar(&f.passages, "passages", 10, "number of passages to show of each document")
	return cmd
}

func compareTwo(ctx context.Context, g *cli.Files, a, b string, f *compareFlags) error {
	switch {
	case f.k < 0 || f.k > 64:
		return cli.Usagef("-k %d: must be 0 to 64", f.k)
	case f.passages < 0:
		return cli.Usagef("--passages %d: must not be negative", f.passages)
	case a == input.Stdin && b == input.Stdin:
		return cli.Usagef("- and -: standard input can be only one of the documents")
	}
	config, err := f.docs.Config(g, nil)
	if err != nil {
		return err
	}
	var texts [2]format.Document
	for i, name := range []string{a, b} {
		if texts[i], err = namedDocument(ctx, g, name, config.Document); err != nil {
			return err
		}
	}
	c, err := shingle.Compare(texts[0].Text, texts[1].Text, config.Recipe)
	if err != nil {
		return err
	}
	r := &comparison{Comparison: c, flags: f, docs: texts}
	r.text(g.Stdout)
	return nil
}

// namedDocument reads the document that a name selects: a file with one document, or FILE:ROW.
func namedDocument(ctx context.Context, g *cli.Files, name string, o format.Options) (format.Document, error) {
	file, row, hasRow := cutRow(name)
	var docs []format.Document
	for doc, err := range format.Read(ctx, []string{file}, o, g.Stdin) {
		skip, ok := errors.AsType[*input.Skip](err)
		switch {
		case ok && hasRow && !o.Strict && skip.Line != 0 && skip.Line != row, err == nil && hasRow && doc.Line != row:
			continue
		case err != nil || hasRow:
			return doc, err
		case len(docs) == 1:
			hint := "name one of them, such as " + input.Place(docs[0].Source, docs[0].Line)
			if file == input.Stdin {
				hint = "put them in a file, and name a row of it"
			}
			return doc, fmt.Errorf("%s: holds more than one document: %s", file, hint)
		}
		docs = append(docs, doc)
	}
	switch {
	case hasRow:
		return format.Document{}, fmt.Errorf("%s: holds no document in row %d", file, row)
	case len(docs) == 0:
		return format.Document{}, fmt.Errorf("%s: holds no document", file)
	}
	return docs[0], nil
}

// cutRow splits FILE:ROW into the file and the row, from 1. It returns only the name if a file has the whole name, or
// if FILE is neither a file nor the address of an object.
func cutRow(name string) (file string, row int, ok bool) {
	colon := strings.LastIndexByte(name, ':')
	row, err := strconv.Atoi(name[colon+1:])
	if _, whole := os.Lstat(name); colon <= 0 || err != nil || row < 1 || !errors.Is(whole, fs.ErrNotExist) {
		return name, 0, false
	}
	if _, err = os.Stat(name[:colon]); err != nil && !object.Is(name[:colon]) {
		return name, 0, false
	}
	return name[:colon], row, true
}

type comparison struct {
	*shingle.Comparison
	flags *compareFlags
	docs  [2]format.Document
}

// verdict returns the first sentence: near or not.
func (c *comparison) verdict() string {
	switch {
	case c.Distance < 0:
		return "Too short: a document has too few features for a fingerprint."
	case c.Distance > c.flags.k:
		return fmt.Sprintf("Not near: the fingerprints differ in %s; within k = %d they would be near.",
			cli.Number(c.Distance, "bit"), c.flags.k)
	}
	return fmt.Sprintf("Near: the fingerprints differ in %s, k = %d.", cli.Number(c.Distance, "bit"), c.flags.k)
}

func (c *comparison) text(w io.Writer) {
	sides := []*shingle.Text{&c.A, &c.B}
	fmt.Fprintln(w, c.verdict())
	for i, t := range sides {
		fp := ndf.NoPrint
		if t.OK {
			fp = t.Fingerprint.String()
		}
		fmt.Fprintf(w, "%s  %s: %s, %s, %s\n", fp, result.Escape(c.docs[i].ID), cli.Number(t.Tokens, "word"),
			cli.Number(t.Features, "feature"), cli.Number(t.Shingles, "shingle"))
	}
	if c.Distance > 0 {
		fmt.Fprintf(w, "differing bits, 63 leading: %s\n", strings.Trim(fmt.Sprint(c.Bits), "[]"))
	}
	fmt.Fprintf(w, "%s shared; Jaccard %.3f; %.1f %% of the first in the second, %.1f %% of the second in the first\n",
		cli.Number(c.Shared, "shingle"), c.Jaccard, 100*c.AInB, 100*c.BInA)
	fmt.Fprintf(w, "Jaccard by sketches: %.3f, standard error %.3f\n", c.Estimate, c.Deviation)
	for i, t := range sides {
		if len(t.Passages) == 0 {
			continue
		}
		fmt.Fprintf(w, "only in the %s (%s, %s):\n", []string{"first", "second"}[i],
			cli.Number(len(t.Passages), "passage"), cli.Number(t.PassageSum, "word"))
		longest := c.longest(t)
		for _, p := range longest {
			fmt.Fprintf(w, "  %s: %s\n", humanize.Comma(int64(p.Start)), excerpt(c.docs[i].Text[p.Start:p.End]))
		}
		if omitted := len(t.Passages) - len(longest); omitted > 0 {
			fmt.Fprintf(w, "  and %s\n", cli.Number(omitted, "shorter passage"))
		}
	}
}

// longest returns the longest passages, in order of the text.
func (c *comparison) longest(t *shingle.Text) []shingle.Passage {
	all := slices.Clone(t.Passages)
	slices.SortStableFunc(all, func(a, b shingle.Passage) int { return b.Tokens - a.Tokens })
	all = all[:min(c.flags.passages, len(all))]
	slices.SortFunc(all, func(a, b shingle.Passage) int { return a.Start - b.Start })
	return all
}

// excerpt returns a passage on one line, without its middle if it is long.
func excerpt(s string) string {
	const limit = 200
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > limit {
		runes = slices.Concat(runes[:limit/2], []rune(" [...] "), runes[len(runes)-limit/2:])
	}
	return result.Escape(string(runes))
}
