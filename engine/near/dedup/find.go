package dedup

import (
	"context"
	"errors"

	"ndd/engine/near/cluster"
)

// Options configures what is a near-duplicate and how it is found. The policy of
// what to keep belongs to the corpus.
type Options struct {
	K       int  // largest Hamming distance
	Star    bool // members must be within K of what is kept, no chains
	Threads int  // goroutines; 0 or less: as many as there are processors

	// MaxLengthRatio, unless 0, is how many times as long as the other a text may be, of a document and the one that is kept
	// for it. Clusters are split so, as by Verify. The corpus must have the lengths of texts; Known has to compare them itself.
	MaxLengthRatio float64

	// Known, if not nil, is called once with all fingerprints, where documents have two with both of each, one after the other, and the lengths of their texts if these are known, and calls found for each row
	// that is near a document that is there already, ascending, with that document's ID.
	// These rows are dropped; the others are compared with each other.
	Known func(ctx context.Context, fingerprints []uint64, lengths []uint32, found func(row int, id string, distance int) error) error

	// KnownBytes is the most memory that Known takes for so many fingerprints; nil: none worth counting.
	KnownBytes func(documents int) uint64

	// Meter, if not nil, counts what has been compared.
	Meter *cluster.Meter

	// Verify, if not nil, compares the texts; the corpus must have been read
	// by [ReadDocuments], from files. A document that Known finds is compared with
	// the one that it names, and only with that.
	Verify *Verify
}

// ErrNoLengths is wrapped where lengths of texts are to be compared and fingerprints have none beside them.
var ErrNoLengths = errors.New("fingerprints without the lengths of their texts")

// Find returns the clusters of a corpus. The errors are those of what it reads, and of ctx.
func Find(ctx context.Context, c *Corpus, o Options) (*Result, error) {
	prefer, err := c.prefer()
	if err != nil {
		return nil, err
	}
	r := &Result{corpus: c, verified: o.Verify != nil}
	if o.Verify != nil {
		if err := c.readable(); err != nil {
			return nil, err
		}
		if o.Known != nil && len(o.Verify.Known) == 0 {
			return nil, errNoTexts
		}
	}
	if o.MaxLengthRatio != 0 && len(c.lengths) == 0 && c.Len() > 0 {
		return nil, ErrNoLengths
	}
	var rest []uint32 // the rows to compare; all of them if it is nil
	if o.Known != nil {
		if rest, err = r.findKnown(ctx, o.Known); err == nil && o.Verify != nil {
			rest, err = r.verifyKnown(ctx, o.Verify, o.Threads, rest)
		}
		if err != nil {
			return nil, err
		}
	}
	co := cluster.Options{K: o.K, Star: o.Star, Threads: o.Threads, Prefer: prefer, Meter: o.Meter}
	if rest != nil && prefer != nil {
		co.Prefer = func(a, b int) int { return prefer(int(rest[a]), int(rest[b])) }
	}
	if err := r.clusters(ctx, rest, co); err != nil {
		return nil, err
	}
	if o.Verify != nil || o.MaxLengthRatio != 0 || o.Star && len(c.second) > 0 {
		return r, r.split(ctx, o, prefer)
	}
	return r, nil
}

// findKnown calls known and returns the rows that it did not find.
func (r *Result) findKnown(ctx context.Context, known func(context.Context, []uint64, []uint32, func(int, string, int) error) error) (rest []uint32, err error) {
	next := 0
	upTo := func(row int) {
		for ; next < row; next++ {
			rest = append(rest, uint32(next))
		}
	}
	rest = make([]uint32, 0, len(r.corpus.prints))
	err = known(ctx, r.corpus.words(), r.corpus.lengths, func(row int, id string, distance int) error {
		upTo(row)
		next = row + 1
		r.Known = append(r.Known, Known{Row: uint32(row), ID: id, Distance: distance})
		return nil
	})
	upTo(len(r.corpus.prints))
	return rest, err
}

// clusters finds what is connected among some rows, all of them if rest is nil.
func (r *Result) clusters(ctx context.Context, rest []uint32, o cluster.Options) error {
	if len(r.corpus.second) > 0 {
		return r.clustersOfTwo(ctx, rest, o)
	}
	found, err := cluster.Find(ctx, rowsOf(r.corpus.prints, rest), o)
	if err != nil {
		return err
	}
	r.Distinct = found.Distinct
	r.adopt(found, rest)
	return nil
}

// rowsOf returns the fingerprints of some rows, all of them if rest is nil.
func rowsOf(prints []uint64, rest []uint32) []uint64 {
	if rest == nil {
		return prints
	}
	of := make([]uint64, len(rest))
	for i, row := range rest {
		of[i] = prints[row]
	}
	return of
}

// adopt copies the clusters, with the corpus's rows.
func (r *Result) adopt(found *cluster.Result, rest []uint32) {
	row := func(i uint32) uint32 {
		if rest != nil {
			return rest[i]
		}
		return i
	}
	r.rows = make([]uint32, 0, found.Rows())
	r.ends, r.kept = make([]uint32, 0, found.Len()), make([]uint32, 0, found.Len())
	for _, c := range found.Clusters() {
		for _, i := range c.Rows {
			r.rows = append(r.rows, row(i))
		}
		r.ends, r.kept = append(r.ends, uint32(len(r.rows))), append(r.kept, row(c.Representative))
	}
}
