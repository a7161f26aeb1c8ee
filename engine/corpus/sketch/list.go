package sketch

import (
	"slices"

	"ndd/asm"
)

// A List has sketches that other ones are compared with, each by one line of the cache. Many goroutines may call
// [List.Similar] while there is no call of [List.Append].
type List struct {
	threshold float64
	most      uint32   // bits that may differ in similar min-hashes
	sketches  []Sketch // as they were appended
	lines     []uint64 // their min-hashes
	hasSets   bool     // some are sets, or zero
}

// Reset removes all sketches, and sets the least estimated Jaccard similarity of similar ones.
func (l *List) Reset(threshold float64) {
	l.threshold, l.sketches, l.lines, l.hasSets = threshold, l.sketches[:0], l.lines[:0], false
	l.most = uint32(comparedBits)
	for l.most > 0 && similarity(l.most) < threshold {
		l.most--
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

// At returns the sketch of a number, from 0.
func (l *List) At(number uint32) *Sketch { return &l.sketches[number] }

// Similar deletes the numbers whose sketches have an estimated similarity below the threshold to a sketch, and returns the
// others. The zero sketch, which stands for an unknown text, is similar to all. room is overwritten if it is large enough.
func (l *List) Similar(numbers []uint32, s *Sketch, room *[]uint32) []uint32 {
	if s.IsZero() {
		return numbers
	}
	var query Sketch
	if !s.isEmpty() {
		query = s.minHash()
	}
	*room = slices.Grow((*room)[:0], len(numbers))[:len(numbers)]
	differing := *room
	asm.Differ(differing, query[:], l.lines, numbers)
	left := numbers[:0]
	for i, n := range numbers {
		ok := differing[i] <= l.most
		if l.hasSets || s.isSet() {
			ok = l.isSimilar(n, s, ok)
		}
		if ok {
			left = append(left, n)
		}
	}
	return left
}

// isSimilar returns whether the sketch of a number is similar to another one, given whether their min-hashes are.
func (l *List) isSimilar(number uint32, s *Sketch, minHashes bool) bool {
	switch other := &l.sketches[number]; {
	case other.IsZero():
		return true
	case s.isSet() && other.isSet():
		return exact(s.set(), other.set()) >= l.threshold
	case s.isEmpty() || other.isEmpty():
		return l.threshold <= 0
	}
	return minHashes
}

// comparedBits is the number of bits of a min-hash that are compared.
const comparedBits = Bins - 1

// similarity returns the estimated similarity of two min-hashes that differ in some bits.
func similarity(differing uint32) float64 { return max(1-2*float64(differing)/comparedBits, 0) }
