package dedup

import (
	"context"
	"slices"

	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/storage/store"
)

// Options configures the search for near-duplicates. The policy that chooses the document to keep
// belongs to the corpus.
type Options struct {
	K      int  // largest Hamming distance
	Chains bool // a cluster is all that near pairs connect; else each member is within K of what is kept
	Exact  bool // documents go for one with the same text alone; of a corpus that was read so, with K and Verify of 0

	// Known, if not nil, is called once with all fingerprints. It returns the rows near a document
	// that the caller has already, ascending, each with the ID of that and its distance; with Verify
	// also several documents of a row, the nearest first. These rows are dropped; the others are
	// compared with each other.
	Known func(ctx context.Context, fingerprints []uint64) ([]Drop, error)

	// KnownBytes returns the most memory that Known takes for a number of documents; nil is none.
	KnownBytes func(documents int) uint64

	// Meter, if not nil, counts comparisons.
	Meter *cluster.Meter

	// Verify, if not nil, compares the texts; the corpus must have been read
	// by [ReadDocuments], from files. A document that Known finds is compared with
	// those that it names, until one is alike.
	Verify *Verify

	// Also has other settings, for [Result.Also].
	Also []Setting
}

// A Setting is a distance and a rule, with which other documents may go.
type Setting struct {
	K    int  // with texts at most that of the search, whose pairs are compared
	Rule Rule // where texts are compared
}

// Find returns the clusters of a corpus. The errors are those of what it reads, and of ctx.
func Find(ctx context.Context, c *Corpus, o Options) (_ *Result, err error) {
	defer store.CatchFault(&err)() // fingerprint files are mapped
	if err := o.check(c); err != nil {
		return nil, err
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	if c.reserved == nil { // documents were appended
		if err := c.reserve(c.Len()); err != nil {
			return nil, err
		}
	}
	prefer, err := c.prefer()
	if err != nil {
		return nil, err
	}
	r := &Result{corpus: c, verified: o.Verify != nil || o.Exact}
	co := cluster.Options{K: o.K, Star: !o.Chains && o.Verify == nil, Threads: c.o.Threads, Meter: o.Meter, Prefer: prefer}
	c.forClusters(&co)
	if r.SameURL, err = r.findEqual(ctx, co, c.urls.All, func(row int) bool { return c.urls.All[row] != [2]uint64{} }); err != nil {
		return nil, err
	}
	empty := ingest.HashOf("") // no text, and equal to none
	if r.SameText, err = r.findEqual(ctx, co, c.hashes.All, func(row int) bool {
		return c.short.has(row) && c.hashes.All[row] != empty
	}); err != nil {
		return nil, err
	}
	for i := range r.SameText {
		r.SameText[i].Likeness, r.SameText[i].Compared = same, true
	}
	if err := r.findKnown(ctx, o); err != nil {
		return nil, err
	}
	all := c.all()
	rest, err := r.rest() // the rows to compare; all of them if it is nil
	if err != nil {
		return nil, err
	}
	if rest != nil {
		prints := memory.In[uint64](&c.results, len(rest), &err)
		if err != nil {
			return nil, err
		}
		for i, row := range rest {
			prints[i] = all.At(row)
		}
		all = cluster.NewPrints(prints)
	}
	find := func() (found *cluster.Result, err error) {
		found, err = c.clusters(ctx, all, rest, co)
		if safe := c.sources.safe; err == nil && o.Verify == nil && len(safe) > 0 {
			found.Delete(func(c cluster.Cluster, row Row) bool { return row != c.Representative && safe.has(int(row)) })
		}
		return found, err
	}
	if r.found, err = find(); err != nil {
		return nil, err
	}
	switch {
	case o.Verify != nil:
		err = r.verify(ctx, o, prefer, co.Room)
	case o.Exact:
		err = r.settleEqual(ctx, o, prefer)
	default:
		co.Meter = nil
		for _, also := range o.Also {
			co.K = also.K
			other := &Result{Known: r.Known, SameURL: r.SameURL, SameText: r.SameText, corpus: c}
			if other.found, err = find(); err != nil {
				return nil, err
			}
			r.Also = append(r.Also, other)
		}
	}
	r.settleURLs()
	return r, err
}

// check returns why texts cannot be compared; nil if they can.
func (o *Options) check(c *Corpus) error {
	switch v := o.Verify; {
	case v == nil:
		return nil
	case o.Known != nil && len(v.Known) == 0:
		return errNoTexts
	case v.Sets == nil && v.Members == nil:
		return c.from.readable()
	}
	return nil
}

// clusters returns the clusters of some rows, all of them if rows is nil, by keys that they have: their
// fingerprints or others.
func (c *Corpus) clusters(ctx context.Context, keys cluster.Prints, rows []Row, co cluster.Options) (
	*cluster.Result, error) {
	number, prefer := func(i int) int { return i }, co.Prefer
	if rows != nil {
		number = func(i int) int { return int(rows[i]) }
		if prefer != nil {
			co.Prefer = func(a, b int) int { return prefer(number(a), number(b)) }
		}
	}
	if safe := c.sources.safe; len(safe) > 0 {
		co.Always = func(row int) bool { return safe.has(number(row)) }
	}
	found, err := cluster.Find(ctx, keys, co)
	if err == nil && rows != nil {
		found.Map(rows)
	}
	return found, err
}

// findKnown finds the rows that the caller has already, unless they are protected or have the URL of another one.
func (r *Result) findKnown(ctx context.Context, o Options) (err error) {
	if o.Known == nil {
		return nil
	}
	all := r.corpus.all()
	if r.Known, err = o.Known(ctx, all.Flat()); err != nil {
		return err
	}
	r.Known = slices.DeleteFunc(r.Known, func(k Drop) bool {
		_, gone := findDrop(r.SameURL, k.Row)
		return gone || r.corpus.sources.safe.has(int(k.Row)) || r.corpus.short.has(int(k.Row))
	})
	for i := range r.Known {
		r.Known[i].KeptRow, r.Known[i].Compared = -1, r.verified
	}
	if o.Verify != nil {
		return r.verifyKnown(ctx, o.Verify)
	}
	return nil
}

// rest returns the rows that are not known, have no URL of another one, and are not too short for a
// fingerprint; nil if that is all of them.
func (r *Result) rest() (rest []Row, err error) {
	gone := len(r.Known) + len(r.SameURL) + r.corpus.shorts
	if gone == 0 {
		return nil, nil
	}
	left := r.corpus.Len() - gone
	rest = memory.In[Row](&r.corpus.results, max(left, 1), &err)[:0] // none is not nil
	known, urls := r.Known, r.SameURL
	for row := range Row(r.corpus.Len()) {
		switch {
		case err != nil:
		case len(known) > 0 && known[0].Row == row:
			known = known[1:]
		case len(urls) > 0 && urls[0].Row == row:
			urls = urls[1:]
		case r.corpus.short.has(int(row)):
		default:
			rest = append(rest, row)
		}
	}
	return rest, err
}
