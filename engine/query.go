package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"ndd/asm"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
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
