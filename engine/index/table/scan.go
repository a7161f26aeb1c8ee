package table

import (
	"ndd/asm"
)

// Scan compares every key of t with every query and appends to dst those within distance k, in the
// order of the keys; the table of a match is 0. It finds what probes find, and costs less where these
// would read most of the table: one pass over it, [ScanNS], however many flips there are.
func Scan(dst []Match, t Table, queries []uint64, k int, c *Scratch) ([]Match, error) {
	var stopped error
	err := t.WalkPart(0, 1, 1, func(_ uint64, keys []uint64) bool {
		if stopped = c.stopped(len(dst)); stopped != nil {
			return false
		}
		for query, q := range queries {
			for rest := keys; len(rest) > 0; {
				n, done := asm.Within64(c.found[:], rest, q, k)
				for _, at := range c.found[:n] {
					dst = append(dst, Match{Query: query, Key: rest[at]})
				}
				rest = rest[done:]
			}
		}
		return true
	})
	if stopped != nil {
		err = stopped
	}
	return dst, err
}
