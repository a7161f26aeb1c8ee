package live

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
)

// A Hit is a stored fingerprint within the distance that was asked for.
type Hit struct {
	Fingerprint simhash.Fingerprint
	Distance    int     // from the query, in bits
	Documents   uint64  // how many have this fingerprint; 0 where they were not asked for
	Docs        []DocID // the first of them, ascending, as many as were asked for
}

// AllDocs asks for every document of a hit. An empty page's fingerprint may have millions.
const AllDocs = math.MaxInt

// A Match is a fingerprint that a segment or a memtable has within the distance asked for.
type Match struct {
	query       int
	distance    int
	fingerprint uint64
	source      int   // number of the segment, or inMemtable
	doc         DocID // of a memtable's match
}

// inMemtable is the source of a match that is a document, not a fingerprint of a segment. It sorts
// last, as memtables are behind the segments.
const inMemtable = math.MaxInt

func compareMatches(a, b Match) int {
	return cmp.Or(cmp.Compare(a.query, b.query), cmp.Compare(a.distance, b.distance),
		cmp.Compare(a.fingerprint, b.fingerprint), cmp.Compare(a.source, b.source), cmp.Compare(a.doc, b.doc))
}

// A Searcher is what one goroutine needs for searching. [Index.Searcher] gives one out.
type Searcher struct {
	index      *Index
	slot       uint32
	segment    segment.Scratch
	found      []segment.Match
	matches    []Match
	submission submission
	positions  []uint32
	rows       []uint64
	prints     []uint64 // of matches whose documents are looked for
	query      [1]uint64
	queries    []uint64
	lookup     lookup // of IDs
	added      uint64 // the index's, when near was called
	lengths    Lengths
	textBytes  []uint32 // room
}

// Searcher returns a searcher of the index, to be given back by [Searcher.Done].
func (x *Index) Searcher() *Searcher { return x.searchers.Get().(*Searcher) }

// Until lets searches end with the error of ctx once that is done, but for those of workers.
func (c *Searcher) Until(ctx context.Context) { c.segment.Until(ctx) }

// Done gives the searcher back.
func (c *Searcher) Done() {
	c.segment.Until(context.Background())
	c.lengths = Lengths{}
	c.index.searchers.Put(c)
}

// Answers holds the hits of some queries, one query's after the other's.
type Answers struct {
	Hits    []Hit
	queries []int // of hits, ascending
}

// Each calls emit with the number of each query that has hits, counted from first, and its hits.
func (a *Answers) Each(first int, emit func(query int, hits []Hit) error) error {
	for i := 0; i < len(a.Hits); {
		j := i + 1
		for j < len(a.Hits) && a.queries[j] == a.queries[i] {
			j++
		}
		if err := emit(first+a.queries[i], a.Hits[i:j:j]); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// Query returns what the index has within distance k of q, nearest first, equal distances by
// fingerprint, each with the first docs of its documents. textBytes is the length of the query's text, 0 where it is not known:
// then no document is left out for its length.
func (c *Searcher) Query(q simhash.Fingerprint, textBytes uint32, k, docs int) ([]Hit, error) {
	w, err := c.index.view(c.slot)
	if err != nil {
		return nil, err
	}
	defer w.Release()
	c.query[0] = uint64(q)
	var of [1]uint32
	of[0] = textBytes
	a, err := c.Search(w, c.query[:], k, docs, Swept{}, Lengths{c.index.config.MaxLengthRatio, of[:]})
	return a.Hits, err
}

// Search answers queries from a view, with what sweeps have found for them already, and without what lengths leave out.
func (c *Searcher) Search(w View, queries []uint64, k, docs int, swept Swept, lengths Lengths) (Answers, error) {
	c.lengths = lengths
	if err := c.find(w, queries, k, swept); err != nil {
		return Answers{}, err
	}
	return c.hits(w, c.matches, docs)
}

// hits sorts matches and puts those of one fingerprint together, with its documents.
func (c *Searcher) hits(w View, matches []Match, most int) (a Answers, err error) {
	slices.SortFunc(matches, compareMatches)
	var docs []DocID
	for i, m := range matches {
		if i%prefetchDocs == 0 && most > 0 {
			if err := c.prefetchDocs(w.version, matches[i:min(i+prefetchDocs, len(matches))]); err != nil {
				return a, err
			}
		}
		if i == 0 || m.query != matches[i-1].query || m.fingerprint != matches[i-1].fingerprint {
			a.Hits = append(a.Hits, Hit{Fingerprint: simhash.Fingerprint(m.fingerprint), Distance: m.distance})
			a.queries = append(a.queries, m.query)
			docs = docs[len(docs):]
		}
		if most <= 0 {
			continue
		}
		total := uint64(1)
		if m.source != inMemtable {
			if docs, total, err = c.docs(w, docs, m, most-len(docs)); err != nil {
				return a, err
			}
		} else if len(docs) < most {
			docs = append(docs, m.doc)
		}
		h := &a.Hits[len(a.Hits)-1]
		h.Documents += total
		h.Docs = docs[:len(docs):len(docs)]
	}
	return a, nil
}

// ID returns the ID of a document of a view, empty where it has none.
func (c *Searcher) ID(w View, doc DocID) (id string, err error) {
	defer store.CatchFault(&err)()
	if s := w.version.segmentOf(doc); s != nil {
		row, ok := s.numbers.row(doc)
		if !ok || s.Segment.IDs() == nil {
			return "", nil
		}
		return c.lookup.of(w.version, s, row)
	}
	for _, m := range w.version.memtables {
		if doc >= m.first && doc < m.end() && m.ids != nil {
			return m.ids[doc-m.first], nil
		}
	}
	return "", nil
}

// docs appends the first most documents of a match in a segment; total is how many there are. Where
// documents of the segment are deleted or have expired, or lengths are compared, all of the fingerprint's are read, however few are asked for.
func (c *Searcher) docs(w View, dst []DocID, m Match, most int) (_ []DocID, total uint64, err error) {
	s := w.version.segments[m.source]
	hides, lengths := s.mayHide(w.now), s.Lengths()
	if !c.lengths.filters() {
		lengths = nil
	}
	read := most
	if hides || lengths != nil {
		read = AllDocs
	}
	if c.rows, total, err = s.Docs(c.rows[:0], m.fingerprint, read, &c.segment); err != nil {
		return dst, 0, fmt.Errorf("segment %d: %w", m.source, err)
	}
	begin := len(dst)
	for _, row := range c.rows {
		doc := s.numbers.doc(row)
		if hides && s.hides(row, doc, w.clock, w.now) || lengths != nil && !c.lengths.take(m.query, lengths[row]) {
			total--
		} else if len(dst)-begin < most {
			dst = append(dst, doc)
		}
	}
	return dst, total, nil
}

// The documents of prefetchDocs matches are prefetched together: what they read is 60 KB. Fewer
// than prefetchLeast are not worth it.
const (
	prefetchDocs  = 128
	prefetchLeast = 8
)

func (c *Searcher) prefetchDocs(v *version, matches []Match) error {
	if len(matches) < prefetchLeast {
		return nil
	}
	for i, s := range v.segments {
		c.prints = c.prints[:0]
		for _, m := range matches {
			if m.source == i {
				c.prints = append(c.prints, m.fingerprint)
			}
		}
		if len(c.prints) < prefetchLeast {
			continue
		}
		if err := s.PrefetchDocs(c.prints, &c.segment); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	return nil
}

// find sets c.matches to what segments and memtables have: the workers of some segments search at
// the same time as the caller searches the rest.
func (c *Searcher) find(w View, queries []uint64, k int, swept Swept) error {
	v := w.version
	c.matches = c.matches[:0]
	c.submission.submit(v, queries, k, swept)
	err := c.findOwn(v, w.now, queries, k, swept)
	waited := c.submission.wait(func(segment int, m segment.Match) { c.match(segment, queries, m) })
	if err := cmp.Or(err, waited); err != nil {
		return err
	}
	if err := c.dropHidden(w); err != nil {
		return err
	}
	for _, m := range v.memtables {
		c.matches = m.scan(c.matches, c.positions, 0, w, queries, k, c.lengths)
	}
	return nil
}

// findOwn searches the segments that have no workers.
func (c *Searcher) findOwn(v *version, now moment, queries []uint64, k int, swept Swept) (err error) {
	for i, s := range v.segments {
		if swept.of(i) != nil {
			c.matches = swept.matches(c.matches, i, queries)
			continue
		}
		if s.workers != nil || s.Fingerprints() == 0 || s.expires.all(now) {
			continue
		}
		if c.found, err = s.Search(c.found[:0], queries, k, &c.segment); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		for _, m := range c.found {
			c.match(i, queries, m)
		}
	}
	return nil
}

func (c *Searcher) match(segment int, queries []uint64, m segment.Match) {
	d := bits.OnesCount64(m.Fingerprint ^ queries[m.Query])
	c.matches = append(c.matches, Match{m.Query, d, m.Fingerprint, segment, 0})
}

// dropHidden leaves matches out whose documents are all deleted or expired, or left out for their lengths.
func (c *Searcher) dropHidden(w View) (err error) {
	kept := c.matches[:0]
	for _, m := range c.matches {
		total := uint64(1)
		if s := w.version.segments[m.source]; s.mayHide(w.now) || s.Lengths() != nil && c.lengths.filters() {
			if _, total, err = c.docs(w, nil, m, 0); err != nil {
				return err
			}
		}
		if total > 0 {
			kept = append(kept, m)
		}
	}
	c.matches = kept
	return nil
}
