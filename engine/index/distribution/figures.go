package distribution

import (
	"io"
	"math/bits"

	"example.org/ndd/engine/plot"
)

// FigureNames are the names of the files that [Figures] returns.
var FigureNames = []string{"figure-2a.svg", "figure-2b.svg"}

// LeadingOnes counts, for each bit, the pairs of successive sorted fingerprints whose XOR has its leading 1-bit there
// (section 4.2 of the paper). Equal fingerprints do not count. For n random fingerprints the maximum is at bit 64 -
// log2 n, and the count halves with each bit of distance. Near-duplicates add pairs at lower bits.
func LeadingOnes(sorted []uint64) (counts [64]uint64) {
	for i := 1; i < len(sorted); i++ {
		if x := sorted[i-1] ^ sorted[i]; x != 0 {
			counts[bits.Len64(x)-1]++
		}
	}
	return counts
}

// Figures draws figures 2a and 2b of the paper, by [FigureNames]. name is the name of the set of fingerprints.
func Figures(name string, c *Counts, leading [64]uint64) map[string]io.WriterTo {
	pairs := uint64(0)
	for _, n := range leading {
		pairs += n
	}
	a := &plot.Chart{Title: "Figure 2a, leading 1-bit of the XOR of successive sorted fingerprints: " + name,
		X: "bit position of the leading 1-bit", Y: "share of the pairs", Series: make([]plot.Series, 1)}
	b := &plot.Chart{Title: "Figure 2b, fingerprints in 128 buckets of equal size: " + name,
		X: "bucket, by the leading 7 bits", Y: "ratio to an equal share", Line: 1, Series: make([]plot.Series, 1)}
	for _, n := range leading {
		a.Series[0].Values = append(a.Series[0].Values, float64(n)/float64(max(pairs, 1)))
	}
	for i := range Intervals {
		b.Series[0].Values = append(b.Series[0].Values, c.Share(i))
	}
	return map[string]io.WriterTo{"figure-2a.svg": a, "figure-2b.svg": b}
}
