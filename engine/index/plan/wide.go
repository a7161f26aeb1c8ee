package plan

import (
	"ndd/asm"
	"ndd/engine/index/succinct"
	"ndd/engine/index/table"
)

// wideSeen is how many keys of a sample on one line show that the line has its share of all keys.
const wideSeen = 4

// wideBytes returns what the wide lines of a planar table under a mask take, of n keys like those of the sample: lines with more
// keys than fit beside their buckets. Uniform keys have next to none. Lines of which the sample has wideSeen keys or more have
// their share of the n; how many keys share a line with one of the others is told from the share of pairs that do.
func (s *Sample) wideBytes(mask uint64, n float64) uint64 {
	b, perLine := table.PlanarWidths(uint64(n))
	most := float64(asm.PlanarLineBits - perLine) // keys of a line that is not wide
	keys := s.under(mask)
	each := n / float64(len(keys)) // keys that one of the sample stands for
	var lines, widest, others float64
	line := func(i int) uint64 { return keys[i] >> (64 - b) / perLine }
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && line(to) == line(from) {
			to++
		}
		switch held := float64(to-from) * each; {
		case to-from < wideSeen:
			others += held
		case held > most:
			lines++
			widest = max(widest, held)
		}
		from = to
	}
	if together := 1 + n*s.lineShare(keys, b, perLine); others > 0 && together > most {
		lines += others / together
		widest = max(widest, together)
	}
	width := succinct.WidthFor(uint64(widest))
	return 8 * succinct.WordsFor(uint64(lines)*perLine, width)
}

// lineShare returns the chance that two keys are on one line, as far as the sample shows it: of those in lines that it shows few
// keys of.
func (s *Sample) lineShare(keys []uint64, bucketBits uint, perLine uint64) float64 {
	leading := int(bucketBits) - succinct.WidthFor(perLine) + 1
	e := estimate{keys: keys}
	share, _ := e.exactShare(max(leading, 1))
	return share
}
