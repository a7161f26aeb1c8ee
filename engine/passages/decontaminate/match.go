package decontaminate

import (
	"cmp"
	"slices"
	"sync/atomic"
)

const (
	gapMax     = 3  // maximum number of tokens of a gap, in either text
	hopTokens  = 2  // minimum number of equal tokens after a gap
	nearTokens = 64 // maximum distance between runs of one candidate, and between an item and its answer
	answerGram = 8  // tokens in a row of a longer answer that count as the answer

	// A candidate must have a minimum share of the item's rare rows of tokens: rareShare times the threshold, or
	// times a half if that is less. Half of an item of 10 tokens has 3 of its 8 rows. A template without its subject
	// has less than a tenth of them.
	rareShare  = 0.6
	rareTokens = 3

	chainReach = 64 // link compares a run with at most this many previous runs
)

// A run is a sequence of tokens that a document and an item have in common.
type run struct {
	item   int
	start  int    // first token in the document
	place  uint32 // first token in Items.tokens
	length int
}

// end returns the first token of the document after the run.
func (r *run) end() int { return r.start + r.length }

// A span is a range of the tokens of an item. The first token is 0.
type span struct{ from, to int }

// A candidate is a part of a document with runs of an item.
type candidate struct {
	item     int
	from, to int // range of tokens in the document
	longest  int // length of the longest run
	equal    int // number of the item's tokens in the runs
	spans    []span
	answer   bool // the answer is near
}

// A matcher finds candidates in documents. It belongs to one goroutine.
type matcher struct {
	*tokeniser
	x         *Items
	documents []atomic.Uint32 // number of documents with each n-gram so far
	countsAll bool            // record all n-grams, even those already in Options.Common documents
	grams     []uint32        // n-grams of the document to count
	windows   []window        // windows of one n
	runs      []run
	parts     []run       // runs of one candidate
	links     []link      // a link for each part
	reached   map[int]int // end of the last run in the document, by its place minus its start
}

// find returns the candidates of a document, in the order of their items. There is at most one for each item.
func (m *matcher) find(text string) (all []candidate) {
	// Find the n-grams of the items in the document, and the runs around them.
	m.take(text)
	m.runs, m.grams = m.runs[:0], m.grams[:0]
	for _, n := range m.x.table.lengths {
		m.seeds(n)
	}
	// Sort the runs by item and place.
	slices.Sort(m.grams)
	m.grams = slices.Compact(m.grams)
	slices.SortStableFunc(m.runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.start, b.start))
	})
	// Make candidates of the runs of each item, and keep the best one.
	for from := 0; from < len(m.runs); {
		item := m.runs[from].item
		best := candidate{}
		for from < len(m.runs) && m.runs[from].item == item {
			to, end := from+1, m.runs[from].end()
			for to < len(m.runs) && m.runs[to].item == item && m.runs[to].start-end <= nearTokens {
				end = max(end, m.runs[to].end())
				to++
			}
			c := m.candidate(m.runs[from:to])
			if c.equal > best.equal {
				best = c
			}
			from = to
		}
		if best.equal > 0 && m.x.keeps(&best) {
			best.answer = m.answered(&best)
			all = append(all, best)
		}
	}
	return all
}

// seeds adds the runs around the n-grams of length n.
func (m *matcher) seeds(n int) {
	t, doc := &m.x.table, m.hashes
	clear(m.reached)
	m.windows = t.windows(m.windows[:0], doc, n)
	for _, w := range m.windows {
		g := t.find(w.hash)
		if g == noGram {
			continue
		}
		places := t.placesOf(g)
		if p := places[0]; !slices.Equal(doc[w.start:w.start+n], m.x.tokens[p:int(p)+n]) {
			continue
		}
		if m.countsAll || m.documents[g].Load() < uint32(m.x.o.Common) {
			m.grams = append(m.grams, g)
		}
		if len(places) <= sharedMax {
			m.extend(w.start, n, places)
		}
	}
}

// extend adds the runs around an n-gram, except those that an earlier n-gram added.
func (m *matcher) extend(start, n int, places []uint32) {
	for _, p := range places {
		if m.reached[int(p)-start] >= start+n {
			continue
		}
		item := int(m.x.owner[p])
		back := m.equal(item, start-1, int(p)-1, -1)
		r := run{item, start - back, p - uint32(back), back + n + m.equal(item, start+n, int(p)+n, 1)}
		if it := &m.x.items[item]; !it.isWhole || r.length == it.Tokens() {
			m.runs = append(m.runs, r)
		}
		m.reached[int(p)-start] = r.end()
	}
}

// equal returns the number of equal tokens of the document and an item from two positions on, forward or
// backward.
func (m *matcher) equal(item, start, place, step int) (n int) {
	it := &m.x.items[item]
	for start >= 0 && start < len(m.hashes) && place >= int(it.from) && place < int(it.to) && m.hashes[start] == m.x.tokens[place] {
		start, place = start+step, place+step
		n++
	}
	return n
}

// hops are the pairs of gaps in the document and in the item, in the order in which they are tried.
var hops = func() (all [][2]int) {
	for sum := 1; sum <= 2*gapMax; sum++ {
		for a := min(sum, gapMax); a >= max(sum-gapMax, 0); a-- {
			all = append(all, [2]int{a, sum - a})
		}
	}
	slices.SortStableFunc(all, func(a, b [2]int) int { return cmp.Compare(max(a[0], a[1]), max(b[0], b[1])) })
	return all
}()

// followGaps appends the runs that follow a run after gaps, forward or backward.
func (m *matcher) followGaps(parts []run, r run, step int) []run {
	it := &m.x.items[r.item]
	token, place := r.start-1, int(r.place)-1
	if step > 0 {
		token, place = r.end(), int(r.place)+r.length
	}
	for again := true; again; {
		again = false
		for _, h := range hops {
			i, p := token+step*h[0], place+step*h[1]
			n := m.equal(r.item, i, p, step)
			last := p == int(it.from) || p == int(it.to)-1 // here one token after a changed one is enough
			if n < hopTokens && !(n == 1 && last && h == [2]int{1, 1}) {
				continue
			}
			token, place, again = i+step*n, p+step*n, true
			next := run{r.item, i, uint32(p), n}
			if step < 0 {
				next.start, next.place = token+1, uint32(place+1)
			}
			parts = append(parts, next)
			break
		}
	}
	return parts
}

// A link describes the best chain of runs that ends with a run.
type link struct {
	equal    int // number of equal tokens in the chain
	overlap  int // number of tokens at the beginning of the run that are already in the chain
	previous int // index of the previous run, or -1
}

// candidate makes a candidate from runs of an item and the runs after their gaps. It chooses the chain with the
// maximum number of equal tokens in the same order in both texts.
func (m *matcher) candidate(runs []run) candidate {
	c := candidate{item: runs[0].item}
	it := &m.x.items[c.item]
	// Add the runs that follow after gaps.
	parts := append(m.parts[:0], runs...)
	if !it.isWhole {
		for _, r := range runs {
			parts = m.followGaps(m.followGaps(parts, r, 1), r, -1)
		}
	}
	slices.SortFunc(parts, func(a, b run) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.place, b.place)) })
	m.parts, m.links = parts, m.links[:0]
	// Find the chain of runs with the maximum number of equal tokens.
	last := 0
	for i := range parts {
		m.links = append(m.links, m.link(i))
		if m.links[i].equal > m.links[last].equal {
			last = i
		}
	}
	// Follow the chain from its end to its beginning.
	c.equal, c.to = m.links[last].equal, parts[last].end()
	for i := last; i >= 0; i = m.links[i].previous {
		r, skip := &parts[i], m.links[i].overlap
		from, to := int(r.place-it.from)+skip, int(r.place-it.from)+r.length
		if n := len(c.spans); n > 0 && c.spans[n-1].from == to {
			c.spans[n-1].from = from
		} else {
			c.spans = append(c.spans, span{from, to})
		}
		c.from, c.longest = r.start+skip, max(c.longest, r.length)
	}
	slices.Reverse(c.spans)
	return c
}

// link returns the link of part i. The links of the previous parts must be complete.
func (m *matcher) link(i int) link {
	r := &m.parts[i]
	best := link{equal: r.length, previous: -1}
	for j := max(i-chainReach, 0); j < i; j++ {
		q := &m.parts[j]
		overlap := max(q.end()-r.start, int(q.place)+q.length-int(r.place), 0)
		if equal := m.links[j].equal + r.length - overlap; q.place < r.place && overlap < r.length && equal > best.equal {
			best = link{equal, overlap, j}
		}
	}
	return best
}

// keeps reports whether a candidate may be a hit. Only the items decide, not the documents. It must have enough of
// the rows of tokens that few items share. A template without its subject does not have enough.
func (x *Items) keeps(c *candidate) bool {
	it := &x.items[c.item]
	if it.isWhole {
		return true
	}
	rare := func(from, to int) (sum float64) {
		for _, n := range x.sharing[int(it.from)+from : int(it.from)+max(to-rareTokens+1, from)] {
			sum += 1 / (float64(n) * float64(n))
		}
		return sum
	}
	equal := 0.0
	for _, s := range c.spans {
		equal += rare(s.from, s.to)
	}
	return reaches(equal, rareShare*min(x.o.Threshold, 0.5)*rare(0, it.Tokens()))
}

// reaches reports whether a sum of weights is at least another sum. It allows for rounding errors.
func reaches(sum, limit float64) bool { return sum >= limit*(1-1e-9) }

// answered reports whether the item's answer is near a candidate. If the answer has more than answerGram
// tokens, any answerGram of them in a row are enough.
func (m *matcher) answered(c *candidate) bool {
	it := &m.x.items[c.item]
	answer := m.x.answers[it.answerFrom:it.answerTo]
	if len(answer) == 0 {
		return false
	}
	following := m.hashes[c.to:min(c.to+nearTokens+len(answer), len(m.hashes))]
	before := m.hashes[max(c.from-nearTokens-len(answer), 0):c.from]
	n := min(len(answer), answerGram)
	for i := 0; i+n <= len(answer); i++ {
		if contains(following, answer[i:i+n]) || contains(before, answer[i:i+n]) {
			return true
		}
	}
	return false
}

// contains reports whether tokens contains the sequence part.
func contains(tokens, part []uint64) bool {
	for i := 0; i+len(part) <= len(tokens); i++ {
		if tokens[i] == part[0] && slices.Equal(tokens[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
