package decontaminate

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
)

const (
	gapMax     = 3  // tokens on either side that a gap has
	hopTokens  = 2  // equal tokens that end a gap
	nearTokens = 64 // between runs of one candidate, and between an item and its answer
	answerGram = 8  // tokens of a longer answer that stand for it

	// A candidate that is none of a whole item has this share of it, or a run of this many tokens.
	shareLeast = 0.5
	runLeast   = 13

	// This many tokens in a row that are not covered are another question rather than changed words.
	otherTokens = 8
)

// A run is tokens that a document and an item have in common.
type run struct {
	item   int
	at     int    // in the document
	place  uint32 // in the items
	length int
}

// end returns the place behind the run in the document.
func (r *run) end() int { return r.at + r.length }

// A span is a range of tokens of an item, from its first.
type span struct{ from, to int }

// A candidate is a place of a document with runs of an item.
type candidate struct {
	item     int
	from, to int // tokens of the document
	longest  int // run
	covered  int // tokens of the item
	equal    int // of these, those in runs
	spans    []span
	answer   bool // it stands near
}

// A matcher finds candidates in documents. It belongs to one goroutine.
type matcher struct {
	*tokeniser
	x         *Items
	documents []atomic.Uint32 // with each n-gram so far
	all       bool            // n-grams count that do not matter any more, too
	windows   [][]window      // for each n
	room      room
	grams     []uint32 // n-grams of the document that still count
	runs      []run
	open      []run // that may go on, by place
	openTo    int   // where the first of them ends
	next      []run
}

// find returns the candidates of a document, by item.
func (m *matcher) find(text string) (all []candidate) {
	m.take(text)
	m.runs, m.grams = m.runs[:0], m.grams[:0]
	for k := range m.windows {
		m.windows[k] = m.windows[k][:0]
	}
	m.x.table.windows(m.windows, &m.room, m.hashes)
	for k, n := range m.x.table.lengths {
		m.seeds(n, m.windows[k])
	}
	slices.Sort(m.grams)
	m.grams = slices.Compact(m.grams)
	slices.SortStableFunc(m.runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.at, b.at))
	})
	for from := 0; from < len(m.runs); {
		item := m.runs[from].item
		best := candidate{}
		for from < len(m.runs) && m.runs[from].item == item {
			to, end := from+1, m.runs[from].end()
			for to < len(m.runs) && m.runs[to].item == item && m.runs[to].at-end <= nearTokens {
				end = max(end, m.runs[to].end())
				to++
			}
			c := m.candidate(m.runs[from:to])
			if cmp.Or(cmp.Compare(c.equal, best.equal), cmp.Compare(c.covered, best.covered)) > 0 {
				best = c
			}
			from = to
		}
		if best.covered > 0 && m.x.keeps(&best) {
			best.answer = m.answered(&best)
			all = append(all, best)
		}
	}
	return all
}

// seeds adds the runs around the n-grams of one length.
func (m *matcher) seeds(n int, windows []window) {
	t, doc := &m.x.table, m.hashes
	m.open = m.open[:0]
	for _, w := range windows {
		var g uint32
		within := len(m.open) > 0 && m.openTo >= w.at+n // of all open runs, so it is the n-gram of any item there
		if within {
			g = m.x.gram[int(m.open[0].place)+w.at-m.open[0].at]
		} else if g = t.find(w.hash); g == noGram {
			continue
		}
		places := t.placesOf(g)
		if p := places[0]; !within && !slices.Equal(doc[w.at:w.at+n], m.x.tokens[p:int(p)+n]) {
			continue
		}
		if m.all || m.documents[g].Load() < uint32(m.x.o.Common) {
			m.grams = append(m.grams, g)
		}
		if len(places) <= sharedMax && !(within && len(places) == len(m.open)) {
			m.extend(w.at, n, places)
		}
	}
}

// extend adds the runs around an n-gram, but for those that are open. Both the open runs and the
// places of the n-gram ascend, and open runs stay in order as the document goes on.
func (m *matcher) extend(at, n int, places []uint32) {
	next, k := m.next[:0], 0
	m.openTo = math.MaxInt
	keep := func(r run) {
		if r.end() > at+n {
			next, m.openTo = append(next, r), min(m.openTo, r.end())
		}
	}
	for _, p := range places {
		for ; k < len(m.open) && int(m.open[k].place)+at-m.open[k].at < int(p); k++ {
			keep(m.open[k])
		}
		if k < len(m.open) && int(m.open[k].place)+at-m.open[k].at == int(p) && m.open[k].end() >= at+n {
			continue
		}
		item := int(m.x.owner[p])
		back := m.equal(item, at-1, int(p)-1, -1)
		r := run{item, at - back, p - uint32(back), back + n + m.equal(item, at+n, int(p)+n, 1)}
		if it := &m.x.items[item]; !it.whole || r.length == it.Tokens() {
			m.runs = append(m.runs, r)
		}
		keep(r)
	}
	for ; k < len(m.open); k++ {
		keep(m.open[k])
	}
	m.open, m.next = next, m.open
}

// equal returns how many tokens of the document and of an item are equal from two places on,
// forward or backward.
func (m *matcher) equal(item, at, place, step int) (n int) {
	it := &m.x.items[item]
	for at >= 0 && at < len(m.hashes) && place >= int(it.from) && place < int(it.to) && m.hashes[at] == m.x.tokens[place] {
		at, place = at+step, place+step
		n++
	}
	return n
}

// hops are gaps, of the document and of the item, in the order in which they are tried.
var hops = func() (all [][2]int) {
	for sum := 1; sum <= 2*gapMax; sum++ {
		for a := min(sum, gapMax); a >= max(sum-gapMax, 0); a-- {
			all = append(all, [2]int{a, sum - a})
		}
	}
	slices.SortStableFunc(all, func(a, b [2]int) int { return cmp.Compare(max(a[0], a[1]), max(b[0], b[1])) })
	return all
}()

// further adds to the candidate the runs behind gaps, forward or backward.
func (m *matcher) further(c *candidate, r run, step int) {
	it := &m.x.items[r.item]
	at, place := r.at-1, int(r.place)-1
	if step > 0 {
		at, place = r.end(), int(r.place)+r.length
	}
	for again := true; again; {
		again = false
		for _, h := range hops {
			i, p := at+step*h[0], place+step*h[1]
			n := m.equal(r.item, i, p, step)
			last := p == int(it.from) || p == int(it.to)-1 // one token is enough behind one that was changed
			if n < hopTokens && !(n == 1 && last && h == [2]int{1, 1}) {
				continue
			}
			at, place, again = i+step*n, p+step*n, true
			if step > 0 {
				c.take(it, run{r.item, i, uint32(p), n})
			} else {
				c.take(it, run{r.item, at + 1, uint32(place + 1), n})
			}
			break
		}
	}
}

func (c *candidate) take(it *Item, r run) {
	from := int(r.place - it.from)
	c.spans = append(c.spans, span{from, from + r.length})
	c.from, c.to, c.longest = min(c.from, r.at), max(c.to, r.end()), max(c.longest, r.length)
}

// candidate makes a candidate of runs of an item, with the runs behind gaps.
func (m *matcher) candidate(runs []run) candidate {
	c := candidate{item: runs[0].item, from: runs[0].at}
	it := &m.x.items[c.item]
	for _, r := range runs {
		c.take(it, r)
	}
	if !it.whole {
		for _, r := range runs {
			m.further(&c, r, 1)
			m.further(&c, r, -1)
		}
	}
	slices.SortFunc(c.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := c.spans[:1]
	c.equal = joined[0].to - joined[0].from
	for _, s := range c.spans[1:] {
		c.equal += max(s.to-max(s.from, joined[len(joined)-1].to), 0)
		if last := &joined[len(joined)-1]; s.from <= last.to+gapMax {
			last.to = max(last.to, s.to)
		} else {
			joined = append(joined, s)
		}
	}
	c.spans = joined
	for _, s := range c.spans {
		c.covered += s.to - s.from
	}
	return c
}

// keeps reports whether a candidate may be a hit, by the items alone.
func (x *Items) keeps(c *candidate) bool {
	it := &x.items[c.item]
	if it.whole || c.longest >= runLeast {
		return true
	}
	all, covered := 0.0, 0.0
	for _, n := range x.shared[it.from:it.to] {
		all += 1 / float64(n)
	}
	for _, s := range c.spans {
		for _, n := range x.shared[int(it.from)+s.from : int(it.from)+s.to] {
			covered += 1 / float64(n)
		}
	}
	return reaches(covered, min(shareLeast, x.o.Threshold)*all)
}

// reaches reports whether a sum of weights is at least another one, but for the rounding of sums.
func reaches(sum, least float64) bool { return sum >= least*(1-1e-9) }

// answered reports whether the item's answer stands beside a candidate: all of it, or, of a longer
// one, any answerGram tokens in a row.
func (m *matcher) answered(c *candidate) bool {
	it := &m.x.items[c.item]
	answer := m.x.answers[it.answerFrom:it.answerTo]
	if len(answer) == 0 {
		return false
	}
	behind := m.hashes[c.to:min(c.to+nearTokens+len(answer), len(m.hashes))]
	before := m.hashes[max(c.from-nearTokens-len(answer), 0):c.from]
	n := min(len(answer), answerGram)
	for i := 0; i+n <= len(answer); i++ {
		if contains(behind, answer[i:i+n]) || contains(before, answer[i:i+n]) {
			return true
		}
	}
	return false
}

// contains reports whether some tokens follow each other in others.
func contains(tokens, some []uint64) bool {
	for i := 0; i+len(some) <= len(tokens); i++ {
		if tokens[i] == some[0] && slices.Equal(tokens[i:i+len(some)], some) {
			return true
		}
	}
	return false
}
