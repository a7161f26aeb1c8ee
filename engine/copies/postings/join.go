package postings

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"ndd/asm"
	"ndd/engine/parallel"
	"ndd/engine/storage/store"
)

// A Pair is two documents that are alike, A < B in order of [Builder.Add].
type Pair struct {
	A, B         uint32
	SizeA, SizeB int // signatures
	Shared       int
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
	frequent, err := b.frequent(ctx, r.docs, &o, &report)
	if err != nil {
		return nil, report, err
	}
	split := b.splitDocuments
	if o.Split == Terms {
		split = b.splitTerms
	}
	pairs, err := split(ctx, r.docs, frequent, &o, &report)
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

// The memory of a signature while it is sorted, of one that several documents have while an index of all of them is made, and of one
// while a slice that has it is joined.
const (
	sortedBytes = 32
	wholeBytes  = 16
	sliceBytes  = 64
)

// slices returns the ends of the slices of documents: as many as were asked for, or as many as memory needs, of about the
// same number of signatures each that others may have.
func (b *Builder) slices(docs []uint32, repeated *repeated, o *Options) (ends []int) {
	sums := make([]uint64, len(docs))
	total := uint64(0)
	for i, d := range docs {
		total += repeated.count(d)
		sums[i] = total
	}
	n := uint64(o.Slices)
	if n == 0 {
		n = 1
		if o.MemoryBytes > 0 {
			n += total * sliceBytes / o.MemoryBytes
		}
	}
	n = max(min(n, uint64(len(docs))), 1)
	for i := range docs {
		if sums[i] >= total*uint64(len(ends)+1)/n && len(ends) < int(n)-1 {
			ends = append(ends, i+1)
		}
	}
	return append(ends, len(docs))
}

// splitDocuments makes an index of each slice of the documents, and every document that is no larger than the largest of the
// slice a query against it. Of each pair the document of lower rank is the query, so that each is found once. Where all documents are one
// slice they are the queries, too, and nothing is looked up.
func (b *Builder) splitDocuments(ctx context.Context, docs []uint32, frequent []uint64, o *Options, r *Report) (pairs []Pair, err error) {
	s := slicing{docs: docs, frequent: frequent, threads: o.Threads, memory: o.MemoryBytes}
	pairs, err = b.whole(ctx, s, o, r)
	if errors.Is(err, errRoom) {
		pairs, err = b.sliced(ctx, s, o, r)
	}
	r.Traffic.Partial = uint64(len(pairs))
	r.Traffic.PartialBytes = pairBytes * uint64(len(pairs))
	return pairs, err
}

// whole joins all documents as one slice, or returns errRoom where memory is too little for that, or several slices are asked for.
func (b *Builder) whole(ctx context.Context, s slicing, o *Options, r *Report) ([]Pair, error) {
	if o.Slices > 1 {
		return nil, errRoom
	}
	if o.Slices == 0 && o.MemoryBytes > 0 {
		s.most = max((o.MemoryBytes-o.MemoryBytes/scatterShare)/wholeBytes, 1)
	}
	x, err := b.index(ctx, s)
	if err != nil {
		return nil, err
	}
	r.Slices = 1
	return b.joinSlice(ctx, s.docs, 0, x, nil, o, r, &progress{tell: o.Progress, total: uint64(len(s.docs))})
}

// sliced joins slice by slice.
func (b *Builder) sliced(ctx context.Context, s slicing, o *Options, r *Report) (pairs []Pair, err error) {
	docs := s.docs
	if s.repeated, err = b.repeated(docs); err != nil {
		return nil, err
	}
	ends := b.slices(docs, s.repeated, o)
	r.Slices = len(ends)
	s.single = true
	from := 0
	progress := &progress{tell: o.Progress, total: uint64(len(ends)) * uint64(len(docs))}
	for i, end := range ends {
		progress.set(uint64(i) * uint64(len(docs)))
		if from == end {
			continue
		}
		s.docs = docs[from:end]
		x, err := b.index(ctx, s)
		if err != nil {
			return nil, err
		}
		first := sort.Search(from, func(i int) bool { return o.largest(b.size(docs[i])) >= b.size(docs[from]) })
		found, err := b.joinSlice(ctx, docs[first:end], from-first, x, s.repeated, o, r, progress)
		x.numbers.free()
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, found...)
		from = end
	}
	return pairs, nil
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

// joinSlice finds the pairs of queries with the documents of an index, which are those from the own-th query on.
func (b *Builder) joinSlice(ctx context.Context, queries []uint32, own int, x *Index, repeated *repeated, o *Options, r *Report, p *progress) (pairs []Pair, err error) {
	var mu sync.Mutex
	produce := func(_ context.Context, yield func(int) bool) error {
		for from := 0; from < len(queries) && yield(from); from += chunk {
		}
		return nil
	}
	work := func(_ context.Context, froms iter.Seq[int]) (err error) {
		defer store.CatchFault(&err)()
		j := &join{search: newSearch(x, o), sets: b, repeated: repeated, own: own}
		for from := range froms {
			for i := from; i < min(from+chunk, len(queries)); i++ {
				j.document(i, queries[i])
			}
			p.add(chunk)
		}
		mu.Lock()
		defer mu.Unlock()
		pairs = append(pairs, j.pairs...)
		r.Candidates += j.verified
		r.Lookups += j.lookups
		r.Postings += j.postings
		r.Traffic.Add(j.sent)
		return nil
	}
	err = parallel.Each(ctx, parallel.Options{Workers: o.Threads}, produce, work)
	return pairs, err
}

// join is what one goroutine does of a slice.
type join struct {
	search
	sets     *Builder
	repeated *repeated
	kept     []uint64 // of a query
	own      int      // the first query that is in the slice
	pairs    []Pair
	sent     Traffic
}

// document finds what is at least as large as a query and similar to it.
func (j *join) document(query int, doc uint32) {
	size := 0
	if rank := query - j.own; rank >= 0 {
		size = int(j.index.sizes[rank])
		j.numbers = append(j.numbers[:0], j.index.sets.at(rank)...)
	} else {
		size = j.sets.size(doc)
		j.kept = j.repeated.keep(j.kept[:0], doc, j.sets.set(doc))
		j.look(j.kept)
	}
	j.prefetch(query - j.own)
	from := max(query-j.own+1, 0)
	j.sent.Sent++
	j.sent.SentBytes += documentBytes + signatureBytes*uint64(size)
	j.candidates(from, size, rarest(j.numbers, j.boundsOf(size).least), func(rank, shared int) {
		j.pairs = append(j.pairs, Pair{doc, j.index.docs[rank], size, int(j.index.sizes[rank]), shared}.ordered())
	})
}

// prefetch requests what documents of the index will read that are queries soon: where the lists of their rarest signatures are, and,
// when that is there, their entries.
func (j *join) prefetch(rank int) {
	const ahead = 6
	x := j.index
	if next := rank + 2*ahead; next >= 0 && next < len(x.docs) {
		j.places = j.places[:0]
		for _, number := range j.rarestOf(next) {
			j.places = append(j.places, uint64(number))
		}
		asm.PrefetchAt(x.lists.ends, j.places)
	}
	if next := rank + ahead; next >= 0 && next < len(x.docs) {
		j.listsOf(j.rarestOf(next))
	}
}

// rarestOf returns the numbers by which a document of the index finds others.
func (j *join) rarestOf(rank int) []uint32 {
	return rarest(j.index.sets.at(rank), j.boundsOf(int(j.index.sizes[rank])).least)
}

// ordered returns the pair with the lower document first.
func (p Pair) ordered() Pair {
	if p.A > p.B {
		return Pair{p.B, p.A, p.SizeB, p.SizeA, p.Shared}
	}
	return p
}
