package table

import (
	"cmp"

	"ndd/asm"
)

// Scan compares every key of t with every query and appends to dst those within distance k, in the
// order of the keys; the table of a match is 0. It finds what probes find, and costs less where these
// would read most of the table: one pass over it, [ScanNS], however many flips there are.
func Scan(dst []Match, t Table, queries []uint64, k int, c *Scratch) ([]Match, error) {
	if cap(c.found) == 0 {
		c.found = make([]uint32, 256)
	}
	var stopped error
	err := t.Walk(func(keys []uint64) bool {
		if stopped = c.stopped(len(dst)); stopped != nil {
			return false
		}
		for query, q := range queries {
			for rest := keys; len(rest) > 0; {
				n, done := asm.Within64(c.found, rest, q, k)
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

// ScanEach calls yield with the keys of t within distance k of one query, ascending, some at a time. The
// memory of the list is used again after the call. It ends with an error of yield, or of the context
// of c.
func ScanEach(t Table, query uint64, k int, c *Scratch, yield func(keys []uint64) error) error {
	if cap(c.found) == 0 {
		c.found = make([]uint32, 256)
	}
	var failed error
	near := make([]uint64, 0, cap(c.found))
	err := t.Walk(func(keys []uint64) bool {
		for failed = c.stopped(0); failed == nil && len(keys) > 0; {
			n, done := asm.Within64(c.found, keys, query, k)
			near = near[:0]
			for _, at := range c.found[:n] {
				near = append(near, keys[at])
			}
			if keys = keys[done:]; n > 0 {
				failed = yield(near)
			}
		}
		return failed == nil
	})
	return cmp.Or(failed, err)
}
