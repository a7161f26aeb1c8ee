package eval

import (
	"cmp"
	"context"
	"math"
	"time"

	"ndd/engine/corpus/simhash"
)

// Options configures [Measure]. The zero value measures every band.
type Options struct {
	Threads  int     // default: one for each processor
	Truth    Truth   // of every pair with a Jaccard of at least 0.5; nil: the corpus's own Jaccard
	N        float64 // documents of the index for which unrelated hits are told; default 8e9
	AllBands bool    // count labels without regard to their band

	// Originals, unless 0, is how many documents were in the corpus before [Corpus.SyntheticLabels]
	// added copies: reported pairs are counted among these alone.
	Originals int

	// Progress, if not nil, is told the name of each method before it is measured.
	Progress func(method string)
}

// Measure returns what the methods find of labelled pairs, and what else they report. The error is
// of a recipe that is not valid, or of the context.
func Measure(ctx context.Context, c *Corpus, pairs []Pair, methods []Method, o Options) (*Result, error) {
	result := &Result{Documents: c.Len(), Pairs: len(pairs)}
	if o.Originals > 0 {
		result.Documents, result.Copies = o.Originals, c.Len()-o.Originals
	}
	for _, t := range c.texts {
		result.TextBytes += len(t)
	}
	if o.N == 0 {
		o.N = 8e9
	}
	for _, m := range methods {
		if o.Progress != nil {
			o.Progress(m.Name)
		}
		r, err := c.measure(ctx, pairs, m, o)
		if err != nil {
			return nil, err
		}
		result.Methods = append(result.Methods, *r)
	}
	return result, nil
}

// measure measures one method.
func (c *Corpus) measure(ctx context.Context, pairs []Pair, m Method, o Options) (*MethodResult, error) {
	began := time.Now()
	p, err := c.finder(ctx, m, o.Threads)
	if err != nil {
		return nil, err
	}
	r := &MethodResult{Name: m.Name, Verify: m.Verify, Seconds: time.Since(began).Seconds(),
		TooShort: c.Len() - len(rowsOf(p, c.Len()))}
	var expected []Curve
	if m.Signing != nil {
		r.Thresholds = Thresholds[:]
	} else {
		r.Recipe = m.Recipe.String()
		if expected, err = c.expected(ctx, pairs, m.Recipe, o.Threads); err != nil {
			return nil, err
		}
	}
	documents := cmp.Or(o.Originals, c.Len())
	all, err := findReported(ctx, c, p, documents, o.Truth)
	if err != nil {
		return nil, err
	}
	r.Recall = recall(pairs, p, m.Verify, !o.AllBands, expected)
	r.ByLabel = byLabel(pairs, p, m.Verify)
	r.Distances = distances(pairs, p)
	r.Precision = all.precision(c.Len(), m.Verify)
	r.Unrelated = all.unrelated(c, rowsOf(p, documents), m.Verify, o.N)
	r.Figure = all.figure()
	sum := 0
	for k, n := range all.counts {
		sum += n
		r.Candidates[k] = sum
	}
	return r, nil
}

// expected returns for each pair the chance that the sketch of a recipe finds it within each k; see
// the package comment. Pairs that are identical or different have none.
func (c *Corpus) expected(ctx context.Context, pairs []Pair, r simhash.Recipe, threads int) ([]Curve, error) {
	chances := make([]Curve, len(pairs))
	return chances, each(ctx, threads, len(pairs), func() (func(int), error) {
		f, err := simhash.New(r)
		var a, b []simhash.Feature
		return func(i int) {
			if p := &pairs[i]; !p.Identical && p.Kind != Different {
				a, b = f.AppendFeatures(a[:0], c.texts[p.A]), f.AppendFeatures(b[:0], c.texts[p.B])
				chances[i] = within(r.FlipRate(simhash.OverlapOf(a, b)))
			}
		}, err
	})
}

// within returns the chance that at most k of 64 bits differ, where each does with chance p.
func within(p float64) (c Curve) {
	chance := math.Pow(1-p, 64) // of none
	sum := 0.0
	for k := range c {
		sum += chance
		c[k] = min(sum, 1)
		chance *= p / (1 - p) * float64(64-k) / float64(k+1)
	}
	return c
}
