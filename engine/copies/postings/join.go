package postings

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"ndd/engine/parallel"
	"ndd/engine/storage/store"
)

// A Pair is two documents that are alike, A < B in order of [Builder.Add].
type Pair struct {
	A, B         uint32
	SizeA, SizeB int // signatures
	Shared       int
}

// A Match is a document that is similar to a set.
type Match struct {
	Doc          uint32 // in order of [Builder.Add]
	Size, Shared int    // signatures
}

func comparePairs(a, b Pair) int {
	return cmp.Compare(uint64(a.A)<<32|uint64(a.B), uint64(b.A)<<32|uint64(b.B))
}

// A Report says what a join did and what it left out.
type Report struct {
	Empty      int    // documents without signatures, which are in no pair
	Equal      int    // documents whose set another one had before
	Unlisted   int    // of these, those in groups of more than Options.MaxEqual: each is in one pair, with the first of its group
	Candidates uint64 // pairs that were verified, or summed
	Lookups    uint64 // of the doc-split: lists that documents were looked up in
	Postings   uint64 // of these: documents of lists that were read
	Pairs      int
	Slices     int // that the documents, or the signatures, were split in
	Traffic    Traffic

	// Common is how many signatures are in more than Options.MaxDocuments documents, and Frequent how many documents had such
	// signatures among their rarest: pairs of these may be missing that share none but such signatures.
	Common, Frequent int
}

// Traffic is what a cluster would send from one machine to another for the same join: what Zhang et al. count.
type Traffic struct {
	Sent, SentBytes       uint64 // records to the slices: documents, or postings
	Partial, PartialBytes uint64 // records from the slices: pairs, whole or partial
}

// Add adds other traffic.
func (t *Traffic) Add(other Traffic) {
	t.Sent += other.Sent
	t.SentBytes += other.SentBytes
	t.Partial += other.Partial
	t.PartialBytes += other.PartialBytes
}

// The bytes of a record: a document is its number and its signatures; a posting a signature, a document and its size;
// a pair two documents and what they share.
const (
	documentBytes  = 4
	signatureBytes = 8
	postingBytes   = signatureBytes + 8
	pairBytes      = 12
)

// Join returns all pairs of documents that are at least as similar as o says, ordered by A and B; of more equal documents
// than o.MaxEqual each with the first of them alone. The same sets and options give the same pairs whatever the split, the slices,
// the threads and the memory. It empties the Builder. The error is of ctx or of a temporary file, names the option that is out of
// range, or is [ErrTooMany].
func (b *Builder) Join(ctx context.Context, o Options) (_ []Pair, report Report, err error) {
	defer store.CatchFault(&err)()
	if err := o.complete(); err != nil {
		return nil, report, err
	}
	if err := b.seal(); err != nil {
		return nil, report, err
	}
	r, err := b.rank(ctx, o.Threads)
	if err != nil {
		return nil, report, err
	}
	report.Empty = r.empty
	split := b.splitDocuments
	if o.Split == Terms {
		split = b.splitTerms
	}
	pairs, err := split(ctx, &r, &o, &report)
	if err != nil {
		return nil, report, err
	}
	pairs = b.expand(r.equal, pairs, o.MaxEqual, &report)
	slices.SortFunc(pairs, comparePairs)
	report.Pairs = len(pairs)
	return pairs, report, b.Close()
}

// complete checks the options and puts the defaults in.
func (o *Options) complete() error {
	if err := o.Check(); err != nil {
		return err
	}
	o.MaxDocuments = cmp.Or(o.MaxDocuments, MaxDocuments)
	o.MaxEqual = cmp.Or(o.MaxEqual, MaxEqual)
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return nil
}

// splitDocuments makes an index of each slice of the documents, and every document that is no larger than the largest of the
// slice a query against it. Of each pair the document of lower rank is the query, so that each is found once.
func (b *Builder) splitDocuments(ctx context.Context, rs *ranking, o *Options, r *Report) (pairs []Pair, err error) {
	sizes := b.sizes(rs.docs)
	p, err := b.findPrefixes(ctx, rs, sizes, o, r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.pieces.close()) }()
	ends := p.slices(o)
	r.Slices = len(ends)
	progress := &progress{tell: o.Progress, total: uint64(len(ends)) * uint64(len(rs.docs))}
	from := 0
	for i, end := range ends {
		progress.set(uint64(i) * uint64(len(rs.docs)))
		if from == end {
			continue
		}
		j := joining{sets: b, docs: rs.docs, sizes: sizes, prefixes: p, o: o, report: r, progress: progress}
		if err := j.slice(ctx, span{from, end}); err != nil {
			return nil, err
		}
		pairs = append(pairs, j.pairs...)
		from = end
	}
	r.Traffic.Partial = uint64(len(pairs))
	r.Traffic.PartialBytes = pairBytes * uint64(len(pairs))
	return pairs, nil
}

// findPrefixes returns the postings that pairs are found by.
func (b *Builder) findPrefixes(ctx context.Context, rs *ranking, sizes []uint32, o *Options, r *Report) (_ *prefixes, err error) {
	s, err := b.shared(ctx, rs.docs, rs.partitions, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.ranks.close()) }()
	return b.prefixes(ctx, s, sizes, o, r)
}

// progress counts what is done of a join. Its methods may be called from many goroutines.
type progress struct {
	done  atomic.Uint64
	total uint64
	tell  func(done, total uint64) // nil: nobody asks
}

func (p *progress) set(done uint64) {
	p.done.Store(done)
	p.add(0)
}

func (p *progress) add(n uint64) {
	if done := p.done.Add(n); p.tell != nil {
		p.tell(min(done, p.total), p.total)
	}
}

// chunk is how many documents a goroutine takes at a time.
const chunk = 256

// A joining is a join of documents under way.
type joining struct {
	sets     *Builder
	docs     []uint32 // by rank
	sizes    []uint32 // of these
	prefixes *prefixes
	index    *slice
	o        *Options
	progress *progress

	mu     sync.Mutex // of what follows
	report *Report
	pairs  []Pair
}

// slice finds the pairs of all documents with those of a slice.
func (j *joining) slice(ctx context.Context, docs span) (err error) {
	if j.index, err = j.prefixes.newSlice(ctx, docs, j.sizes, j.o); err != nil {
		return err
	}
	for queries, err := range j.index.queries(ctx) {
		if err == nil {
			err = j.queries(ctx, queries)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// queries finds the pairs of some documents with those of the slice.
func (j *joining) queries(ctx context.Context, queries span) error {
	produce := func(_ context.Context, yield func(int) bool) error {
		for from := queries.from; from < queries.to && yield(from); from += chunk {
		}
		return nil
	}
	work := func(_ context.Context, froms iter.Seq[int]) (err error) {
		defer store.CatchFault(&err)()
		s := newSearch(j)
		for from := range froms {
			s.documents(span{from, min(from+chunk, queries.to)})
			j.progress.add(chunk)
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.pairs = append(j.pairs, s.pairs...)
		j.report.Candidates += s.verified
		j.report.Lookups += s.lookups
		j.report.Postings += s.postings
		j.report.Traffic.Add(s.sent)
		return nil
	}
	return parallel.Each(ctx, parallel.Options{Workers: j.o.Threads}, produce, work)
}

// ordered returns the pair with the lower document first.
func (p Pair) ordered() Pair {
	if p.A > p.B {
		return Pair{p.B, p.A, p.SizeB, p.SizeA, p.Shared}
	}
	return p
}
