package live

import (
	"fmt"
	"slices"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/parallel"
	"ndd/engine/storage/store"
)

// Answers holds the hits of some queries, one query's after the other's.
type Answers struct {
	Hits    []Hit
	queries []int // of hits, ascending
	docs    []DocID
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

// cut drops the hits of queries from number n on.
func (a *Answers) cut(n int) {
	i, _ := slices.BinarySearch(a.queries, n)
	a.Hits, a.queries = a.Hits[:i], a.queries[:i]
}

// room returns a list for n documents. Lists share arrays, which grow up to docsShared.
func (a *Answers) room(n int) []DocID {
	if cap(a.docs)-len(a.docs) < n {
		a.docs = make([]DocID, 0, max(n, min(2*cap(a.docs), docsShared)))
	}
	at := len(a.docs)
	a.docs = a.docs[:at+n]
	return a.docs[at : at : at+n]
}

const docsShared = 4096

// hits puts all matches of each fingerprint together, with its documents.
func (c *Searcher) hits(w View, docs int) (Answers, error) {
	if len(c.matches) == 0 {
		return Answers{}, nil
	}
	if err := c.locate(w, docs); err != nil {
		return Answers{}, err
	}
	a, _, err := c.collect(w, 0, docs, unbounded)
	return a, err
}

// locate sorts the matches, and finds where their documents are, unless nobody asks for any: neither
// the caller, nor what hides some.
func (c *Searcher) locate(w View, docs int) error {
	defer parallel.EndStage()
	parallel.StageNames.Begin()
	slices.SortFunc(c.matches, compareMatches)
	c.ranges = c.ranges[:0]
	if docs <= 0 && !c.hides(w) {
		return nil
	}
	c.ranges = slices.Grow(c.ranges, len(c.matches))[:len(c.matches)]
	for i, s := range w.version.segments {
		c.prints, c.places = c.prints[:0], c.places[:0]
		for j, m := range c.matches {
			if m.source == i {
				c.prints, c.places = append(c.prints, m.fingerprint), append(c.places, j)
			}
		}
		if len(c.prints) == 0 {
			continue
		}
		c.located = slices.Grow(c.located[:0], len(c.prints))[:len(c.prints)]
		if err := s.Locate(c.located, c.prints, &c.segment); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		for j, r := range c.located {
			c.ranges[c.places[j]] = r
		}
	}
	return nil
}

// hides reports whether a segment may have documents that are not to be found.
func (c *Searcher) hides(w View) bool {
	return slices.ContainsFunc(w.version.segments, func(s *Segment) bool { return s.mayHide(w.now) || c.lengthsIn(s) != nil })
}

// lengthsIn returns the lengths of a segment's texts where documents may be left out for them, else nil.
func (c *Searcher) lengthsIn(s *Segment) []uint32 {
	if !c.lengths.filters() {
		return nil
	}
	return s.Lengths()
}

// A bound is how many hits and documents are held at a time.
type bound struct{ hits, docs int }

// unbounded holds all.
var unbounded = bound{AllDocs, AllDocs}

// collect puts the matches of each fingerprint together, from match number from on, which is the first
// of its fingerprint, each with the first docs of its documents: as many hits as the bound allows. next is the first match
// behind them: from, where the first hit has too many documents. A fingerprint whose documents are all
// hidden is left out. The matches are located.
func (c *Searcher) collect(w View, from, docs int, most bound) (a Answers, next int, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	defer parallel.EndStage()
	parallel.StageNames.Begin()
	held := 0
	for next = from; next < len(c.matches) && len(a.Hits) < most.hits; {
		end := c.groupEnd(next)
		h, err := c.hit(w, next, end)
		if err == nil && len(a.Hits)%hitsAtOnce == hitsAtOnce-1 {
			err = c.ended()
		}
		if err != nil {
			return a, next, err
		}
		if n := int(min(h.Documents, uint64(max(docs, 0)))); n > 0 {
			if held += n; held > most.docs {
				break
			}
			h.Docs = a.room(n)
			if err := c.eachDoc(w, next, end, func(doc DocID) bool {
				h.Docs = append(h.Docs, doc)
				return len(h.Docs) < n
			}); err != nil {
				return a, next, err
			}
		}
		if h.Documents > 0 || len(c.ranges) == 0 {
			if docs <= 0 {
				h.Documents = 0 // nobody asked
			}
			a.Hits = append(a.Hits, h)
			a.queries = append(a.queries, c.matches[next].query)
		}
		next = end
	}
	return a, next, nil
}

// hitsAtOnce are made before the context is looked at again: each may have very many documents.
const hitsAtOnce = 16

// groupEnd returns the end of the matches that have the query and the fingerprint of match number from.
func (c *Searcher) groupEnd(from int) int {
	to := from + 1
	for to < len(c.matches) && c.matches[to].query == c.matches[from].query && c.matches[to].fingerprint == c.matches[from].fingerprint {
		to++
	}
	return to
}

// hit returns the hit of matches [from, to), which are of one fingerprint, with the number of its documents where the matches
// are located, or 1 where only the first is asked for, and without the documents.
func (c *Searcher) hit(w View, from, to int) (h Hit, err error) {
	m := &c.matches[from]
	h = Hit{Fingerprint: simhash.Fingerprint(m.fingerprint), Distance: m.distance}
	for i := from; i < to && len(c.ranges) > 0 && !(c.first && h.Documents > 0); i++ {
		n, err := c.count(w, i)
		if err != nil {
			return h, err
		}
		h.Documents += n
	}
	return h, nil
}

// count returns how many documents match number i has that the view sees, 1 at most where only the first is asked for.
func (c *Searcher) count(w View, i int) (n uint64, err error) {
	m := &c.matches[i]
	if t := w.version.memtable(m.source); t != nil {
		a := memSearch{view: w, lengths: c.lengths, positions: c.positions}
		t.eachOf(&a, m.fingerprint, m.query, func(DocID) bool {
			n++
			return !c.first
		})
		return n, nil
	}
	if m.source == inMemtable || !w.version.segments[m.source].KeepsDocs() {
		return 1, nil
	}
	if s := w.version.segments[m.source]; !s.mayHide(w.now) && c.lengthsIn(s) == nil {
		n = c.ranges[i].Len()
		if c.first {
			n = min(n, 1)
		}
		return n, nil
	}
	_, err = c.docsOf(w, m, c.ranges[i], func(DocID) bool {
		n++
		return !c.first
	})
	return n, err
}

// memtable returns the memtable that is the source of a match, nil where that is a segment or the match a document.
func (v *version) memtable(source int) *memtable {
	if source < len(v.segments) || source == inMemtable {
		return nil
	}
	return v.memtables[source-len(v.segments)]
}

// eachDoc calls yield with the documents of matches [from, to), which are of one fingerprint, ascending, until
// that returns false.
func (c *Searcher) eachDoc(w View, from, to int, yield func(DocID) bool) error {
	for i := from; i < to; i++ {
		m, more := &c.matches[i], false
		if t := w.version.memtable(m.source); t != nil {
			a := memSearch{view: w, lengths: c.lengths, positions: c.positions}
			more = t.eachOf(&a, m.fingerprint, m.query, yield)
		} else if m.source == inMemtable {
			more = yield(m.doc)
		} else if !w.version.segments[m.source].KeepsDocs() {
			more = yield(NoDoc)
		} else {
			var err error
			if more, err = c.docsOf(w, m, c.ranges[i], yield); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
	return nil
}

// docsAtOnce documents of a segment are read together.
const docsAtOnce = 1024

// docsOf calls yield with the documents of a match in a segment, which are in a range, that the view sees and that are not left
// out for their lengths, ascending, and returns false as soon as that does.
func (c *Searcher) docsOf(w View, m *Match, r segment.Range, yield func(DocID) bool) (more bool, err error) {
	s := w.version.segments[m.source]
	hides, lengths := s.mayHide(w.now), c.lengthsIn(s)
	for first := true; r.Len() > 0; first = false {
		n := uint64(docsAtOnce)
		if first {
			n = 16 // most fingerprints have one
		}
		if c.rows, err = s.AppendDocs(c.rows[:0], r, int(n)); err != nil {
			return false, fmt.Errorf("segment %d: %w", m.source, err)
		}
		for _, row := range c.rows {
			doc := s.numbers.doc(row)
			if hides && s.hides(row, doc, w.clock, w.now) || lengths != nil && !c.lengths.take(m.query, lengths[row]) {
				continue
			}
			if !yield(doc) {
				return false, nil
			}
		}
		r = r.After(min(n, r.Len()))
	}
	return true, nil
}
