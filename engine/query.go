package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"ndd/asm"
	"ndd/engine/segment"
	"ndd/engine/simhash"
)

// A Hit is a stored fingerprint within the distance asked for.
type Hit struct {
	Fingerprint simhash.Fingerprint
	Distance    int     // from the query, in bits
	Documents   uint64  // how many have this fingerprint; 0 where they were not asked for
	Docs        []DocID // the first of them, ascending, as many as were asked for
}

// AllDocs asks for every document of a hit. An empty page's fingerprint may
// have millions.
const AllDocs = math.MaxInt

// BatchOptions say what a batch is asked for.
type BatchOptions struct {
	K       int    // largest distance, at most the index's
	Docs    int    // how many documents of each hit to look up; see AllDocs
	Threads int    // default: as many as there are processors
	Memory  uint64 // bytes for the matches of a sweep; default: 1 GiB
}

// BatchSpace is what a batch takes, in bytes, at most, beside the index, the
// queries, and the documents of the hits of 1,024 queries a goroutine.
type BatchSpace struct {
	Orders  uint64 // the queries in the order of a table that is swept
	Matches uint64 // of a sweep; where there are more, fewer queries are swept at a time
	Answers uint64 // on their way, and what goroutines work in
}

// Total is the whole.
func (s BatchSpace) Total() uint64 { return s.Orders + s.Matches + s.Answers }

// BatchSpace says what Batch takes for so many queries.
func (x *Index) BatchSpace(queries int, o BatchOptions) BatchSpace {
	threads := min(cmp.Or(max(o.Threads, 0), runtime.GOMAXPROCS(0)), chunksOf(queries))
	s := BatchSpace{Answers: uint64(threads+1) * answersBytes}
	place := x.place()
	v, err := x.hold(place)
	if err != nil {
		return s // of an index that is closed
	}
	defer x.release(v, place)
	for _, g := range v.segments {
		if n := min(queries, sweepQueries); g.Sweeps(n) {
			s.Orders = uint64(n) * orderBytes
			s.Matches = cmp.Or(o.Memory, sweepMemory)
		}
	}
	return s
}

// FitBatch is o with what takes memory lowered, as far as that goes, until the batch fits in limit
// bytes: fewer goroutines, and fewer matches at a time where o.Memory is 0.
func (x *Index) FitBatch(queries int, o BatchOptions, limit uint64) BatchOptions {
	o.Threads = cmp.Or(max(o.Threads, 0), runtime.GOMAXPROCS(0))
	if o.Memory == 0 {
		o.Memory = min(max(limit/4, sweepMemoryLeast), sweepMemory)
	}
	for o.Threads > 1 && x.BatchSpace(queries, o).Total() > limit {
		o.Threads--
	}
	return o
}

// chunkQueries is how many queries a goroutine answers together: enough to
// share the misses of a table among their probes, few enough for results to
// flow.
const chunkQueries = 256

func chunksOf(queries int) int { return (queries + chunkQueries - 1) / chunkQueries }

// Query finds everything within distance k of q, nearest first, equal
// distances by fingerprint, each with the first docs of its documents.
func (x *Index) Query(q simhash.Fingerprint, k, docs int) ([]Hit, error) {
	if err := x.checkK(k); err != nil {
		return nil, err
	}
	c := x.scratch.Get().(*scratch)
	defer x.scratch.Put(c)
	v, err := x.hold(c.place)
	if err != nil {
		return nil, err
	}
	defer x.release(v, c.place)
	r, err := c.search(v, []uint64{uint64(q)}, BatchOptions{K: k, Docs: docs}, swept{})
	if err != nil {
		return nil, err
	}
	return r.hits, nil
}

// Batch answers queries in parallel and calls emit once for each that has
// hits, in order of the queries, from one goroutine at a time. An error of
// emit, or of ctx, ends it.
//
// Of 8,192 queries or more, segments are swept in order (see
// segment.Segment.Sweep), 4 million queries at a time, or fewer, so that their
// matches fit in o.Memory. Smaller batches are answered in chunks of 256, and
// memory is bounded by the hits of 4 * Threads * 256 queries.
func (x *Index) Batch(ctx context.Context, queries []uint64, o BatchOptions, emit func(query int, hits []Hit) error) error {
	if err := x.checkK(o.K); err != nil {
		return err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	place := x.place()
	v, err := x.hold(place) // one version for all queries
	if err != nil {
		return err
	}
	defer x.release(v, place)
	b := &batch{index: x, version: v, o: o, emit: emit, askers: x.askers(o.Threads)}
	for first := 0; first < len(queries); first += sweepQueries {
		if err := b.run(ctx, first, queries[first:min(first+sweepQueries, len(queries))]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

const (
	sweepQueries = 4 << 20
	sweepMemory  = 1 << 30

	sweepMemoryLeast = 32 << 20

	// Twice what is in use, as the collector lets the heap grow to that.
	orderBytes   = 2 * 40 // a query
	matchBytes   = 2 * 32 // a match, while the list of them grows, and while they are put in order
	answersBytes = 32 << 20
)

// An Answer is what one query found.
type Answer struct {
	Query int // its number
	Hits  []Hit
}

// Answers is Batch as an iterator. After an error there is nothing more.
func (x *Index) Answers(ctx context.Context, queries []uint64, o BatchOptions) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		stopped := errors.New("stopped")
		err := x.Batch(ctx, queries, o, func(query int, hits []Hit) error {
			if !yield(Answer{query, hits}, nil) {
				return stopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(Answer{}, err)
		}
	}
}

// Walk calls yield with all distinct fingerprints of the index, some at a time, until
// it returns false or ctx ends; one that was inserted again may come again.
func (x *Index) Walk(ctx context.Context, yield func([]uint64) bool) error {
	place := x.place()
	v, err := x.hold(place)
	if err != nil {
		return err
	}
	defer x.release(v, place)
	going := true
	for i, s := range v.segments {
		if s.Fingerprints() == 0 {
			continue
		}
		err := s.Walk(func(prints []uint64) bool {
			going = ctx.Err() == nil && yield(prints)
			return going
		})
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		if !going {
			return ctx.Err()
		}
	}
	for _, b := range v.buffers {
		if prints := b.fingerprints[:b.len()]; len(prints) > 0 && !yield(prints) {
			break
		}
	}
	return ctx.Err()
}

// batch is one call of Batch.
type batch struct {
	index   *Index
	version *version
	o       BatchOptions
	askers  int // goroutines who ask for chunks
	emit    func(query int, hits []Hit) error
}

// run answers the queries, of which the first is number first of all.
func (b *batch) run(ctx context.Context, first int, queries []uint64) error {
	swept, err := b.sweep(ctx, queries)
	if errors.Is(err, segment.ErrTooMany) {
		// Half as many queries have about half as many matches.
		half := len(queries) / 2
		if err := b.run(ctx, first, queries[:half]); err != nil {
			return err
		}
		return b.run(ctx, first+half, queries[half:])
	}
	if err != nil {
		return err
	}
	chunks := chunksOf(len(queries))

	// Each chunk has a channel for its answer; the queue of them, in order,
	// is what bounds how far the workers run ahead of emit.
	type job struct {
		first, end int
		answer     chan *answer
	}
	group, ctx := errgroup.WithContext(ctx)
	jobs := make(chan job)
	ordered := make(chan job, 4*b.askers)
	group.Go(func() error {
		defer close(jobs)
		defer close(ordered)
		for i := range chunks {
			j := job{i * chunkQueries, min((i+1)*chunkQueries, len(queries)), make(chan *answer, 1)}
			for _, to := range []chan job{ordered, jobs} {
				select {
				case to <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range min(b.askers, chunks) {
		group.Go(func() error {
			c := b.index.scratch.Get().(*scratch)
			defer b.index.scratch.Put(c)
			for j := range jobs {
				a, err := c.search(b.version, queries[j.first:j.end], b.o, swept.from(j.first))
				if err != nil {
					return err
				}
				j.answer <- a
			}
			return nil
		})
	}
	group.Go(func() error {
		for j := range ordered {
			select {
			case a := <-j.answer:
				if err := a.each(first+j.first, b.emit); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// swept is what sweeps found: by segment, nil where it is to be searched.
type swept struct {
	found []*segment.Found
	first int // query of the chunk
}

func (s swept) from(first int) swept { return swept{s.found, first} }

// of is what the sweep of a segment found, nil when there was none.
func (s swept) of(segment int) *segment.Found {
	if s.found == nil {
		return nil
	}
	return s.found[segment]
}

// sweep sweeps the segments for which that is faster. The error may be
// [segment.ErrTooMany].
func (b *batch) sweep(ctx context.Context, queries []uint64) (swept, error) {
	s := swept{found: make([]*segment.Found, len(b.version.segments))}
	left := int(min(cmp.Or(b.o.Memory, sweepMemory)/matchBytes, math.MaxInt))
	for i, g := range b.version.segments {
		if !g.Sweeps(len(queries)) {
			continue
		}
		f, err := g.sweep(ctx, queries, b.o.K, b.o.Threads, left)
		if err != nil {
			return s, fmt.Errorf("segment %d: %w", i, err)
		}
		s.found[i] = f
		left -= f.Len()
	}
	return s, nil
}

func (x *Index) checkK(k int) error {
	if k < 0 || k > x.design.K {
		return fmt.Errorf("k = %d, but the index was built for k up to %d: ask for less, or build it with -k %d", k, x.design.K, max(k, 0))
	}
	return nil
}

// scratch is what one goroutine needs for searching.
type scratch struct {
	place   uint32 // where it counts as a reader of a version
	segment segment.Scratch
	matches []segment.Match
	raw     []rawHit
	asking  asking
	found   []uint32
	rows    []uint64
	prints  []uint64 // of hits, whose documents are looked for
}

// rawHit is a hit as a segment or a buffer reports it.
type rawHit struct {
	query       int
	distance    int
	fingerprint uint64
	source      int   // segment, or -1
	doc         DocID // of a buffer
}

// answer holds the hits of some queries, one after the other.
type answer struct {
	hits    []Hit
	queries []int // of hits, ascending
}

func (a *answer) each(first int, emit func(int, []Hit) error) error {
	for i := 0; i < len(a.hits); {
		j := i + 1
		for j < len(a.hits) && a.queries[j] == a.queries[i] {
			j++
		}
		if err := emit(first+a.queries[i], a.hits[i:j:j]); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// search answers queries, with what sweeps have found for them already.
func (c *scratch) search(v *version, queries []uint64, o BatchOptions, done swept) (*answer, error) {
	if err := c.find(v, queries, o.K, done); err != nil {
		return nil, err
	}
	slices.SortFunc(c.raw, func(a, b rawHit) int {
		return cmp.Or(cmp.Compare(a.query, b.query), cmp.Compare(a.distance, b.distance),
			cmp.Compare(a.fingerprint, b.fingerprint), cmp.Compare(uint(a.source), uint(b.source)), cmp.Compare(a.doc, b.doc))
	})
	a := new(answer)
	var docs []DocID
	for i, r := range c.raw {
		if i%docsAhead == 0 && o.Docs > 0 {
			if err := c.askDocs(v, c.raw[i:min(i+docsAhead, len(c.raw))]); err != nil {
				return nil, err
			}
		}
		if i == 0 || r.query != c.raw[i-1].query || r.fingerprint != c.raw[i-1].fingerprint {
			a.hits = append(a.hits, Hit{Fingerprint: simhash.Fingerprint(r.fingerprint), Distance: r.distance})
			a.queries = append(a.queries, r.query)
			docs = docs[len(docs):]
		}
		if o.Docs <= 0 {
			continue
		}
		h := &a.hits[len(a.hits)-1]
		if r.source < 0 {
			h.Documents++
			if len(docs) < o.Docs {
				docs = append(docs, r.doc)
			}
		} else {
			s := v.segments[r.source]
			var total uint64
			var err error
			if c.rows, total, err = s.Docs(c.rows[:0], r.fingerprint, o.Docs-len(docs), &c.segment); err != nil {
				return nil, fmt.Errorf("segment %d: %w", r.source, err)
			}
			h.Documents += total
			for _, row := range c.rows {
				docs = append(docs, s.first+DocID(row))
			}
		}
		h.Docs = docs[:len(docs):len(docs)]
	}
	return a, nil
}

// docsAhead is how many hits memory is asked for the documents of together: what they read
// is 60 KB; docsLeast are worth asking.
const (
	docsAhead = 128
	docsLeast = 8
)

// askDocs asks memory for the documents of hits.
func (c *scratch) askDocs(v *version, hits []rawHit) error {
	if len(hits) < docsLeast {
		return nil
	}
	for i, s := range v.segments {
		c.prints = c.prints[:0]
		for _, h := range hits {
			if h.source == i {
				c.prints = append(c.prints, h.fingerprint)
			}
		}
		if len(c.prints) < docsLeast {
			continue
		}
		if err := s.AskDocs(c.prints, &c.segment); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	return nil
}

// find sets c.raw to what segments and buffers have: the workers of some
// segments look at the same time as the caller looks at the rest.
func (c *scratch) find(v *version, queries []uint64, k int, done swept) error {
	c.raw = c.raw[:0]
	c.asking.ask(v, queries, k, done)
	err := c.findOwn(v, queries, k, done)
	waited := c.asking.wait(func(segment int, m segment.Match) { c.match(segment, queries, m) })
	return cmp.Or(err, waited)
}

// findOwn looks where there are no workers.
func (c *scratch) findOwn(v *version, queries []uint64, k int, done swept) error {
	for i, s := range v.segments {
		if f := done.of(i); f != nil {
			for j, q := range queries {
				for _, x := range f.Of(done.first + j) {
					c.raw = append(c.raw, rawHit{j, bits.OnesCount64(x ^ q), x, i, 0})
				}
			}
			continue
		}
		if s.workers != nil {
			continue
		}
		var err error
		if c.matches, err = s.Search(c.matches[:0], queries, k, &c.segment); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		for _, m := range c.matches {
			c.match(i, queries, m)
		}
	}
	for _, b := range v.buffers {
		c.scan(b, queries, k)
	}
	return nil
}

func (c *scratch) match(segment int, queries []uint64, m segment.Match) {
	d := bits.OnesCount64(m.Fingerprint ^ queries[m.Query])
	c.raw = append(c.raw, rawHit{m.Query, d, m.Fingerprint, segment, 0})
}

// scan compares the queries with all of a buffer.
func (c *scratch) scan(b *buffer, queries []uint64, k int) {
	if c.found == nil {
		c.found = make([]uint32, 1024)
	}
	prints := b.fingerprints[:b.len()]
	for q, query := range queries {
		for at := 0; at < len(prints); {
			n, done := asm.Within64(c.found, prints[at:], query, k)
			for _, i := range c.found[:n] {
				f := prints[at+int(i)]
				c.raw = append(c.raw, rawHit{q, bits.OnesCount64(f ^ query), f, -1, b.first + DocID(at) + DocID(i)})
			}
			at += done
		}
	}
}
