package scan

import (
	"cmp"
	"context"
	"errors"
	"iter"
)

// Answer returns every hit of the queries against F, in order: row of Q, distance,
// fingerprint, row of F. open returns F from its beginning; it is called more than once where the
// queries do not fit in memory together. p is a plan of [NewPlan] for the same queries, k and options. After an
// error, which may be that of ctx, there is nothing more.
func Answer(ctx context.Context, open func() (Source, error), queries []uint64, k int, p Plan, o Options) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		stopped := errors.New("stopped")
		err := inParts(open, queries, k, p, o, func(t *tables, f Source, o Options) error {
			hits, err := t.scanHits(ctx, f, o)
			if err != nil {
				return err
			}
			defer hits.Close()
			for h, err := range hits.All(ctx) {
				if err != nil {
					return err
				}
				if !yield(h, nil) {
					return stopped
				}
			}
			return hits.Close()
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(Hit{}, err)
		}
	}
}

// inParts calls part with tables of as many of the queries as fit, and F from its beginning, until
// all are done.
func inParts(open func() (Source, error), queries []uint64, k int, p Plan, o Options, part func(*tables, Source, Options) error) error {
	o.Threads = cmp.Or(p.Threads, o.Threads)
	o.setDefaults()
	reserved, err := o.Budget.Reserve(p.task(), p.Bytes())
	if err != nil {
		return err
	}
	defer reserved.Release()
	o.hitBytes = p.Hits
	for first := 0; first < len(queries); first += p.Queries {
		o.First = uint64(first)
		if err := onePart(open, queries[first:min(first+p.Queries, len(queries))], k, p, o, part); err != nil {
			return err
		}
	}
	return nil
}

// onePart calls part with tables of the queries, and F from its beginning.
func onePart(open func() (Source, error), queries []uint64, k int, p Plan, o Options, part func(*tables, Source, Options) error) error {
	t, err := newTables(queries, buildOptions{K: k, Threads: o.Threads, Fingerprints: o.Fingerprints, NoPrefilter: p.NoPrefilter})
	if err != nil {
		return err
	}
	defer t.Close()
	f, err := open()
	if err != nil {
		return err
	}
	return part(t, f, o)
}
