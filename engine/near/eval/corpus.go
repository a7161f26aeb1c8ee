package eval

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/shingle"
	"example.org/ndd/engine/parallel"
)

// A Corpus has the documents for a measurement. Add documents, then measure.
type Corpus struct {
	ids      []string
	texts    []string
	sets     [][]uint64     // shingles, ascending
	rows     map[string]int // rows by ID
	shingler *shingle.Shingler
}

// NewCorpus returns an empty corpus.
func NewCorpus() *Corpus {
	return &Corpus{rows: make(map[string]int), shingler: shingle.New(context.Background())}
}

// Add adds a document. A second document with the same ID is an error.
func (c *Corpus) Add(id, text string) error {
	if _, ok := c.rows[id]; ok {
		return fmt.Errorf("two documents have the ID %s: labels could mean either", id)
	}
	c.rows[id] = len(c.ids)
	c.ids = append(c.ids, id)
	c.texts = append(c.texts, text)
	c.sets = append(c.sets, slices.Clip(c.shingler.Append(nil, text)))
	return nil
}

// Len returns the number of documents.
func (c *Corpus) Len() int { return len(c.ids) }

// ID returns the ID of a row.
func (c *Corpus) ID(row int) string { return c.ids[row] }

// Bytes returns the memory of texts and shingles.
func (c *Corpus) Bytes() (sum uint64) {
	for i := range c.texts {
		sum += uint64(len(c.texts[i]) + 8*len(c.sets[i]))
	}
	return sum
}

// Each calls functions with the texts of all rows in parallel. Each goroutine has a function of its own, a result of
// start.
func (c *Corpus) Each(ctx context.Context, threads int,
	start func(context.Context) (func(row int, text string), error)) error {
	return parallel.Each(ctx, parallel.Options{Workers: threads}, func(_ context.Context, yield func(int) bool) error {
		for row := 0; row < c.Len() && yield(row); row++ {
		}
		return nil
	}, func(ctx context.Context, rows iter.Seq[int]) error {
		f, err := start(ctx)
		if err != nil {
			return err
		}
		for row := range rows {
			f(row, c.texts[row])
		}
		return nil
	})
}

// Jaccard returns the exact similarity of the documents of two rows.
func (c *Corpus) Jaccard(a, b int) float64 { return shingle.Jaccard(c.sets[a], c.sets[b]) }

// Band is a range of Jaccard similarities.
type Band int

const (
	Near    Band = iota // Jaccard similarity of at least 0.8
	Revised             // 0.5 to 0.8
	Heavy               // 0.2 to 0.5
	Low                 // below 0.2
)

var bandNames = []string{"near", "revised", "heavy", "low"}

func (b Band) String() string { return bandNames[b] }

func bandOf(j float64) Band {
	switch {
	case j >= 0.8:
		return Near
	case j >= 0.5:
		return Revised
	case j >= 0.2:
		return Heavy
	}
	return Low
}

// A Pair is a labelled pair of documents of a corpus.
type Pair struct {
	A, B    int // rows
	Kind    string
	Lang    string
	Jaccard float64
	Group   int // number of the group of connected pairs; see the package comment
}

// Pairs returns the pairs of the labels, without those that are [Unsure], and the labels with a document that the
// corpus lacks.
func (c *Corpus) Pairs(labels []Label) (pairs []Pair, missing []Label) {
	for _, l := range labels {
		if l.Kind == Unsure {
			continue
		}
		a, okA := c.rows[l.A]
		b, okB := c.rows[l.B]
		if !okA || !okB {
			missing = append(missing, l)
			continue
		}
		p := Pair{A: a, B: b, Kind: l.Kind, Lang: l.Lang, Jaccard: l.Jaccard}
		if math.IsNaN(p.Jaccard) {
			p.Jaccard = c.Jaccard(a, b)
		}
		pairs = append(pairs, p)
	}
	// Pairs with the label different, and pairs of a document that contains the other one, connect nothing. They get
	// the group of their first document.
	sets := cluster.NewUnionFind(make([]uint32, len(c.ids)))
	for _, p := range pairs {
		if p.Kind != Different && p.Kind != Contains {
			sets.Union(uint32(p.A), uint32(p.B))
		}
	}
	for i := range pairs {
		pairs[i].Group = int(sets.Find(uint32(pairs[i].A)))
	}
	return pairs, missing
}
