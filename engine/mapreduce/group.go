package mapreduce

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/result"
)

// A group is the documents that share leading bits under a table. They come in order of preference.
//
//	candidates   kept and undecided documents that a later one can be dropped for, in two parts:
//	stars        candidates without a preferred document in the group that confirms them
//	rest         the other candidates
//
// If many documents are near each other, there are few stars. Every document is compared with the stars near it. It
// is compared with the rest only if that can change the result. So a group of n documents costs less than n * n
// comparisons.
type group struct {
	t     *task
	j     Pairs
	p     *pairTables
	key   []byte // table and leading bits
	table int

	candidates    []candidate
	stars, others part
	equals        map[content]int32 // first candidate with a fingerprint and a sketch
	nameBytes     int

	neighbours  []uint32
	query       sketch.Query
	hits        cluster.Hits
	kepts, open []match // kepts has the nearest kept candidate that confirms a document, open the undecided candidates
	line        []byte
}

// An candidate is a document that later ones can be dropped for.
type candidate struct {
	content
	isKept  bool
	hasPair bool   // a later document has a pair with it
	head    []byte // rank and name
	text    []byte
}

// A content is the fingerprint and the sketch of a document. The zero sketch is unknown.
type content struct {
	fingerprint uint64
	sketch      sketch.Sketch
}

// A part is a part of the candidates.
type part struct {
	fingerprints cluster.Representatives
	sketches     sketch.List
	numbers      []int32 // numbers of the candidates
}

// A match is a candidate that confirms a document: its distance and its number. Lower numbers are preferred.
type match struct {
	distance int
	number   int32
}

func (m match) compare(o match) int {
	return cmp.Or(cmp.Compare(m.distance, o.distance), cmp.Compare(m.number, o.number))
}

const (
	otherBytes = 560      // memory of a candidate, in lists, a map and tables
	tableBytes = 32 << 20 // limit of the tables of a part
)

func newGroup(t *task, j Pairs, p *pairTables) *group {
	j.PairsMax = max(j.PairsMax, 1)
	return &group{t: t, j: j, p: p, equals: map[content]int32{}}
}

// begin begins the group of a key.
func (g *group) begin(key []byte) error {
	k := readKey(key)
	table, bits := int(k.number(1)), k.number(g.p.groupDigits())
	if k.err("", 0) != nil || table >= len(g.p.perms) || bits>>g.p.bits != 0 {
		return fmt.Errorf("%.40q is no group of %d tables and %d bits: the maps had another k", key, len(g.p.perms), g.p.bits)
	}
	g.key, g.table, g.candidates, g.nameBytes = append(g.key[:0], key...), table, g.candidates[:0], 0
	clear(g.equals)
	for _, p := range []*part{&g.stars, &g.others} {
		p.fingerprints.Reset(g.j.K, tableBytes)
		p.sketches.Reset(g.j.Threshold)
		p.numbers = p.numbers[:0]
	}
	return nil
}

// add compares the next document with the candidates, and writes its pairs. It adds the document to the candidates if
// later ones can be dropped for it.
func (g *group) add(key, value []byte) error {
	// Parse the record.
	head, text, ok := bytes.Cut(key, []byte(" "))
	if !ok || len(head) <= rowDigits || len(text) != hashDigits || len(value) < printDigits+3 {
		return fmt.Errorf("%.80q is no document of a group", key)
	}
	fingerprint, ok := number(value[:printDigits])
	s, err := parseSketch(value[printDigits+2:])
	if err != nil || !ok {
		return fmt.Errorf("%.80q is no fingerprint and sketch", value)
	}
	// A kept document is not compared, and one of equal content only with the first.
	d, state := candidate{content: content{fingerprint, s}, head: head, text: text}, value[printDigits]
	g.t.counters.add(fingerprints, 1)
	g.kepts, g.open = g.kepts[:0], g.open[:0]
	if state == kept {
		d.isKept = true
		return g.hold(&d, &g.stars)
	}
	if first, ok := g.equals[d.content]; ok {
		return g.writeEqual(&d, first)
	}
	// Find and write the pairs.
	g.compare(&d)
	if err := cmp.Or(g.write(&d, g.kepts), g.write(&d, g.open)); err != nil {
		return err
	}
	// Later documents are compared with it, unless it is dropped.
	to := &g.stars
	if len(g.kepts)+len(g.open) > 0 {
		to = &g.others
	}
	// A dropped document is held only if other documents have the same text. They may need less preferred documents,
	// which so remain undecided.
	if state == waiting || len(g.kepts) > 0 && state != shared {
		return nil
	}
	return g.hold(&d, to)
}

// hold adds a document to the candidates. If it is not dropped, later documents with the same content are compared
// only with it.
func (g *group) hold(d *candidate, to *part) error {
	to.fingerprints.Add(d.fingerprint)
	to.sketches.Append(&d.sketch)
	to.numbers = append(to.numbers, int32(len(g.candidates)))
	if _, ok := g.equals[d.content]; !ok && len(g.kepts) == 0 {
		g.equals[d.content] = int32(len(g.candidates))
	}
	d.head, d.text = bytes.Clone(d.head), bytes.Clone(d.text)
	g.candidates = append(g.candidates, *d)
	g.nameBytes += len(d.head) + len(d.text)
	return g.t.Budget.Check(fmt.Sprintf("comparing the %d documents of key %s", len(g.candidates), g.key),
		uint64(otherBytes*len(g.candidates)+g.nameBytes))
}

// compare finds the candidates that confirm a document: the nearest kept one, and nearer undecided ones. If PairsMax
// is 1, one undecided document is enough, but each star is compared until a document follows it.
func (g *group) compare(d *candidate) {
	neighbours := g.stars.neighbours(g.neighbours[:0], &g.hits, d.fingerprint)
	g.neighbours = neighbours
	must := 0 // stars that are compared in any case
	for i, n := range neighbours {
		if o := &g.candidates[g.stars.numbers[n]]; o.isKept || !o.hasPair {
			neighbours[must], neighbours[i] = n, neighbours[must]
			must++
		}
	}
	g.take(d, &g.stars, neighbours[:must])
	for _, m := range slices.Concat(g.kepts, g.open) {
		g.candidates[m.number].hasPair = true
	}
	g.open = slices.DeleteFunc(g.open, g.isFarther)
	g.takeEnough(d, &g.stars, neighbours[must:])
	if len(g.open) == 0 || g.j.PairsMax > 1 {
		g.neighbours = g.others.neighbours(g.neighbours[:0], &g.hits, d.fingerprint)
		g.takeEnough(d, &g.others, g.neighbours)
	}
	slices.SortFunc(g.open, match.compare)
	g.open = slices.Compact(g.open)
}

// isFarther reports whether a match is farther than the nearest kept one.
func (g *group) isFarther(m match) bool { return len(g.kepts) > 0 && m.compare(g.kepts[0]) > 0 }

// takeEnough takes documents of a part until there are enough undecided ones.
func (g *group) takeEnough(d *candidate, p *part, neighbours []uint32) {
	const batchDocs = 64 // number of documents compared at a time
	for len(neighbours) > 0 && (len(g.open) == 0 || g.j.PairsMax > 1) {
		n := min(batchDocs, len(neighbours))
		g.take(d, p, neighbours[:n])
		neighbours = neighbours[n:]
	}
}

// neighbours appends the numbers of the documents that are near a fingerprint.
func (p *part) neighbours(dst []uint32, hits *cluster.Hits, fingerprint uint64) []uint32 {
	for first, numbers := range p.fingerprints.Near(hits, fingerprint, 0) {
		for _, n := range numbers {
			dst = append(dst, uint32(first)+n)
		}
	}
	return dst
}

// take adds to the matches the near documents of a part that are similar enough to a document.
func (g *group) take(d *candidate, p *part, neighbours []uint32) {
	g.query.Begin(&p.sketches, &d.sketch)
	for _, n := range g.query.Similar(0, neighbours) {
		m := match{bits.OnesCount64(d.fingerprint ^ p.fingerprints.At(int(n))), p.numbers[n]}
		switch {
		case g.isFarther(m):
		case g.candidates[m.number].isKept:
			g.kepts = append(g.kepts[:0], m)
		default:
			g.open = append(g.open, m)
		}
	}
}

// write writes the matches of a document, either with kept or with undecided documents. If PairsMax is not 1, it leaves
// out matches that an earlier table finds. A record is
//
//	hash of the text	p, 0 (kept) or 1 (undecided), distance, rank, name, similarity, name of d
func (g *group) write(d *candidate, matches []match) error {
	// Select the pairs of this table, and at most PairsMax of them.
	if g.j.PairsMax > 1 {
		matches = slices.DeleteFunc(matches, func(m match) bool {
			return g.p.design.First(d.fingerprint^g.candidates[m.number].fingerprint) != g.table
		})
	}
	if n := len(matches); n > g.j.PairsMax {
		matches = matches[:1]
		if g.j.PairsMax > 1 {
			// Write a result for each pair.
			g.t.counters.add(pairsLeftOut, int64(n-1))
		}
	}
	g.t.counters.add(pairs, int64(len(matches)))
	for _, m := range matches {
		o, order := &g.candidates[m.number], byte('1')
		if o.isKept {
			order = '0'
		}
		g.line = appendNumber(append(g.line[:0], pairMark, order), uint64(m.distance), 1)
		g.line = append(append(g.line, o.head...), ' ')
		if d.sketch.IsZero() || o.sketch.IsZero() {
			g.line = append(g.line, unverified...)
			g.t.counters.add(unverifiedPairs, 1)
		} else {
			similarity, _ := sketch.Estimate(&d.sketch, &o.sketch)
			g.line = result.AppendReal(g.line, similarity)
		}
		g.line = append(append(g.line, ' '), d.head[rowDigits:]...)
		if err := g.t.result(d.text, g.line); err != nil {
			return err
		}
	}
	return nil
}

// writeEqual writes the pair of a document and the first document with the same content, in one table only.
func (g *group) writeEqual(d *candidate, first int32) error {
	if g.p.design.First(0) != g.table {
		return nil
	}
	g.candidates[first].hasPair = true
	g.open = append(g.open, match{0, first})
	return g.write(d, g.open)
}

// unverified is written for the similarity of documents without sketches.
const unverified = "unverified"

// flush writes the candidates that have pairs.
//
//	hash of the text	f
func (g *group) flush() error {
	for i := range g.candidates {
		if o := &g.candidates[i]; o.hasPair {
			if err := g.t.result(o.text, []byte{followedMark}); err != nil {
				return err
			}
		}
	}
	g.candidates = g.candidates[:0]
	return nil
}
