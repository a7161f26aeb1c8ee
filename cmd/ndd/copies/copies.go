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
	"ndd/engine/copies/spotsigs"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
)

// copiesFlags are those of ndd copies.
type copiesFlags struct {
	signatures             signatureFlags
	join                   joinFlags
	out, clusters, against string
	format                 cli.TableFormat
	explain, self          bool
	page                   string
}

func newCopies(g *cli.Globals) *cobra.Command {
	var f copiesFlags
	cmd := &cobra.Command{
		Use:   "copies INPUT...",
		Short: "Find revised pages, excerpts and digests, beyond near-duplicates",
		Long: `Find pairs of documents that have much of their text in common, as a whole or in
part. Fingerprints within k bits find only near-duplicates of the whole.

Methods: spotsigs compares the words that follow stop words (Jaccard similarity at
least 0.5; with --chain 3 or more, 0.45). ccdet, for Chinese, compares the characters
before the ends of sentences, and winnow some sequences of words or characters (both:
containment of the smaller document, at least 0.6 and 0.65). shingles compares all rows of 3 words or 5 characters
(Jaccard similarity at least 0.4): it suits short documents, and takes more memory.
auto uses ccdet or spotsigs by the language of each document. Documents too short for
these are compared by shingles with each other, and by winnow with the others.

The output is a table of pairs, in tsv with a header: id, id, relation, score, share of
the first in the second and of the second in the first, signatures of each, shared
signatures, method, flags. The relation is duplicate, contains (the first contains the
second), contained, or overlap. Flags: equal (the same signatures), few_a and few_b
(too few signatures of the method of its language), same_site. Of more than --max-equal
documents with equal signatures each is paired with the first of them only.

--against compares with the documents of an index, which 'ndd copies build' makes.
Documents with the same ID are taken for one: their pairs are counted and not listed,
unless --self is given.

--explain takes two IDs after the inputs and shows the passages that both documents
have, as text, or with --page as an HTML page with both side by side.`,
		Example: `  ndd copies pages/
  ndd copies --method winnow --threshold 0.8 -o pairs.tsv crawl.jsonl.zst
  ndd copies --against library new.jsonl
  ndd copies --site url --same-site skip crawl.jsonl.zst
  ndd copies --explain --page both.html crawl.jsonl.zst https://example.org/a https://example.org/b`,
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
	f.join.register(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "file to write instead of standard output")
	f.format.Register(cmd)
	fl.StringVar(&f.clusters, "clusters", "", "file for the clusters that pairs connect: cluster, id")
	fl.StringVar(&f.against, "against", "", "index to compare the documents with, instead of with each other")
	fl.BoolVar(&f.self, "self", false, "also list pairs of documents with the same ID")
	fl.BoolVar(&f.explain, "explain", false, "show the passages that two documents share; the last two arguments are their IDs")
	fl.StringVar(&f.page, "page", "", "with --explain: HTML file to write, with both documents side by side")
	cmd.AddCommand(newCopiesBuild(g), newCopiesMerge(g), newCopiesDelete(g))
	return cmd
}

// check checks flags that are about the output, and those that exclude others.
func (f *copiesFlags) check(g *cli.Globals) error {
	if err := f.format.Check(g, f.out); err != nil {
		return err
	}
	if f.explain {
		if err := g.Refuse("has no effect with --explain", "output", "clusters", "format", "threshold", "against"); err != nil {
			return err
		}
	} else if err := g.Refuse("applies only with --explain", "page"); err != nil {
		return err
	}
	if f.against != "" {
		if err := g.Refuse("applies to documents that are compared with each other, without --against", "clusters", "max-equal", "idf", "site-features", "split", "slices"); err != nil {
			return err
		}
	}
	if f.explain {
		if err := g.Refuse("has no effect with --explain", "self", "site", "same-site", "site-features", "idf", "max-df", "max-equal", "split", "slices"); err != nil {
			return err
		}
	}
	if f.clusters != "" && cli.IsStdout(f.clusters) && cli.IsStdout(f.out) {
		return cli.Usagef("--clusters and the pairs cannot both be standard output: give one of them a file")
	}
	for _, path := range []string{f.out, f.clusters, f.page} {
		if err := g.CheckOutput(path); err != nil {
			return err
		}
	}
	return nil
}

// options returns what the flags say.
func (f *copiesFlags) options(g *cli.Globals) (o copies.Options, err error) {
	if o, err = f.signatures.options(g); err != nil {
		return o, err
	}
	if err := f.join.complete(g, &o, f.signatures.site); err != nil {
		return o, err
	}
	if _, err := copies.NewSigner(o); err != nil {
		return o, cli.Usagef("%w", err)
	}
	return o, nil
}

// findCopies finds the pairs and writes them.
func findCopies(ctx context.Context, g *cli.Globals, inputs []string, f *copiesFlags) error {
	o, err := f.options(g)
	if err != nil {
		return err
	}
	config, err := f.signatures.config(g)
	if err != nil {
		return err
	}
	budget, err := f.signatures.room(g, &o)
	if err != nil {
		return err
	}
	if err := f.signatures.learn(ctx, g, inputs, config, &o); err != nil {
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
	show = g.NewBar("comparing", 0, cli.CountUnit)
	pairs, report, err := d.Pairs(ctx)
	show.End()
	if err != nil {
		return err
	}
	compared := time.Now()
	listed := pairs
	if !f.self {
		listed = slices.DeleteFunc(slices.Clone(pairs), func(p copies.Pair) bool { return ids[p.A] == ids[p.B] })
	}
	if err := writeCopies(g, ids, pairs, listed, f); err != nil {
		return err
	}
	sayCopies(g, &report)
	sayRepeated(g, repeated(ids), len(pairs)-len(listed))
	g.Log.Debug(fmt.Sprintf("read and signed in %.3g s, compared in %.3g s, written in %.3g s",
		signed.Sub(began).Seconds(), compared.Sub(signed).Seconds(), time.Since(compared).Seconds()))
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

// sayRepeated says how many documents have an ID that another one has, and how many pairs are not listed for it.
func sayRepeated(g *cli.Globals, documents, pairs int) {
	if documents > 0 {
		g.Log.Warn(fmt.Sprintf("%s with an ID that an earlier one has: lines of the output do not tell them apart; --id names another field", cli.Number(documents, "document")))
	}
	if pairs > 0 {
		g.Log.Info(fmt.Sprintf("%s of documents with the same ID left out; --self lists them", cli.Number(pairs, "pair")))
	}
}

// learnSpots reads the inputs once for their commonest words.
func learnSpots(ctx context.Context, g *cli.Globals, inputs []string, c ingest.Config) (*spotsigs.Lists, error) {
	for _, in := range inputs {
		if document.ReadOnce(in) {
			return nil, cli.Usagef("--spots auto reads the inputs twice, and %s can be read once only", in)
		}
	}
	l, err := spotsigs.NewLearner()
	if err != nil {
		return nil, err
	}
	for doc, err := range document.Read(ctx, inputs, c.Document, c.Stdin) {
		if _, ok := errors.AsType[*document.Skip](err); ok {
			continue // said when the documents are compared
		}
		if err != nil {
			return nil, err
		}
		l.Add(doc.Text)
	}
	lists, err := l.Lists()
	if err != nil {
		return nil, fmt.Errorf("--spots auto: %w", err)
	}
	return lists, nil
}

// signed is a document on its way to the detector or the index.
type signed struct {
	id   string
	sets copies.Sets
}

// signAll signs the documents on all threads and adds them in order; check is told how many there are so far and what their IDs take. The
// error is cli.ErrPartly when input was lost.
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

// sayCopies sums the comparison up.
func sayCopies(g *cli.Globals, r *copies.Report) {
	g.Log.Info(fmt.Sprintf("%s among %s", cli.Number(r.Pairs, "pair"), cli.Number(r.Documents, "document")))
	sayLeftOut(g, r)
	if r.Unlisted > 0 {
		g.Log.Info(fmt.Sprintf("%s had the same signatures as more than --max-equal others, and are listed with the first of these alone", cli.Number(r.Unlisted, "document")))
	}
	if r.Frequent > 0 {
		sayFrequent(g, r.Frequent)
	}
	if r.SameSite > 0 {
		g.Log.Info(fmt.Sprintf("%s of one site left out", cli.Number(r.SameSite, "pair")))
	}
	if r.Dropped > 0 {
		g.Log.Info(fmt.Sprintf("%s left out by --idf or --site-features", cli.Number(r.Dropped, "signature")))
	}
	g.Log.Debug(fmt.Sprintf("%s of signatures in lists, %s read", cli.Number(r.Lookups, "look-up"), cli.Number(r.Postings, "posting")))
	t := &r.Traffic
	g.Log.Debug(fmt.Sprintf("%s, %s compared; divided over machines, this would send %s (%s) to them and %s (%s) from them",
		cli.Number(r.Slices, "slice"), cli.Number(r.Candidates, "candidate pair"), cli.Number(t.Sent, "record"), humanize.IBytes(t.SentBytes),
		cli.Number(t.Partial, "record"), humanize.IBytes(t.PartialBytes)))
}

// sayFrequent says that so many documents may have copies that are not listed.
func sayFrequent(g *cli.Globals, documents int) {
	g.Log.Warn(fmt.Sprintf("%s share signatures with more than --max-df documents: pairs of these that share nothing rarer are not listed", cli.Number(documents, "document")))
}

// sayLeftOut says which documents are not compared as the others are.
func sayLeftOut(g *cli.Globals, r *copies.Report) {
	if r.None > 0 {
		g.Log.Warn(fmt.Sprintf("%s had too few signatures to be compared", cli.Number(r.None, "document")))
	}
	if r.Fallback > 0 {
		g.Log.Info(fmt.Sprintf("%s had too few signatures of the method of their language and were compared by winnow, and with each other by shingles", cli.Number(r.Fallback, "document")))
	}
}
