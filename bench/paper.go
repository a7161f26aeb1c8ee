package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/distribution"
	"ndd/engine/index/plan"
	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/near/eval"
	"ndd/engine/near/scan"
	"ndd/engine/near/shingle"
	"ndd/engine/oracle/sets"
	"ndd/engine/plot"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// The figures and tables of G. S. Manku, A. Jain, A. Das Sarma: Detecting Near-Duplicates for Web
// Crawling, WWW 2007, each beside what is found here.

// paperN is how many fingerprints the paper's tables are for.
const paperN = 8_000_000_000

// figure1 is precision and recall by distance. The paper has 0.75 for both at k = 3, of pages that
// people have judged.
func figure1(ctx context.Context, b *bench, r *Result) error {
	corpus, labels, synthetic, err := b.labelled(ctx)
	if err != nil {
		return err
	}
	pairs, _ := corpus.Pairs(labels)
	if len(pairs) == 0 {
		return fmt.Errorf("none of %d labelled pairs is of documents of the corpus", len(labels))
	}
	methods := []eval.Method{{Name: "simhash", Recipe: simhash.Simhash()}, {Name: "minwise", Recipe: simhash.Minwise()}}
	o := eval.Options{AllBands: synthetic > 0, Originals: synthetic}
	result, err := eval.Measure(ctx, corpus, pairs, methods, o)
	if err != nil {
		return err
	}
	r.Columns = []string{"paper, k = 3: precision", "recall"}
	for _, m := range result.Methods {
		r.Columns = append(r.Columns, m.Name+": precision", "recall of near pairs")
	}
	for k := range eval.MaxK + 1 {
		cells := []Cell{word("-"), word("-")}
		if k == 3 {
			cells = []Cell{number(0.75), number(0.75)}
		}
		for _, m := range result.Methods {
			cells = append(cells, number(m.Precision.Share[k]), number(recallOf(m, k)))
		}
		r.row(fmt.Sprintf("k = %d", k), cells...)
	}
	r.chart("figure-1", result.FigureChart())
	if synthetic > 0 {
		r.note("%d invented texts and %d edited copies of them: words replaced, inserted, deleted, moved, cut off", synthetic, len(pairs))
		r.note("precision is that of the invented texts among themselves, none of which is like another: - where no two are within k, 0 where some are by chance;")
		r.note("it says little here: give --pairs and --documents of your own")
	} else {
		r.note("%d documents, %d labelled pairs", corpus.Len(), len(pairs))
	}
	r.note("precision: share of all pairs within k that have a Jaccard of at least 0.5; the paper had pairs judged by people")
	return nil
}

// recallOf returns the recall a pair, of all rows together.
func recallOf(m eval.MethodResult, k int) float64 {
	found, pairs := 0, 0
	for _, row := range m.Recall {
		if row.Band == "" || row.Band == eval.Near.String() {
			found, pairs = found+row.Found[k], pairs+row.Pairs
		}
	}
	return float64(found) / float64(pairs)
}

// labelled returns the user's documents and pairs, or invented ones with the number of documents
// before the edited copies.
func (b *bench) labelled(ctx context.Context) (c *eval.Corpus, labels []eval.Label, synthetic int, err error) {
	if c, err = eval.NewCorpus(shingle.Options{}); err != nil {
		return nil, nil, 0, err
	}
	if b.pairs == "" {
		texts, _ := newEnglish(1).texts(max(50, min(2000, b.n/1000)), 3000)
		for i, t := range texts {
			if err := c.Add(fmt.Sprint(i), t); err != nil {
				return nil, nil, 0, err
			}
		}
		labels, err = c.SyntheticLabels(len(texts)/4, 1)
		return c, labels, len(texts), err
	}
	f, err := os.Open(b.pairs)
	if err != nil {
		return nil, nil, 0, err
	}
	defer f.Close()
	if labels, err = eval.ReadLabels(f, b.pairs); err != nil {
		return nil, nil, 0, err
	}
	type text struct{ id, text string }
	_, err = ingest.Extract(ctx, b.documents, ingest.Config{Recipe: simhash.Default()}, ingest.Steps[text]{
		Worker: func() (func(int, *document.Document) (text, error), error) {
			return func(_ int, d *document.Document) (text, error) {
				return text{strings.Clone(d.ID), strings.Clone(d.Text)}, nil
			}, nil
		},
		Emit: func(t text) error { return c.Add(t.id, t.text) },
	})
	return c, labels, 0, err
}

// figure2 is the distribution of fingerprints: figure 2a how often each bit is set, 2b how many
// fingerprints are in each of 128 intervals.
func figure2(ctx context.Context, b *bench, r *Result) error {
	texts, _ := newEnglish(3).texts(max(200, b.n/500), 2000)
	r.Columns = []string{"2a: least set bit", "most", "2b: emptiest interval", "fullest", "chance: emptiest", "fullest"}
	for _, recipe := range []simhash.Recipe{simhash.Simhash(), simhash.Minwise()} {
		printer, err := simhash.New(recipe)
		if err != nil {
			return err
		}
		var counts, chance distribution.Counts
		for i, t := range texts {
			f, _, _ := printer.Fingerprint(t)
			counts.Add([]uint64{uint64(f)})
			chance.Add([]uint64{mix(uint64(i))})
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		ones := &plot.Bars{Title: "Figure 2a, " + recipe.Name(), X: "bit", Y: "share of fingerprints in which it is 1", Every: 8, Top: 1, Line: 0.5}
		for bit := range 64 {
			ones.Values = append(ones.Values, counts.Fraction(bit))
		}
		leading := &plot.Bars{Title: "Figure 2b, " + recipe.Name(), X: "interval of leading bits", Y: "fingerprints, of an equal share", Every: 16, Line: 1}
		var equal []float64
		for i := range distribution.Intervals {
			leading.Values = append(leading.Values, counts.Share(i))
			equal = append(equal, chance.Share(i))
		}
		r.chart("figure-2a-"+recipe.Name(), ones)
		r.chart("figure-2b-"+recipe.Name(), leading)
		bit, share, random := median(ones.Values), median(leading.Values), median(equal)
		r.row(recipe.Name(), number(bit.Least), number(bit.Most), number(share.Least), number(share.Most), number(random.Least), number(random.Most))
	}
	r.note("%d invented texts; the paper's figures are of 8e9 pages, and near 1/2 and an equal share", len(texts))
	return nil
}

// designs is section 3.1: tables, leading bits, and keys that a probe compares, for 2^34
// fingerprints as the paper has them, and for 8e9 with bytes and time by the model.
func designs(ctx context.Context, _ *bench, r *Result) error {
	r.Columns = []string{"tables", "leading bits", "paper: keys a probe of 2^34", "ours", "compared a query of 8e9", "GB of 8e9", "us a query of 8e9"}
	for _, d := range []struct {
		name   string
		layout table.Layout
		paper  float64
	}{
		{"paper-20", table.LayoutHuffman, 8}, {"paper-16", table.LayoutHuffman, 64}, {"paper-10", table.LayoutHuffman, 512}, {"paper-4", table.LayoutHuffman, 262144},
		{"halves", table.LayoutPlanar, 0}, {"cover-6-4-3", table.LayoutPlanar, 0}, {"cover-11-6-3", table.LayoutPlanar, 0},
	} {
		design, err := permute.Named(d.name, distance, 1)
		if err != nil {
			return err
		}
		var options [2]plan.Option
		for i, n := range []uint64{1 << 34, paperN} {
			p, err := plan.New(ctx, plan.Request{Fingerprints: n, K: distance, Layout: d.layout, Designs: []permute.Design{design}})
			if err != nil {
				return err
			}
			options[i] = p.Choice
		}
		paper, bits := word("-"), fmt.Sprint(options[0].Leading[0])
		if d.paper > 0 {
			paper = number(d.paper)
		}
		if options[0].Leading[1] != options[0].Leading[0] {
			bits += fmt.Sprintf("-%d", options[0].Leading[1])
		}
		keys := float64(uint64(1)<<34) / float64(uint64(1)<<options[0].Leading[0])
		r.row(d.name+", "+string(d.layout), number(float64(len(design.Tables))), word(bits), paper, number(keys), number(options[1].Candidates), number(float64(options[1].TableBytes)/1e9), number(options[1].OnlineNS/1000))
	}
	r.note("k = %d; keys a probe: 2^34 divided by 2^(least leading bits); halves probes also with single bits flipped, buckets of less than a key", distance)
	r.note("bytes and times are those of the model of ndd design, which `go run ./bench size` holds against measurements")
	return nil
}

// compression is section 3.2: "compression to one half".
func compression(ctx context.Context, b *bench, r *Result) error {
	prints := sets.Uniform(b.n, 7)
	keys := make([]uint64, len(prints))
	if err := radix.SortKeys(ctx, keys, radix.Chunks{prints}, radix.Options{Mask: 0xffffffff00000000, Threads: 1}); err != nil {
		return err
	}
	r.Columns = []string{"bytes a fingerprint", "of 8 bytes", "of the bound", "paper, of 8 bytes"}
	design, err := permute.Named("halves", distance, 1)
	if err != nil {
		return err
	}
	for _, layout := range []table.Layout{table.LayoutHuffman, table.LayoutPlanar} {
		var sections store.Memory
		if err := table.Write(&sections, "", keys, table.Options{Layout: layout}); err != nil {
			return err
		}
		tab, err := table.Open(sections.Source(), "", layout)
		if err != nil {
			return err
		}
		if err := sameKeys(tab, keys); err != nil {
			return fmt.Errorf("%s: %w", layout, err)
		}
		bytes := float64(table.Bytes(tab)) / float64(len(keys))
		r.row(fmt.Sprintf("%s, %s, measured", layout, humanize.Comma(int64(b.n))), number(bytes), number(bytes/8), number(bytes*8/distribution.Bound(uint64(b.n))), word("-"))
		p, err := plan.New(ctx, plan.Request{Fingerprints: paperN, K: distance, Layout: layout, Designs: []permute.Design{design}})
		if err != nil {
			return err
		}
		bytes = float64(p.Choice.TableBytes) / paperN / float64(len(design.Tables))
		r.row(fmt.Sprintf("%s, 8e9, by the model", layout), number(bytes), number(bytes/8), number(bytes*8/distribution.Bound(paperN)), number(0.5))
	}
	r.note("one table; verified: walked, it has the keys that were packed")
	return nil
}

// sameKeys demands that a table holds keys.
func sameKeys(t table.Table, keys []uint64) error {
	at, differ := 0, -1
	err := t.Walk(func(some []uint64) bool {
		for _, k := range some {
			if at >= len(keys) || keys[at] != k {
				differ = at
				return false
			}
			at++
		}
		return true
	})
	if err == nil && (differ >= 0 || at != len(keys)) {
		err = fmt.Errorf("of %d keys that were packed, that of rank %d is not there", len(keys), at)
	}
	return err
}

// mappers is section 3.3: chunks of F, 64 MB each, are mapped against a million queries; with 200
// mappers the paper takes 100 s for 8e9 fingerprints.
func mappers(ctx context.Context, b *bench, r *Result) error {
	const chunk = 64 << 20 / 8
	base, queries := sets.Planted(min(b.n, chunk), b.queries)
	first := queries[:min(100, max(1, len(queries)/10))]
	want := compareAll(base, first)
	r.Columns = []string{"ms a chunk", "s for 8e9, 200 mappers", "paper", "s for 8e9, this host"}
	for _, count := range []int{max(1, len(queries)/10), len(queries)} {
		q := queries[:count]
		o := scan.Options{Threads: 1, Temp: b.dir, Budget: memory.NewBudget(memory.Machine{}.Limit(0)), Fingerprints: uint64(len(base))}
		p, err := scan.NewPlan(len(q), distance, false, o)
		if err != nil {
			return err
		}
		// What the tables of the queries cost is that of an empty F: a mapper pays it once.
		once := func(prints []uint64) (took Cell, found string, err error) {
			took, err = rounds(b.rounds, func() error {
				hits, sum, err := sumOf(len(first), scan.Answer(ctx, func() (scan.Source, error) { return scan.Slice(prints, 0), nil }, q, distance, p, o))
				found = answer(hits, sum)
				return err
			})
			return took, found, err
		}
		tables, _, err := once(nil)
		if err != nil {
			return err
		}
		whole, found, err := once(base)
		if err != nil {
			return err
		}
		if found != want {
			return fmt.Errorf("%d queries: of the first %s, comparing all with all finds %s", count, found, want)
		}
		seconds := max(0, whole.Value-tables.Value) * chunk / float64(len(base))
		chunks := float64(paperN) / chunk
		paper := word("-")
		if count == 1_000_000 {
			paper = number(100)
		}
		r.row(humanize.Comma(int64(count))+" queries", number(seconds*1000), number(tables.Value+seconds*chunks/200), paper, number(tables.Value+seconds*chunks/float64(runtime.GOMAXPROCS(0))))
	}
	r.note("one chunk of 64 MB is measured on one thread, without and with the fingerprints, and multiplied; reading F from a network is not in it")
	r.note("verified: the answers to the first %d queries are those of comparing all with all", len(first))
	return nil
}
