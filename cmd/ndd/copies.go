package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/copies/spotsigs"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
	"ndd/engine/result"
)

// copiesFlags are those of ndd copies.
type copiesFlags struct {
	docs                         documentFlags
	method, spots, ends          string
	threshold                    float64
	minFeatures, distance, chain int
	maxDocuments, maxEqual       int
	out, clusters, memory        string
	format                       tableFormat
	explain                      bool
}

func newCopies(g *globals) *cobra.Command {
	var f copiesFlags
	cmd := &cobra.Command{
		Use:   "copies INPUT...",
		Short: "Find revised pages, excerpts and digests, beyond near-duplicates",
		Long: `Find pairs of documents that have much of their text in common, as a whole or in
part. Fingerprints within k bits find only near-duplicates of the whole.

Methods: spotsigs compares the words that follow stop words (Jaccard similarity at
least 0.45). ccdet, for Chinese, compares the characters before the ends of sentences,
and winnow sequences of words or characters (both: containment of the smaller document
at least 0.6). auto uses ccdet or spotsigs by the language of each document, and winnow
for documents that are too short for these.

The output is a table of pairs, in tsv with a header: id, id, relation, score, share of the first in the
second and of the second in the first, signatures of each, shared signatures, method.
The relation is duplicate, contains (the first contains the second), contained, or
overlap. Documents with equal signatures are paired with the first of them only.

--explain takes two ids after the inputs and shows the passages that both documents
have.`,
		Example: `  ndd copies pages/
  ndd copies --method winnow --threshold 0.8 -o pairs.tsv crawl.jsonl.zst
  ndd copies --explain crawl.jsonl.zst https://example.org/a https://example.org/b`,
		Args: someArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(g)
			if err != nil {
				return err
			}
			if f.explain {
				return g.explainCopies(cmd.Context(), args, o, &f)
			}
			return g.copies(cmd.Context(), args, o, &f)
		},
	}
	f.docs.register(cmd, "document-format")
	g.skipped.register(cmd)
	g.registerForce(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "auto", "auto, spotsigs, ccdet or winnow")
	fl.Float64Var(&f.threshold, "threshold", 0, "lowest score of a reported pair, above 0 and at most 1 (default: each method's own)")
	fl.IntVar(&f.minFeatures, "min-features", 0, "least number of signatures of a document that is compared (default: spotsigs 8, ccdet 1, winnow 3)")
	fl.StringVar(&f.spots, "spots", "wide", "spotsigs: the stop words, called spots: paper, wide, auto (the commonest words of the input, for any language) or a file of words")
	fl.IntVar(&f.distance, "spot-distance", 1, "spotsigs: distance between the content words of a signature")
	fl.IntVar(&f.chain, "chain", 3, "spotsigs: number of content words in a signature")
	fl.StringVar(&f.ends, "ends", "", "ccdet: characters that end a sentence (default 。！？；)")
	fl.IntVar(&f.maxDocuments, "max-df", 10_000, "ignore signatures that more documents have when looking for candidates; the number of documents concerned is reported")
	fl.IntVar(&f.maxEqual, "max-equal", 1000, "if more documents have equal signatures, pair each with the first of them only")
	fl.StringVarP(&f.out, "output", "o", "", "file to write instead of standard output")
	f.format.register(cmd)
	fl.StringVar(&f.clusters, "clusters", "", "file for the clusters that pairs connect: cluster, id")
	fl.StringVar(&f.memory, "memory", "", "memory limit, such as 4GiB (default: what is available)")
	fl.BoolVar(&f.explain, "explain", false, "show the passages that two documents share; the last two arguments are their IDs")
	return cmd
}

// options checks the flags.
func (f *copiesFlags) options(g *globals) (o copies.Options, err error) {
	o = copies.Options{Threshold: f.threshold, MinFeatures: f.minFeatures, Ends: f.ends, Threads: g.threads,
		Join: postings.Options{MaxDocuments: f.maxDocuments, MaxEqual: f.maxEqual},

		SpotSigs: spotsigs.Options{Distance: f.distance, Chain: f.chain}}
	if o.Method, err = copies.ParseMethod(f.method); err != nil {
		return o, usagef("--method %q: %w", f.method, err)
	}
	if err := f.format.check(g, f.out); err != nil {
		return o, err
	}
	if g.given["threshold"] && f.threshold <= 0 {
		return o, usagef("--threshold %g: must be above 0 and at most 1", f.threshold)
	}
	if f.maxEqual < 1 {
		return o, usagef("--max-equal %d: must be at least 1", f.maxEqual)
	}
	if f.maxDocuments < 1 {
		return o, usagef("--max-df %d: must be at least 1", f.maxDocuments)
	}
	if f.explain {
		if err := g.refuse("has no effect with --explain", "output", "clusters", "format", "threshold"); err != nil {
			return o, err
		}
	}
	for _, path := range []string{f.out, f.clusters} {
		if err := g.checkOutput(path); err != nil {
			return o, err
		}
	}
	switch f.spots {
	case "auto": // learned from the inputs, later
	case spotsigs.Paper.Name(), spotsigs.Wide.Name():
		o.SpotSigs.Lists, err = spotsigs.ByName(f.spots)
	default:
		o.SpotSigs.Lists, err = readSpots(f.spots)
	}
	if err != nil {
		return o, err
	}
	if _, err := copies.NewSigner(o); err != nil {
		return o, usagef("%w", err)
	}
	return o, nil
}

func readSpots(path string) (*spotsigs.Lists, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--spots: %w; the lists are paper, wide and auto", err)
	}
	defer file.Close()
	return spotsigs.ReadLists(file, path)
}

// copies finds the pairs and writes them.
func (g *globals) copies(ctx context.Context, inputs []string, o copies.Options, f *copiesFlags) error {
	config, err := f.docs.config(g, nil)
	if err != nil {
		return err
	}
	budget, err := g.copiesBudget(f.memory)
	if err != nil {
		return err
	}
	if f.spots == "auto" {
		if o.SpotSigs.Lists, err = g.learnSpots(ctx, inputs, config); err != nil {
			return err
		}
	}
	left := budget.Left()
	o.Room.Bytes, o.Join.MemoryBytes = left/setsShare, left/sliceShare
	d := copies.NewDetector(o)
	defer d.Close()
	ids, partly := g.signAll(ctx, inputs, config, o, d, budget)
	if partly != nil && !errors.Is(partly, errPartly) {
		return partly
	}
	pairs, report, err := d.Pairs(ctx)
	if err != nil {
		return err
	}
	if err := g.writeCopies(ids, pairs, f); err != nil {
		return err
	}
	g.sayCopies(&report)
	return partly
}

// What the memory is for: the sets of the method that has most of them, and one slice while it is joined. The rest is for
// other sets, ids and pairs.
const (
	setsShare  = 4
	sliceShare = 3
)

func (g *globals) copiesBudget(size string) (*memory.Budget, error) {
	bytes, err := parseMemory(size)
	if err != nil {
		return nil, err
	}
	if bytes > 0 {
		return memory.NewBudget(memory.Set(bytes)), nil
	}
	return memory.ForProgram(g.machine.Limit(0)), nil
}

// learnSpots reads the inputs once for their commonest words.
func (g *globals) learnSpots(ctx context.Context, inputs []string, c ingest.Config) (*spotsigs.Lists, error) {
	for _, in := range inputs {
		if document.ReadOnce(in) {
			return nil, usagef("--spots auto reads the inputs twice, and %s can be read once only", in)
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

// signed is a document on its way to the detector.
type signed struct {
	id   string
	sets copies.Sets
}

// signAll signs the documents on all threads and adds them in order. The error is errPartly when input was lost.
func (g *globals) signAll(ctx context.Context, inputs []string, c ingest.Config, o copies.Options, d *copies.Detector, budget *memory.Budget) (ids []string, err error) {
	idBytes := uint64(0)
	report, err := extract(ctx, g, inputs, c, ingest.Steps[signed]{
		Worker: func() (func(int, *document.Document) (signed, error), error) {
			signer, err := copies.NewSigner(o)
			return func(_ int, doc *document.Document) (signed, error) { return signed{doc.ID, signer.Sign(doc.Text)}, nil }, err
		},
		Emit: func(s signed) error {
			d.Add(s.sets)
			ids = append(ids, s.id)
			idBytes += uint64(len(s.id)) + 16
			if len(ids)%1000 > 0 {
				return nil
			}
			return budget.Check(fmt.Sprintf("comparing %s and more", number(len(ids), "document")), d.NeedBytes()+2*idBytes)
		},
	})
	if err != nil {
		return nil, memory.Advise(err, "give it more with --memory, or compare fewer documents at a time")
	}
	return ids, g.ingested(report)
}

// extract reads documents with a progress bar. That there is none is an error.
func extract[R any](ctx context.Context, g *globals, inputs []string, c ingest.Config, s ingest.Steps[R]) (ingest.Report, error) {
	c.Document.Meter = &document.Meter{}
	bar := g.newInputBar(ctx, "reading", inputs, c.Document.Meter)
	report, err := ingest.Extract(ctx, inputs, c, s)
	bar.end()
	if err == nil && report.Documents == 0 && report.Skipped.Lost() == 0 {
		err = fmt.Errorf("no documents in %s", strings.Join(inputs, " "))
	}
	return report, err
}

// sayCopies sums the comparison up.
func (g *globals) sayCopies(r *copies.Report) {
	g.log.Info(fmt.Sprintf("%s among %s", number(r.Pairs, "pair"), number(r.Documents, "document")))
	if r.None > 0 {
		g.log.Warn(fmt.Sprintf("%s had too few signatures to be compared", number(r.None, "document")))
	}
	if r.Fallback > 0 {
		g.log.Info(fmt.Sprintf("%s had too few signatures of the method of their language and were compared by winnow", number(r.Fallback, "document")))
	}
	if r.Unlisted > 0 {
		g.log.Info(fmt.Sprintf("%s had the same signatures as more than --max-equal others, and are listed with the first of these alone", number(r.Unlisted, "document")))
	}
	if r.Frequent > 0 {
		g.log.Warn(fmt.Sprintf("%s share signatures with more than --max-df documents: pairs of these that share nothing rarer are not listed", number(r.Frequent, "document")))
	}
}

// copyColumns are those of a table of pairs, and of one of clusters.
var (
	copyColumns = []result.Column{{Name: "id_a", Kind: result.Text}, {Name: "id_b", Kind: result.Text}, {Name: "relation", Kind: result.Text},
		{Name: "score", Kind: result.Real}, {Name: "a_in_b", Kind: result.Real}, {Name: "b_in_a", Kind: result.Real},
		{Name: "size_a", Kind: result.Integer}, {Name: "size_b", Kind: result.Integer}, {Name: "shared", Kind: result.Integer}, {Name: "method", Kind: result.Text}}
	copyClusterColumns = []result.Column{{Name: "cluster", Kind: result.Integer}, {Name: "id", Kind: result.Text}}
)

// writeCopies writes pairs and clusters.
func (g *globals) writeCopies(ids []string, pairs []copies.Pair, f *copiesFlags) error {
	if f.clusters != "" {
		if err := g.writeTable(f.clusters, f.format.Format, copyClusterColumns, func(t *result.TableWriter) error {
			return writeCopyClusters(t, ids, copies.Clusters(len(ids), pairs))
		}); err != nil {
			return err
		}
	}
	return g.writeTable(f.out, f.format.Format, copyColumns, func(t *result.TableWriter) error { return writeCopyPairs(t, ids, pairs) })
}

func writeCopyPairs(t *result.TableWriter, ids []string, pairs []copies.Pair) error {
	for i := range pairs {
		p := &pairs[i]
		t.Text(ids[p.A]).Text(ids[p.B]).Text(string(p.Relation)).Real(p.Score).Real(p.ContainmentA()).Real(p.ContainmentB())
		if err := t.Integer(int64(p.SizeA)).Integer(int64(p.SizeB)).Integer(int64(p.Shared)).Text(string(p.Method)).End(); err != nil {
			return err
		}
	}
	return nil
}

func writeCopyClusters(t *result.TableWriter, ids []string, clusters [][]uint32) error {
	for i, docs := range clusters {
		for _, doc := range docs {
			if err := t.Integer(int64(i + 1)).Text(ids[doc]).End(); err != nil {
				return err
			}
		}
	}
	return nil
}
