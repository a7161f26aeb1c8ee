package table

import (
	"example.org/ndd/asm"
)

// Scan compares every key of t with every query. It appends the keys within distance k to dst, in order of the keys,
// with table 0. It finds the same matches as probes. It makes one pass, which takes [ScanNS] for any number of flips.
// So it is faster if probes would read most of the table.
func Scan(dst []Match, t Table, queries []uint64, k int, c *Scratch) ([]Match, error) {
	var stopped error
	err := t.WalkPart(0, 1, 1, func(_ uint64, keys []uint64) bool {
		if stopped = c.stopped(len(dst)); stopped != nil {
			return false
		}
		for query, q := range queries {
			for remaining := keys; len(remaining) > 0; {
				n, done := asm.Within64(c.found[:], remaining, q, k)
				for _, i := range c.found[:n] {
					dst = append(dst, Match{Query: query, Key: remaining[i]})
				}
				remaining = remaining[done:]
			}
		}
		return true
	})
	if stopped != nil {
		err = stopped
	}
	return dst, err
}
