package live

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
)

// A Hit is a stored fingerprint within the distance that was asked for.
type Hit struct {
	Fingerprint simhash.Fingerprint
	Distance    int     // from the query, in bits
	Documents   uint64  // how many have this fingerprint; 0 where they were not asked for, 1 with FirstDoc
	Docs        []DocID // the first of them, ascending, as many as were asked for
	Before      uint64  // of an answer in pieces: how many documents the pieces before this one had
}

// NoDoc stands for the documents of a fingerprint, in an index that keeps none: a hit has it once. Its ID is empty.
const NoDoc DocID = math.MaxUint64

// ErrNoDocs is wrapped where an index is to be written to, or a document to be deleted, and it keeps no documents.
var ErrNoDocs = segment.ErrNoDocs

// AllDocs asks for every document of a hit. An empty page's fingerprint may have millions.
const AllDocs = math.MaxInt

// FirstDoc asks for the first document of a hit alone. The others are not counted: Hit.Documents is 1. So a fingerprint of very many
// documents costs a search little more than one of a few.
const FirstDoc = math.MinInt

// A Match is a fingerprint that a segment or a memtable has within the distance asked for.
type Match struct {
	query       int
	distance    int
	fingerprint uint64
	source      int   // number of the segment, behind those of the memtable, or inMemtable
	doc         DocID // of a match inMemtable
}

// inMemtable is the source of a match that is a document, not a fingerprint of a segment or memtable. It sorts
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
	ctx        context.Context // that ends searches
	segment    segment.Scratch
	found      []segment.Match
	matches    []Match
	ranges     []segment.Range    // of the documents of matches
	together   []*segment.Segment // that are searched at once,
	numbers    []int              // and their numbers
	limits     limits
	most       int  // matches that a search holds; 0: any number
	first      bool // of the documents of a hit only the first is asked for, and none is counted
	submission submission
	positions  []uint32
	rows       []uint64
	prints     []uint64 // of matches whose documents are looked for,
	places     []int    // and where among matches those are
	located    []segment.Range
	query      [1]uint64
	queries    []uint64
	lookup     lookup // of IDs
	added      uint64 // the index's, when near was called
	refused    uint64 // likewise
	lengths    Lengths
	textBytes  []uint32 // room
	pending    pending
}

// Searcher returns a searcher of the index, to be given back by [Searcher.Done].
func (x *Index) Searcher() *Searcher { return x.searchers.Get().(*Searcher) }

// Until lets searches end with the error of ctx once that is done.
func (c *Searcher) Until(ctx context.Context) {
	c.ctx = ctx
	c.segment.Until(ctx)
}

// Done gives the searcher back.
func (c *Searcher) Done() {
	c.Until(context.Background())
	c.lengths, c.first = Lengths{}, false
	c.index.searchers.Put(c)
}

// Query returns what the index has within distance k of q, nearest first, equal distances by
// fingerprint, each with the first docs of its documents. textBytes is the length of the query's text, 0 where it is not known:
// then no document is left out for its length. All of the answer is held in memory: [Searcher.Stream] gives it piece by piece.
func (c *Searcher) Query(q simhash.Fingerprint, textBytes uint32, k, docs int) ([]Hit, error) {
	w, err := c.index.view(c.slot)
	if err != nil {
		return nil, err
	}
	defer w.Release()
	c.query[0] = uint64(q)
	a, err := c.Search(w, c.query[:], k, docs, Swept{}, c.lengthOf(textBytes))
	return a.Hits, err
}

// lengthOf returns what leaves out documents of one query with a text of so many bytes.
func (c *Searcher) lengthOf(textBytes uint32) Lengths {
	return Lengths{c.index.config.MaxLengthRatio, []uint32{textBytes}}
}

// Search answers queries from a view, with what sweeps have found for them already, and without what lengths leave out. It
// holds all hits and their documents.
func (c *Searcher) Search(w View, queries []uint64, k, docs int, swept Swept, lengths Lengths) (Answers, error) {
	c.lengths = lengths
	docs = c.asked(docs)
	if err := c.find(w, queries, k, swept, 0); err != nil {
		return Answers{}, err
	}
	return c.hits(w, docs)
}

// asked notes what documents of each hit a search is asked for, and returns how many they are.
func (c *Searcher) asked(docs int) int {
	if c.first = docs == FirstDoc; c.first {
		return 1
	}
	return docs
}

// ID returns the ID of a document of a view, empty where it has none.
func (c *Searcher) ID(w View, doc DocID) (id string, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if s := w.version.segmentOf(doc); s != nil {
		row, ok := s.numbers.row(doc)
		if !ok || s.Segment.IDs() == nil {
			return "", nil
		}
		return c.lookup.of(w.version, s, row)
	}
	if m := w.version.memtableOf(doc); m != nil {
		return m.id(int(doc - m.first)), nil
	}
	return "", nil
}

// find sets c.matches to what segments and memtables have: the workers of some segments search at
// the same time as the caller searches the rest. The error may be [segment.ErrTooMany], where most is not 0
// and there are more matches than that.
func (c *Searcher) find(w View, queries []uint64, k int, swept Swept, most int) error {
	v := w.version
	c.matches, c.most = c.matches[:0], most
	c.segment.AtMost(most)
	v.prefetch(queries, k)
	c.submission.submit(c.ctx, v, queries, k, most, swept)
	err := c.findOwn(v, w.now, queries, k, swept)
	waited := c.submission.wait(func(segment int, m segment.Match) { c.match(segment, queries, m) })
	if err := cmp.Or(err, waited, c.crowded()); err != nil {
		return err
	}
	a := memSearch{view: w, k: k, lengths: c.lengths, positions: c.positions, first: c.first, ctx: c.ctx}
	for _, m := range v.memtables {
		c.matches = m.search(c.matches, &a, queries, most)
		if err := c.crowded(); err != nil {
			return err
		}
		if a.asked >= queriesAtOnce && a.ended() != nil {
			return a.ended()
		}
	}
	return nil
}

// crowded returns [segment.ErrTooMany] where there are more matches than may be.
func (c *Searcher) crowded() error {
	if c.most > 0 && len(c.matches) > c.most {
		return segment.ErrTooMany
	}
	return nil
}

// findOwn searches the segments that have no workers.
func (c *Searcher) findOwn(v *version, now moment, queries []uint64, k int, swept Swept) (err error) {
	c.together, c.numbers = c.together[:0], c.numbers[:0]
	for i, s := range v.segments {
		if swept.of(i) == nil && s.workers == nil && len(v.segments) > 1 && s.SearchesEach(len(queries), k) && !s.expires.all(now) {
			c.together, c.numbers = append(c.together, s.Segment), append(c.numbers, i)
			continue
		}
		if swept.of(i) != nil {
			c.matches = swept.matches(c.matches, i, queries, c.most)
		} else if s.workers == nil && s.Fingerprints() > 0 && !s.expires.all(now) {
			if c.found, err = s.Search(c.found[:0], queries, k, &c.segment); err != nil {
				return fmt.Errorf("segment %d: %w", i, err)
			}
			for _, m := range c.found {
				c.match(i, queries, m)
			}
		}
		if err := c.crowded(); err != nil {
			return err
		}
	}
	return c.findTogether(queries, k)
}

// findTogether searches the segments that findOwn has put together: a few queries in several segments, whose misses overlap.
func (c *Searcher) findTogether(queries []uint64, k int) error {
	if len(c.together) == 0 {
		return nil
	}
	err := segment.SearchEach(c.together, queries, k, &c.segment, func(of int, m segment.Match) { c.match(c.numbers[of], queries, m) })
	clear(c.together) // segments are not kept
	return cmp.Or(err, c.crowded())
}

func (c *Searcher) match(segment int, queries []uint64, m segment.Match) {
	d := bits.OnesCount64(m.Fingerprint ^ queries[m.Query])
	c.matches = append(c.matches, Match{m.Query, d, m.Fingerprint, segment, 0})
}
