// Package copies holds the command copies, which finds documents that share passages, and those of
// its index: copies build, merge and delete.
//
//	copies.go, flags.go   the search among inputs, and what it is asked for
//	index.go, change.go   an index: made, searched (--against), changed
//	explain.go            --explain: two documents, and the passages that they share
package copies

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
	"ndd/engine/result"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newCopies(g)}
}

type copiesFlags struct {
	signatures   signatureFlags
	threshold    float64
	out, against string
	format       cli.TableFormat
	explain      bool
}

func newCopies(g *cli.Globals) *cobra.Command {
	f := copiesFlags{signatures: signatureFlags{file: newMethodFile()}}
	cmd := &cobra.Command{
		Use:   "copies INPUT...",
		Short: "Find revised pages, excerpts and digests, beyond near-duplicates",
		Long: `Find pairs of documents that have much of their text in common, as a whole or in
part. Fingerprints within k bits find only near-duplicates of the whole.

Methods: spotsigs compares the words that follow stop words (Jaccard similarity at
least 0.5; with chain = 3 or more, 0.45). ccdet, for Chinese, compares the characters
before the ends of sentences, and winnow some sequences of words or characters (both:
containment of the smaller document, at least 0.6 and 0.65). shingles compares all rows of 3 words or 5 characters
(Jaccard similarity at least 0.4): it suits short documents, and takes more memory.
auto uses ccdet for documents in Chinese, Japanese and Thai; for others spotsigs finds
revisions, and winnow which document contains another, in one pass over the text.
Documents too short for these are compared by shingles with each other, and by winnow
with the others; with fewer than 4 sentences by ccdet and winnow, which must agree.

The output is a table of pairs, in tsv with a header: id, id, relation, score, share of
the first in the second and of the second in the first, signatures of each, shared
signatures, method, flags. The relation is duplicate (Jaccard similarity of signatures
at least 0.8), revised, contains (the first contains the second), contained, or overlap.
Flags: equal (the same signatures), few_a and few_b (too few signatures of the method of
its language), same_site, and common: what one contains of the other is a document that
more than 20 contain, such as a notice (with --against: the new document is in more than
20). Of more than 1,000 documents with equal signatures each is paired with the first of
them only.

--against compares with the documents of an index, which 'ndd copies build' makes.
Documents with the same ID are taken for one: their pairs are counted and not listed.

--explain takes two IDs after the inputs and shows the passages that both documents
have: where they begin and end, in bytes, and the beginning of each.

--method-file names a file of settings for research, a line each, such as 'chain = 3';
lines that begin with # are comments. There are, with their defaults:

` + f.signatures.file.help() + `
'ndd copies build' uses those that are about signatures, and its index keeps them.`,
		Example: `  ndd copies pages/
  ndd copies --method winnow --threshold 0.8 -o pairs.tsv crawl.jsonl.zst
  ndd copies --against library new.jsonl
  echo 'same-site = skip' >other-sites; ndd copies --site url --method-file other-sites crawl.jsonl.zst
  ndd copies --explain crawl.jsonl.zst https://example.org/a https://example.org/b`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(g); err != nil {
				return err
			}
			switch {
			case f.explain:
				return explainCopies(cmd.Context(), g, args, &f)
			case f.against != "":
				return findIn(cmd.Context(), g, args, &f)
			}
			return findCopies(cmd.Context(), g, args, &f)
		},
	}
	f.signatures.register(cmd, g)
	fl := cmd.Flags()
	fl.Float64Var(&f.threshold, "threshold", 0,
		"lowest score of a reported pair, above 0 and at most 1 (default: each method's own)")
	fl.StringVarP(&f.out, "output", "o", "", "file to write instead of standard output")
	f.format.Register(cmd)
	fl.StringVar(&f.against, "against", "", "index to compare the documents with, instead of with each other")
	fl.BoolVar(&f.explain, "explain", false,
		"show the passages that two documents share; the last two arguments are their IDs")
	cli.FormerFlags(cmd, map[string]string{"page": "--explain writes text",
		"clusters": "they follow from the table of pairs"})
	cmd.AddCommand(newCopiesBuild(g), newCopiesMerge(g), newCopiesDelete(g))
	return cmd
}

// check checks flags that are about the output, and those that exclude others.
func (f *copiesFlags) check(g *cli.Globals) error {
	if err := f.format.CheckFile(g, f.out); err != nil {
		return err
	}
	if f.explain {
		if err := g.Refuse("has no effect with --explain", "format", "threshold", "against", "site"); err != nil {
			return err
		}
	}
	return g.CheckOutput(f.out)
}

// options returns the options by which copies are found among documents, or in the index of --against, and how
// the documents are read.
func (f *copiesFlags) options(g *cli.Globals) (o copies.Options, c ingest.Config, err error) {
	if o, c, err = f.signatures.optionsOf(g, f.against); err == nil {
		err = f.join(g, &o)
	}
	return o, c, err
}

func findCopies(ctx context.Context, g *cli.Globals, inputs []string, f *copiesFlags) error {
	o, config, err := f.options(g)
	if err != nil {
		return err
	}
	budget, err := room(g, f.signatures.memory, &o)
	if err != nil {
		return err
	}
	var show *cli.Bar // once the documents are read
	o.Join.Progress = func(done, total uint64) { show.SetOf(done, total) }
	d := copies.NewDetector(o)
	defer d.Close()
	var ids []string
	began := time.Now()
	partly := signAll(ctx, g, inputs, config, o, &f.signatures, func(s *signed) error {
		d.Add(s.sets)
		ids = append(ids, s.id)
		return nil
	}, checkMemory(budget, "comparing", d.NeedBytes))
	if partly != nil && !errors.Is(partly, cli.ErrPartly) {
		return partly
	}
	signed := time.Now()
	show = g.Progress.NewBar("comparing", 0, cli.CountUnit)
	pairs, report, err := d.Pairs(ctx)
	show.End()
	if err != nil {
		return err
	}
	compared := time.Now()
	pairs = slices.DeleteFunc(pairs, func(p copies.Pair) bool { return ids[p.A] == ids[p.B] })
	if err := g.WriteTable(f.out, f.format.Format, copies.Columns, func(t *result.TableWriter) error {
		for i := range pairs {
			if err := pairs[i].Write(t, ids[pairs[i].A], ids[pairs[i].B]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	g.Log.Info(fmt.Sprintf("%s among %s", cli.Number(report.Pairs, "pair"), cli.Number(report.Documents, "document")))
	sayCopies(g, &report)
	sayRepeated(g, repeated(ids), report.Pairs-len(pairs))
	g.Log.Debug(fmt.Sprintf("read and signed in %.3g s; %s, %s compared in %.3g s; written in %.3g s",
		signed.Sub(began).Seconds(), cli.Number(report.Slices, "slice"), cli.Number(report.Candidates, "candidate pair"),
		compared.Sub(signed).Seconds(), time.Since(compared).Seconds()))
	return partly
}

// repeated returns how many of the documents have an ID that an earlier one has.
func repeated(ids []string) (n int) {
	seed := maphash.MakeSeed()
	hashes := make([]uint64, len(ids))
	for i, id := range ids {
		hashes[i] = maphash.String(seed, id)
	}
	slices.Sort(hashes)
	return len(ids) - len(slices.Compact(hashes))
}

// sayRepeated warns of documents with the ID of an earlier one, and reports the pairs that are not
// listed for it.
func sayRepeated(g *cli.Globals, documents, pairs int) {
	cli.SaySome(g.Log.Warn, documents, "document", " with an ID that an earlier one has: lines of the output do not "+
		"tell them apart; --id names another field")
	cli.SaySome(g.Log.Info, pairs, "pair", " of documents with the same ID left out")
}

type signed struct {
	id   string
	sets copies.Sets
}

// signAll signs the documents on all threads and adds them in order; check gets the number of
// documents and the bytes of their IDs. The error is cli.ErrPartly if input was lost.
func signAll(ctx context.Context, g *cli.Globals, inputs []string, c ingest.Config, o copies.Options, f *signatureFlags,
	add func(*signed) error, check func(documents int, idBytes uint64) error) error {
	idBytes, documents, sites := uint64(0), 0, 0
	report, err := cli.Extract(ctx, g, inputs, c, ingest.Steps[signed]{
		Worker: func() (func(int, *document.Document) (signed, error), error) {
			signer, err := copies.NewSigner(o)
			return func(_ int, doc *document.Document) (signed, error) {
				s := signed{doc.ID, signer.Sign(doc.Text)}
				s.sets.Site = f.siteOf(doc)
				return s, nil
			}, err
		},
		Emit: func(s signed) error {
			documents++
			if s.sets.Site != 0 {
				sites++
			}
			idBytes += 2 * (uint64(len(s.id)) + 16)
			if err := add(&s); err != nil {
				return err
			}
			return check(documents, idBytes)
		},
	})
	if err != nil {
		return memory.Advise(err, "give it more with --memory, or take fewer documents at a time")
	}
	partly := g.Ingested(report)
	saySites(g, f, documents, sites)
	return partly
}

// saySites warns where documents have no site although --site names the field that has it.
func saySites(g *cli.Globals, f *signatureFlags, documents, sites int) {
	if f.site == "" || documents == sites {
		return
	}
	g.Log.Warn(fmt.Sprintf("--site %s: of no site, without such a field or with an empty one: %s of %s", f.site,
		humanize.Comma(int64(documents-sites)), cli.Number(documents, "document")))
}

func sayCopies(g *cli.Globals, r *copies.Report) {
	sayLeftOut(g, r)
	cli.SaySome(g.Log.Info, r.Unlisted, "document", " with the same signatures as more than "+
		humanize.Comma(postings.MaxEqual)+" others: listed with the first of these only")
	cli.SaySome(g.Log.Warn, r.Frequent, "document",
		": pairs that share only signatures of more than max-df documents are not listed")
	cli.SaySome(g.Log.Info, r.SameSite, "pair", " of one site left out")
}

// sayLeftOut says which documents are not compared as the others are.
func sayLeftOut(g *cli.Globals, r *copies.Report) {
	cli.SaySome(g.Log.Warn, r.None, "document", " had too few signatures to be compared")
	cli.SaySome(g.Log.Info, r.Fallback, "short document",
		": compared with long ones by winnow, with each other by shingles")
}
