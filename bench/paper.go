package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/bench/invented"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/near/eval"
	"example.org/ndd/engine/near/scan"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// The figures and tables of G. S. Manku, A. Jain, A. Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW 2007,
// with the results of this program.

// paperN is the number of fingerprints of the tables of the paper.
const paperN = 8_000_000_000

// figure1 measures precision and recall by distance. The paper has 0.75 for both at k = 3, for pages that people have
// judged.
func figure1(ctx context.Context, b *bench, r *Result) error {
	corpus, labels, err := labelledSet(1)
	if err != nil {
		return err
	}
	pairs, _ := corpus.Pairs(labels)
	methods := []eval.Method{{Name: "simhash", Recipe: simhash.Simhash()}, {Name: "minwise", Recipe: simhash.Minwise()}}
	result, err := eval.Measure(ctx, corpus, pairs, methods, eval.Options{})
	if err != nil {
		return err
	}
	r.Columns = []string{"paper, k = 3: precision", "recall"}
	for _, m := range result.Methods {
		r.Columns = append(r.Columns, m.Name+", by labels: precision", "recall", "by Jaccard: precision", "recall")
	}
	for k := range eval.MaxK + 1 {
		cells := []any{"-", "-"}
		if k == 3 {
			cells = []any{0.75, 0.75}
		}
		for _, m := range result.Methods {
			cells = append(cells, m.ByLabel.Precision[k], m.ByLabel.Recall[k], m.Figure.Precision[k], m.Figure.Recall[k])
		}
		r.row(fmt.Sprintf("k = %d", k), cells...)
	}
	r.note("%d documents, %d labelled pairs", corpus.Len(), len(pairs))
	r.note("the documents are invented; go run ./bench --labelled DIR writes them, and ndd eval measures real ones")
	r.note("by labels: the share of the labelled pairs within k that are labelled same, and the share of the pairs labelled same that " +
		"are within k; the paper had pairs judged by people")
	r.note("by Jaccard: all pairs, with equal weights of the distances; at least 0.8 is right, below 0.5 is wrong")
	return cmp.Or(b.chart("figure-1", result.LabelChart()), b.chart("figure-1-by-jaccard", result.JaccardChart()))
}

// labelledSet returns the invented set of a seed.
func labelledSet(seed uint64) (*eval.Corpus, []eval.Label, error) {
	set, corpus := invented.New(seed), eval.NewCorpus()
	for _, d := range set.Documents {
		if err := corpus.Add(d.ID, d.Text); err != nil {
			return nil, nil, err
		}
	}
	var labels []eval.Label
	for _, p := range set.Pairs {
		labels = append(labels, eval.Label{A: set.Documents[p.A].ID, B: set.Documents[p.B].ID, Kind: p.Label,
			Lang: set.Documents[p.A].Lang, Jaccard: math.NaN()})
	}
	return corpus, labels, nil
}

// figure2 is the distribution of fingerprints (section 4.2). Figure 2a is the position of the leading 1-bit in the XOR of
// successive sorted fingerprints, figure 2b the number of fingerprints in each of 128 buckets.
func figure2(ctx context.Context, b *bench, r *Result) error {
	words, count := newEnglish(3), max(200, b.n/500)
	r.Columns = []string{"2a: most frequent bit", "its share", "share below", "2b: emptiest bucket", "fullest", "chance: emptiest", "fullest",
		"bits: least often 1", "most often"}
	for _, recipe := range []simhash.Recipe{simhash.Simhash(), simhash.Minwise()} {
		hasher, err := simhash.New(recipe)
		if err != nil {
			return err
		}
		var counts, chance distribution.Counts
		var sorted []uint64
		for i := range count {
			f, _, _ := hasher.Fingerprint(words.text(i, 2000))
			sorted = append(sorted, uint64(f))
			chance.Add([]uint64{token.Mix(uint64(i))})
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		slices.Sort(sorted)
		counts.Add(sorted)
		leading := distribution.LeadingOnes(sorted)
		for name, figure := range distribution.Figures(recipe.Name(), &counts, leading) {
			name = strings.TrimSuffix(name, ".svg") + "-" + recipe.Name()
			if err := b.chart(name, figure); err != nil {
				return err
			}
		}
		r.row(recipe.Name(), figure2Cells(&counts, &chance, leading)...)
	}
	r.note("%d invented texts, unlike each other; the paper's figures are of 8e9 pages, many of them near-duplicates", count)
	r.note("2a: of random fingerprints a fifth of the pairs is at bit 64 - log2 n; the number halves with each bit farther from it")
	return nil
}

// figure2Cells returns the row of a recipe.
func figure2Cells(counts, chance *distribution.Counts, leading [64]uint64) []any {
	pairs, below, frequent := uint64(0), uint64(0), 0
	for bit, n := range leading {
		if pairs += n; n > leading[frequent] {
			frequent = bit
		}
	}
	for _, n := range leading[:frequent] {
		below += n
	}
	var shares, random, ones []float64
	for i := range distribution.Intervals {
		shares, random = append(shares, counts.Share(i)), append(random, chance.Share(i))
	}
	for bit := range 64 {
		ones = append(ones, counts.Fraction(bit))
	}
	share := func(n uint64) float64 { return float64(n) / float64(max(pairs, 1)) }
	return []any{float64(frequent), share(leading[frequent]), share(below), slices.Min(shares), slices.Max(shares),
		slices.Min(random), slices.Max(random), slices.Min(ones), slices.Max(ones)}
}

// designs makes the table of section 3.1: tables, leading bits, and keys that a probe compares, for the paper's 2^34
// fingerprints. For 8e9 fingerprints it also has bytes and time by the model.
func designs(ctx context.Context, _ *bench, r *Result) error {
	r.Columns = []string{"tables", "leading bits", "paper: keys a probe of 2^34", "ours", "compared a query of 8e9",
		"GB of 8e9", "us a query of 8e9"}
	for _, d := range []struct {
		name   string
		layout table.Layout
		paper  any
	}{
		{"paper-20", table.LayoutHuffman, 8}, {"paper-16", table.LayoutHuffman, 64},
		{"paper-10", table.LayoutHuffman, 512}, {"paper-4", table.LayoutHuffman, 262144},
		{"halves", table.LayoutPlanar, "-"}, {"cover-6-4-3", table.LayoutPlanar, "-"}, {"cover-11-6-3", table.LayoutPlanar, "-"},
	} {
		design, err := permute.Named(d.name, distance, 1)
		if err != nil {
			return err
		}
		var options [2]plan.Option
		for i, n := range []uint64{1 << 34, paperN} {
			if options[i], err = foretold(ctx, n, design, d.layout); err != nil {
				return err
			}
		}
		bits := fmt.Sprint(options[0].Leading[0])
		if options[0].Leading[1] != options[0].Leading[0] {
			bits += fmt.Sprintf("-%d", options[0].Leading[1])
		}
		keys := float64(uint64(1)<<34) / float64(uint64(1)<<options[0].Leading[0])
		r.row(d.name+", "+string(d.layout), len(design.Tables), bits, d.paper, keys,
			options[1].Candidates, float64(options[1].TableBytes)/1e9, options[1].OnlineNS/1000)
	}
	r.note("k = %d; keys a probe: 2^34 divided by 2^(least leading bits); halves probes also with single bits "+
		"flipped, buckets of less than a key", distance)
	r.note("bytes and times are those of the model of ndd design, which `go run ./bench model` holds against measurements")
	return nil
}

// compression is section 3.2: "compression to one half".
func compression(ctx context.Context, b *bench, r *Result) error {
	fingerprints := sets.Uniform(b.n, 7)
	keys := make([]uint64, len(fingerprints))
	if err := radix.SortKeys(ctx, keys, radix.Chunks{fingerprints}, radix.Options{Mask: 0xffffffff00000000,
		Threads: 1}); err != nil {
		return err
	}
	r.Columns = []string{"bytes a fingerprint", "of 8 bytes", "of the bound", "paper, of 8 bytes"}
	design, err := permute.Named("halves", distance, 1)
	if err != nil {
		return err
	}
	for _, layout := range []table.Layout{table.LayoutHuffman, table.LayoutPlanar} {
		var memory sections.Memory
		if err := table.Write(&memory, "", keys, table.Options{Layout: layout}); err != nil {
			return err
		}
		tab, err := table.Open(memory.Source(), "", layout)
		if err != nil {
			return err
		}
		if err := sameKeys(tab, keys); err != nil {
			return fmt.Errorf("%s: %w", layout, err)
		}
		bytes := float64(table.Bytes(tab)) / float64(len(keys))
		r.row(fmt.Sprintf("%s, %s, measured", layout, humanize.Comma(int64(b.n))), bytes, bytes/8,
			bytes*8/distribution.Bound(uint64(b.n)))
		model, err := foretold(ctx, paperN, design, layout)
		if err != nil {
			return err
		}
		bytes = float64(model.TableBytes) / paperN / float64(len(design.Tables))
		r.row(fmt.Sprintf("%s, 8e9, by the model", layout), bytes, bytes/8,
			bytes*8/distribution.Bound(paperN), 0.5)
	}
	r.note("one table; verified: walked, it has the keys that were packed")
	return nil
}

// sameKeys returns an error unless a table holds keys.
func sameKeys(t table.Table, keys []uint64) error {
	same := true
	err := t.WalkPart(0, 1, 1, func(_ uint64, some []uint64) bool {
		same = len(some) <= len(keys) && slices.Equal(some, keys[:len(some)])
		if same {
			keys = keys[len(some):]
		}
		return same
	})
	if err == nil && (!same || len(keys) > 0) {
		err = fmt.Errorf("the %d last keys that were packed are not there", len(keys))
	}
	return err
}

// mappers measures section 3.3: it compares chunks of F, 64 MB each, with a million queries. With 200 mappers the paper
// takes 100 s for 8e9 fingerprints.
func mappers(ctx context.Context, b *bench, r *Result) error {
	const chunk, copies, near = 64 << 20 / 8, 4, 1000
	base, first := sets.Planted(min(b.n, chunk), min(near, b.queries))
	want := compareAll(base, first[:100])
	queries := append(first, sets.Uniform(b.queries-len(first), 9)...)
	r.Columns = []string{"tables, s", "ms a chunk", "s for 8e9, 200 mappers", "paper", "s for 8e9, this host", "processor s"}
	for _, count := range []int{max(len(first), len(queries)/10), len(queries)} {
		var tables, scans [2]Cell // tables[0] is for one thread, tables[1] for all
		var processor []float64
		for i, threads := range []int{1, 0} {
			began := time.Now()
			s, err := b.searcher(queries[:count], threads, paperN)
			if err != nil {
				return err
			}
			defer s.Close()
			tables[i] = median([]float64{time.Since(began).Seconds()})
			scans[i], err = b.repeat(func() error {
				used := processorTime()
				got, err := answerOf(s.Hits(ctx, repeatSource(base, copies)), 100)
				if processor = append(processor, (processorTime() - used).Seconds()); err == nil && got != want {
					err = fmt.Errorf("%d queries: of the first %v, comparing all with all finds %v", count, got, want)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		var paper any = "-"
		if count == 1_000_000 {
			paper = 100
		}
		scale := paperN / float64(copies*len(base))
		r.row(humanize.Comma(int64(count))+" queries", tables[0].Value, scans[0].Value*1000*chunk/float64(copies*len(base)),
			tables[0].Value+scans[0].Value*scale/200, paper, tables[1].Value+scans[1].Value*scale,
			median(processor[len(processor)/2:]).Value*scale)
	}
	r.note("the tables of the queries are built once, as for 8e9 fingerprints; %d chunks are mapped and multiplied; F is not read from a disk",
		copies)
	r.note("of the queries %d may have answers in a chunk, about as many as of a million in 8e9 fingerprints", len(first))
	r.note("verified: the answers to the first 100 queries are those of comparing all with all")
	return nil
}

// repeatSource yields fingerprints several times.
func repeatSource(fingerprints []uint64, times int) scan.Source {
	return func(yield func(scan.Chunk) bool) (err error) {
		for more := true; times > 0 && more && err == nil; times-- {
			err = scan.Slice(fingerprints, 0)(func(c scan.Chunk) bool {
				more = yield(c)
				return more
			})
		}
		return err
	}
}
