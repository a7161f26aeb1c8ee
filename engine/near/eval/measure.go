package eval

import (
	"cmp"
	"context"
	"time"
)

// Options configures [Measure]. The zero value measures labelled pairs by band.
type Options struct {
	Threads int // default: one for each processor

	// Originals, unless 0, is the number of documents before [Corpus.SyntheticLabels]
	// added copies. Then reported pairs are counted among these alone, and recall is not divided by band.
	Originals int

	// Progress, if not nil, gets the name of each method before its measurement.
	Progress func(method string)
}

// Measure measures recall on labelled pairs and precision of all reported pairs. It returns the error of an invalid
// recipe or of ctx.
func Measure(ctx context.Context, c *Corpus, pairs []Pair, methods []Method, o Options) (*Result, error) {
	result := &Result{Documents: c.Len(), Pairs: len(pairs)}
	if o.Originals > 0 {
		result.Documents, result.Copies = o.Originals, c.Len()-o.Originals
	}
	for _, t := range c.texts {
		result.TextBytes += len(t)
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

func (c *Corpus) measure(ctx context.Context, pairs []Pair, m Method, o Options) (*MethodResult, error) {
	began := time.Now()
	p, err := c.fingerprint(ctx, &m, o.Threads)
	if err != nil {
		return nil, err
	}
	r := &MethodResult{Name: m.Name, Recipe: m.Recipe.String(), Verify: m.Verify, Seconds: time.Since(began).Seconds(),
		TooShort: c.Len() - len(p.rows(c.Len()))}
	documents := cmp.Or(o.Originals, c.Len())
	all, err := findReported(ctx, c, p, documents)
	if err != nil {
		return nil, err
	}
	r.Recall = recall(pairs, p, o.Originals == 0)
	r.ByLabel = byLabel(pairs, p)
	r.Precision = all.precision()
	r.Figure = all.figure()
	sum := 0
	for k, n := range all.counts {
		sum += n
		r.Candidates[k] = sum
	}
	return r, nil
}
