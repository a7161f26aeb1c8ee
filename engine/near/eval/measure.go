package eval

import (
	"cmp"
	"context"
	"math"
)

// Options configures [Measure]. The zero value measures one key and every band.
type Options struct {
	Threads  int     // default: one for each processor
	Truth    Truth   // of every pair with a Jaccard of at least 0.5; nil: the corpus's own Jaccard
	Keys     int     // hash keys to measure the spread of recall over; 0 and 1 measure no spread
	N        float64 // documents of the index for which unrelated hits are told; default 8e9
	AllBands bool    // count labels without regard to their band

	// Originals, unless 0, is how many documents were in the corpus before [Corpus.SyntheticLabels]
	// added copies: what is reported is counted among these alone.
	Originals int

	// Progress, if not nil, is told the name of each method before it is measured.
	Progress func(method string)
}

// Measure returns what the methods find of labelled pairs, and what else they report. The error is of a
// recipe that is not valid, or of the context.
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
	p, took, err := c.finder(ctx, m, o.Threads)
	if err != nil {
		return nil, err
	}
	var expected []Curve
	if m.Signing == nil {
		if expected, err = c.expected(ctx, pairs, m.Recipe, o.Threads); err != nil {
			return nil, err
		}
	}
	documents := cmp.Or(o.Originals, c.Len())
	all, err := findReported(ctx, c, p.first(documents), o.Truth)
	if err != nil {
		return nil, err
	}
	r := &MethodResult{
		Name: m.Name, Recipe: recipeOf(m), Verify: m.Verify, Seconds: took.took.Seconds(), TooShort: took.none,
		Recall:    recall(pairs, p, m.Verify, !o.AllBands, expected),
		Precision: all.precision(c.Len(), m.Verify),
		Unrelated: all.unrelated(c, marked(p, documents), m.Verify, o.N),
		Figure:    all.figure(),
	}
	if m.Signing != nil {
		r.Thresholds = Thresholds[:]
	}
	sum := 0
	for k, n := range all.counts {
		sum += n
		r.Candidates[k] = sum
	}
	if o.Keys > 1 && m.Signing == nil {
		r.KeySpread, err = c.spread(ctx, pairs, m, o)
	}
	return r, err
}

// spread measures the recall of near pairs under several hash keys.
func (c *Corpus) spread(ctx context.Context, pairs []Pair, m Method, o Options) (*Spread, error) {
	var near []Pair
	for _, p := range pairs {
		if p.Kind != Different && bandOf(p.Jaccard) == Near {
			near = append(near, p)
		}
	}
	s := &Spread{Keys: o.Keys}
	for k := range s.Low {
		s.Low[k], s.High[k] = math.Inf(1), math.Inf(-1)
	}
	for i := range o.Keys {
		p, err := c.fingerprint(ctx, rekeyed(m.Recipe, i), o.Threads)
		if err != nil {
			return nil, err
		}
		t := newTally()
		for j := range near {
			t.add(near[j].Group, distance(p, &near[j], m.Verify))
		}
		_, perGroup := t.curves()
		for k, v := range perGroup {
			s.Low[k], s.High[k] = min(s.Low[k], v), max(s.High[k], v)
		}
	}
	return s, nil
}
