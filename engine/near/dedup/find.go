package dedup

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/storage/store"
)

// Options configures the search for near-duplicates. The policy that chooses the document to keep
// belongs to the corpus.
type Options struct {
	K       int  // largest Hamming distance
	Chains  bool // a cluster is all that near pairs connect; else each member is within K of what is kept
	Threads int  // goroutines; 0 or less: as many as there are processors
	Exact   bool // documents go for one with the same text alone; of a corpus that was read so, with K and Verify of 0

	// Known, if not nil, is called once with all fingerprints. It returns the rows near a document
	// that the caller has already, ascending. These are dropped; the others are compared with each
	// other.
	Known func(ctx context.Context, fingerprints []uint64) ([]Known, error)

	// KnownBytes returns the most memory that Known takes for a number of documents; nil is none.
	KnownBytes func(documents int) uint64

	// Meter, if not nil, counts comparisons.
	Meter *cluster.Meter

	// Verify, if not nil, compares the texts; the corpus must have been read
	// by [ReadDocuments], from files. A document that Known finds is compared with
	// the one that it names, and only with that.
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
	prefer, err := c.prefer()
	if err != nil {
		return nil, err
	}
	r := &Result{corpus: c, verified: o.Verify != nil || o.Exact}
	if o.Verify != nil {
		if o.Verify.Sets == nil && o.Verify.Members == nil {
			if err := c.from.readable(); err != nil {
				return nil, err
			}
		}
		if o.Known != nil && len(o.Verify.Known) == 0 {
			return nil, errNoTexts
		}
	}
	co := cluster.Options{K: o.K, Star: !o.Chains && o.Verify == nil, Threads: o.Threads, Meter: o.Meter}
	c.forClusters(&co)
	if err := r.findURLs(ctx, co, prefer); err != nil {
		return nil, err
	}
	all := c.all()
	var rest []Row // the rows to compare; all of them if it is nil
	if len(r.SameURL) > 0 {
		if rest, err = r.others(); err != nil {
			return nil, err
		}
	}
	if o.Known != nil {
		if r.Known, err = o.Known(ctx, all.Flat()); err != nil {
			return nil, err
		}
		r.Known = slices.DeleteFunc(r.Known, func(k Known) bool {
			_, gone := r.sameURL(k.Row)
			return gone || c.sources.safe.has(int(k.Row))
		})
		if rest, err = r.others(); err == nil && o.Verify != nil {
			rest, err = r.verifyKnown(ctx, o.Verify, o.Threads, rest)
		}
		if err != nil {
			return nil, err
		}
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
		found, err = c.clusters(ctx, all, rest, co, prefer)
		if safe := c.sources.safe; err == nil && o.Verify == nil && len(safe) > 0 {
			found.Delete(func(c cluster.Cluster, row Row) bool { return row != c.Representative && safe.has(int(row)) })
		}
		return found, err
	}
	if r.found, err = find(); err != nil {
		return nil, err
	}
	r.Distinct = r.found.Distinct
	if o.Verify != nil {
		err = r.verify(ctx, o, prefer, co.Room)
		r.settleURLs()
		return r, cmp.Or(err, c.Err())
	}
	co.Meter = nil
	for _, also := range o.Also {
		co.K = also.K
		other := &Result{Known: r.Known, SameURL: r.SameURL, corpus: c}
		if other.found, err = find(); err != nil {
			return nil, err
		}
		r.Also = append(r.Also, other)
	}
	if o.Exact {
		err = r.splitUnequal(prefer)
	}
	r.settleURLs()
	return r, cmp.Or(err, c.Err())
}

// clusters returns the clusters of some rows, all of them if rows is nil, by keys that they have: their
// fingerprints or others.
func (c *Corpus) clusters(ctx context.Context, keys cluster.Prints, rows []Row, co cluster.Options,
	prefer func(a, b int) int) (*cluster.Result, error) {
	safe := c.sources.safe
	co.Prefer = prefer
	if len(safe) > 0 {
		co.Always = func(row int) bool { return safe.has(row) }
	}
	if rows == nil {
		return cluster.Find(ctx, keys, co)
	}
	if prefer != nil {
		co.Prefer = func(a, b int) int { return prefer(int(rows[a]), int(rows[b])) }
	}
	if len(safe) > 0 {
		co.Always = func(row int) bool { return safe.has(int(rows[row])) }
	}
	found, err := cluster.Find(ctx, keys, co)
	if err == nil {
		found.Map(rows)
	}
	return found, err
}

// others returns the rows that are not known, and have no URL of another one, with room for all.
func (r *Result) others() (rest []Row, err error) {
	known, urls := r.Known, r.SameURL
	if rest = memory.In[Row](&r.corpus.results, r.corpus.Len(), &err)[:0]; err != nil {
		return nil, err
	}
	for row := range Row(r.corpus.Len()) {
		if len(known) > 0 && known[0].Row == row {
			known = known[1:]
			continue
		}
		if len(urls) > 0 && urls[0].Row == row {
			urls = urls[1:]
			continue
		}
		rest = append(rest, row)
	}
	return rest, nil
}
