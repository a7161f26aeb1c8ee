package sketch

import (
	"slices"

	"example.org/ndd/asm"
)

// A List holds sketches with which others are compared. Each comparison reads one cache line. Many goroutines may
// call [Query.Similar] if none calls [List.Append] at the same time.
type List struct {
	threshold    float64
	differingMax uint32   // maximum number of differing bits of similar min-hashes
	sketches     []Sketch // the sketches in the order of Append
	lines        []uint64 // min-hashes of the sketches
	hasSets      bool     // some sketches are sets or zero
}

// Reset removes all sketches, and sets the minimum estimated Jaccard similarity of similar sketches.
func (l *List) Reset(threshold float64) {
	l.threshold, l.sketches, l.lines, l.hasSets = threshold, l.sketches[:0], l.lines[:0], false
	l.differingMax = uint32(comparedBits)
	for l.differingMax > 0 && similarity(l.differingMax) < threshold {
		l.differingMax--
	}
}

// Append adds a sketch after all others.
func (l *List) Append(s *Sketch) {
	l.sketches = append(l.sketches, *s)
	l.hasSets = l.hasSets || s.isSet()
	var line Sketch
	if !s.isEmpty() {
		line = s.minHash()
	}
	l.lines = append(l.lines, line[:]...)
}

// At returns the sketch with this number, counted from 0.
func (l *List) At(number uint32) *Sketch { return &l.sketches[number] }

// A Query compares a sketch with the sketches of a list. It belongs to one goroutine.
type Query struct {
	list   *List
	sketch *Sketch
	line   Sketch // min-hash of the sketch
	room   []uint32
}

// Begin begins a query for the sketch s in a list.
func (q *Query) Begin(l *List, s *Sketch) {
	if q.list, q.sketch, q.line = l, s, *s; s.isSet() && !s.isEmpty() {
		q.line = s.minHash()
	}
}

// Similar filters numbers, which are relative to the number first. It deletes the numbers of sketches whose estimated
// similarity is below the threshold, and returns the others. The zero sketch means an unknown text and is similar to
// all.
func (q *Query) Similar(first int, numbers []uint32) []uint32 {
	if q.sketch.IsZero() {
		return numbers
	}
	l := q.list
	q.room = slices.Grow(q.room[:0], len(numbers))[:len(numbers)]
	asm.Differ(q.room, q.line[:], l.lines[Words*first:], numbers)
	similar := numbers[:0]
	if l.hasSets || q.sketch.isSet() {
		for i, n := range numbers {
			if q.isSimilar(&l.sketches[first+int(n)], q.room[i]) {
				similar = append(similar, n)
			}
		}
		return similar
	}
	for i, differing := range q.room {
		if differing <= l.differingMax {
			similar = append(similar, numbers[i])
		}
	}
	return similar
}

// isSimilar reports whether a sketch of the list is similar. differing is the number of differing bits of the
// min-hashes.
func (q *Query) isSimilar(other *Sketch, differing uint32) bool {
	switch {
	case other.IsZero():
		return true
	case q.sketch.isSet() && other.isSet():
		return exact(q.sketch.set(), other.set()) >= q.list.threshold
	case q.sketch.isEmpty() || other.isEmpty():
		return q.list.threshold <= 0
	}
	return differing <= q.list.differingMax
}

// comparedBits is the number of bits of a min-hash that are compared.
const comparedBits = Bins - 1

// similarity returns the estimated similarity of two min-hashes with this number of differing bits.
func similarity(differing uint32) float64 { return max(1-2*float64(differing)/comparedBits, 0) }
