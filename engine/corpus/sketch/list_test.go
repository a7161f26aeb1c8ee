package sketch

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestList checks that a list finds the sketches that Estimate accepts, sets and min-hashes, and all zero ones.
func TestList(t *testing.T) {
	var all []Sketch
	for i := range 40 {
		text := ""
		for j := range 3 + i%20 {
			text += fmt.Sprintf("w%d ", j+i/20)
		}
		all = append(all, sketchOf(t, text))
	}
	all = append(all, Sketch{})
	rapid.Check(t, func(r *rapid.T) {
		var l List
		l.Reset(0.1)
		l.Append(&all[0])
		threshold := rapid.OneOf(rapid.SampledFrom([]float64{0.5, 1}), rapid.Float64Range(0, 1)).Draw(r, "threshold")
		l.Reset(threshold)
		drawn := rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 1, 30).Draw(r, "listed")
		var numbers, want []uint32
		s := &all[rapid.IntRange(0, len(all)-1).Draw(r, "sketch")]
		for i, n := range drawn {
			l.Append(&all[n])
			numbers = append(numbers, uint32(i))
			if j, _ := Estimate(s, &all[n]); j >= threshold || *s == (Sketch{}) || all[n] == (Sketch{}) {
				want = append(want, uint32(i))
			}
		}
		var q Query
		q.Begin(&l, s)
		offset := rapid.IntRange(0, len(numbers)).Draw(r, "at") // two parts; the second one is counted from its start
		got := q.Similar(0, slices.Clone(numbers[:offset]))
		for _, n := range q.Similar(offset, slices.Clone(numbers[:len(numbers)-offset])) {
			got = append(got, n+uint32(offset))
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%v, want %v", got, want)
		}
	})
}
