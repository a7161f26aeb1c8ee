package postings

import (
	"math"
	"math/bits"
	"slices"
)

// A class is the signatures of a partition that have the same number of documents.
type class struct{ documents, signatures uint32 }

// A grouper finds the equal signatures of a partition. It belongs to one goroutine.
type grouper struct {
	marks []uint8  // by bits of a signature: 0, 1, or more for none, one, or several
	some  []uint64 // signatures that several documents may have
	of    []uint32 // the documents of these

	table   []uint32 // open addressing: numbers of signatures, from 1; 0: free
	hashes  []uint64 // of the numbers
	counts  []uint32 // documents
	ids     []uint32 // of some: numbers from 0
	places  []uint32 // by number: of its next document
	classes []uint32 // by documents: signatures, and then where those of the next one go; all 0 between calls
}

// nowhere is the position of the documents of signatures that only one document has: after all
// others.
const nowhere = math.MaxUint32 / 2

// group returns the signatures that several documents have, as classes with the fewest documents
// first, and the documents of each signature, unordered, one signature after the other.
func (g *grouper) group(signatures []scattered) (classes []class, documents []uint32, err error) {
	if uint64(len(signatures)) >= nowhere {
		return nil, nil, ErrTooMany
	}
	g.choose(signatures)
	g.number()
	classes, end := g.arrange()
	documents = make([]uint32, end+1) // the last is of those that are not kept
	for i, id := range g.ids {
		documents[min(g.places[id], end)] = g.of[i]
		g.places[id]++
	}
	return classes, documents[:end], nil
}

// choose drops most of the signatures that only one document has, 60 % of text: those that share no
// mark.
func (g *grouper) choose(signatures []scattered) {
	n := len(signatures)
	log := max(bits.Len(uint(n)), 4) + 2 // four to eight marks for each
	g.marks = slices.Grow(g.marks[:0], 1<<log)[:1<<log]
	clear(g.marks)
	marks, shift := g.marks, 64-log
	for i := range signatures {
		mark := &marks[spread(signatures[i].hash())>>(shift&63)]
		*mark = *mark<<1 | 1
	}
	g.some, g.of = slices.Grow(g.some[:0], n)[:n], slices.Grow(g.of[:0], n)[:n]
	some, of, kept := g.some, g.of[:len(g.some)], 0
	for i := range signatures {
		hash := signatures[i].hash()
		some[kept], of[kept] = hash, signatures[i].rank
		kept += int(marks[spread(hash)>>(shift&63)] >> 1 & 1)
	}
	g.some, g.of = some[:kept], of[:kept]
}

// number numbers the remaining signatures in order of occurrence and counts their documents.
func (g *grouper) number() {
	log := max(bits.Len(uint(len(g.some))), 4) + 1 // two to four slots for each
	g.table = slices.Grow(g.table[:0], 1<<log)[:1<<log]
	clear(g.table)
	g.ids = slices.Grow(g.ids[:0], len(g.some))[:len(g.some)]
	g.hashes, g.counts = g.hashes[:0], g.counts[:0]
	shift, mask := 64-log, uint64(1<<log-1)
	for i, hash := range g.some {
		at := spread(hash) >> (shift & 63)
		for {
			id := g.table[at&mask]
			if id == 0 {
				g.hashes, g.counts = append(g.hashes, hash), append(g.counts, 0)
				id = uint32(len(g.hashes))
				g.table[at&mask] = id
			}
			if g.hashes[id-1] == hash {
				g.counts[id-1]++
				g.ids[i] = id - 1
				break
			}
			at++
		}
	}
}

// arrange assigns positions to the documents of each number, by class, and returns the classes and
// the end of the last one.
func (g *grouper) arrange() (classes []class, end uint32) {
	most := uint32(0)
	for _, count := range g.counts {
		most = max(most, count)
	}
	g.classes = append(g.classes, make([]uint32, max(int(most)+1-len(g.classes), 0))...)
	for _, count := range g.counts {
		g.classes[count]++
	}
	for count := uint32(2); count <= most; count++ {
		if n := g.classes[count]; n > 0 {
			classes = append(classes, class{count, n})
			g.classes[count] = end
			end += count * n
		}
	}
	g.places = slices.Grow(g.places[:0], len(g.counts))[:len(g.counts)]
	for id, count := range g.counts {
		g.places[id] = nowhere
		if count >= 2 {
			g.places[id] = g.classes[count]
			g.classes[count] += count
		}
	}
	clear(g.classes)
	return classes, end
}

func spread(hash uint64) uint64 { return hash * 0x9e3779b97f4a7c15 }
