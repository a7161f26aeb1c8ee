// Package copies holds the command copies, which finds documents that share passages, and copies sign, which writes
// signature files.
//
//	copies.go, flags.go   the search among inputs and in signature files (--against), and its flags
//	sign.go               signature files
//	explain.go            --explain: two documents, and the passages that they share
package copies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
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
	return []*cobra.Command{newCopies(g.NewFiles())}
}

type copiesFlags struct {
	signatures signatureFlags
	threshold  float64
	out        string
	against    []string
	format     cli.TableFormat
	explain    bool
}

func newCopies(g *cli.Files) *cobra.Command {
	f := copiesFlags{signatures: signatureFlags{file: cli.NewMethodFile()}}
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

--against compares with the documents of a signature file, which 'ndd copies sign' writes;
it may be given more than once. Documents with the same ID are taken for one: their pairs
are counted and not listed.

--explain takes two IDs after the inputs and shows the passages that both documents
have: where they begin and end, in bytes, and the beginning of each.

--method-file names a file of settings for research, a line each, such as 'chain = 3';
lines that begin with # are comments. There are, with their defaults:

` + f.signatures.file.Help() + `
'ndd copies sign' uses those that are about signatures, and its file keeps them.`,
		Example: `  ndd copies pages/
  ndd copies --method winnow --threshold 0.8 -o pairs.tsv crawl.jsonl.zst
  ndd copies --against library.sigs new.jsonl
  echo 'same-site = skip' >other-sites; ndd copies --site url --method-file other-sites crawl.jsonl.zst
  ndd copies --explain crawl.jsonl.zst https://example.org/a https://example.org/b`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(g); err != nil {
				return err
			}
			if f.explain {
				return explainCopies(cmd.Context(), g, args, &f)
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
	fl.StringArrayVar(&f.against, "against", nil,
		"signature file to compare the documents with, instead of with each other; may be given more than once")
	fl.BoolVar(&f.explain, "explain", false,
		"show the passages that two documents share; the last two arguments are their IDs")
	cmd.AddCommand(newCopiesSign(g))
	return cmd
}

// check checks flags that are about the output, and those that exclude others.
func (f *copiesFlags) check(g *cli.Files) error {
	if err := f.format.CheckFile(g, f.out); err != nil {
		return err
	}
	if f.explain {
		if err := g.Refuse("has no effect with --explain", "format", "threshold", "against", "site"); err != nil {
			return err
		}
	}
	if f.explain {
		return g.CheckOutput(f.out)
	}
	return g.CheckOutput(f.out, copies.Columns...)
}

func findCopies(ctx context.Context, g *cli.Files, inputs []string, f *copiesFlags) error {
	known, err := openLibrary(ctx, g, f.against)
	if err != nil {
		return err
	}
	defer known.close()
	o, config, err := f.signatures.optionsOf(g, known.files)
	if err != nil {
		return err
	}
	if err := f.join(g, &o); err != nil {
		return err
	}
	budget, err := room(g, f.signatures.memory, &o)
	if err != nil {
		return err
	}
	var bar *cli.Bar // begins when the documents are read
	o.Join.Progress = func(done, total uint64) { bar.SetOf(done, total) }
	d := copies.NewDetector(o)
	defer d.Close()
	check := checkMemory(budget, "comparing", d.NeedBytes)
	if err := known.addTo(d, check); err != nil {
		return err
	}
	table := pairTable{known: known}
	began := time.Now()
	partly := signAll(ctx, g, inputs, config, o, &f.signatures, func(s *signed) error {
		d.Add(s.sets)
		table.ids = append(table.ids, s.id)
		return nil
	}, check)
	if partly != nil && !errors.Is(partly, cli.ErrPartly) {
		return partly
	}
	signed := time.Now()
	bar = g.Progress.NewBar("comparing", 0, cli.CountUnit)
	pairs, report, err := d.Pairs(ctx)
	bar.End()
	if _, tooMany := errors.AsType[*postings.TooManyPairsError](err); tooMany {
		return fmt.Errorf("%w: a higher --threshold finds fewer, and --memory allows more", err)
	}
	if err != nil {
		return err
	}
	compared := time.Now()
	if err := g.WriteTable(f.out, f.format.Format, copies.Columns, func(t *result.TableWriter) error {
		return table.write(t, pairs)
	}); err != nil {
		return err
	}
	among := ""
	if len(known.files) > 0 {
		among = fmt.Sprintf(" with %s in %s", cli.Number(known.documents(), "document"), strings.Join(f.against, ", "))
	}
	g.Log.Info(fmt.Sprintf("%s among %s%s", cli.Number(report.Pairs, "pair"), cli.Number(len(table.ids), "document"), among))
	sayCopies(g, &report)
	sayRepeated(g, repeated(table.ids), table.omitted)
	g.Log.Debug(fmt.Sprintf("read and signed in %.3g s; %s, %s compared in %.3g s; written in %.3g s",
		signed.Sub(began).Seconds(), cli.Number(report.Slices, "slice"), cli.Number(report.Candidates, "candidate pair"),
		compared.Sub(signed).Seconds(), time.Since(compared).Seconds()))
	return partly
}

// A pairTable writes pairs with the IDs of their documents.
type pairTable struct {
	known   *library
	ids     []string // of the documents that are compared
	omitted int      // pairs of documents with the same ID
}

// write writes the pairs in order of the documents that are compared: the first of a pair is one of these.
func (p *pairTable) write(t *result.TableWriter, pairs []copies.Pair) (err error) {
	first := p.known.documents()
	if len(p.known.files) > 0 {
		for i := range pairs {
			pairs[i] = pairs[i].Swapped()
		}
		slices.SortFunc(pairs, func(a, b copies.Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	}
	for i := range pairs {
		a, b := p.ids[uint64(pairs[i].A)-first], ""
		if doc := uint64(pairs[i].B); doc >= first {
			b = p.ids[doc-first]
		} else if b, err = p.known.id(doc); err != nil {
			return err
		}
		if a == b {
			p.omitted++
		} else if err := pairs[i].Write(t, a, b); err != nil {
			return err
		}
	}
	return nil
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
func sayRepeated(g *cli.Files, documents, pairs int) {
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
func signAll(ctx context.Context, g *cli.Files, inputs []string, c ingest.Config, o copies.Options, f *signatureFlags,
	add func(*signed) error, check func(documents int, idBytes uint64) error) error {
	idBytes, documents, sites := uint64(0), 0, 0
	report, err := cli.Extract(ctx, g, inputs, c, ingest.Steps[signed]{
		Worker: func(ctx context.Context) (func(int, *document.Document) (signed, error), error) {
			signer, err := copies.NewSigner(ctx, o)
			return func(_ int, doc *document.Document) (signed, error) {
				s := signed{doc.ID, signer.Sign(doc.Text)}
				s.sets.Site = f.site.Of(doc)
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
func saySites(g *cli.Files, f *signatureFlags, documents, sites int) {
	if f.site == "" || documents == sites {
		return
	}
	g.Log.Warn(fmt.Sprintf("--site %s: of no site, without such a field or with an empty one: %s of %s", f.site,
		humanize.Comma(int64(documents-sites)), cli.Number(documents, "document")))
}

func sayCopies(g *cli.Files, r *copies.Report) {
	sayLeftOut(g, r)
	cli.SaySome(g.Log.Info, r.Unlisted, "document", " with the same signatures as more than "+
		humanize.Comma(postings.MaxEqual)+" others: listed with the first of these only")
	cli.SaySome(g.Log.Warn, r.Frequent, "document",
		": pairs that share only signatures of more than max-df documents are not listed")
	cli.SaySome(g.Log.Info, r.SameSite, "pair", " of one site left out")
}

// sayLeftOut says which documents are not compared as the others are.
func sayLeftOut(g *cli.Files, r *copies.Report) {
	cli.SaySome(g.Log.Warn, r.None, "document", " had too few signatures to be compared")
	cli.SaySome(g.Log.Info, r.Fallback, "short document",
		": compared with long ones by winnow, with each other by shingles")
}
