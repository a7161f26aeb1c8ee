package asm

import "fmt"

// Differ writes to dst[i] in how many bits a row of words differs from query: row rows[i] of those that lines consists of,
// each as long as query, which must be a multiple of eight words. dst must be as long as rows, and each row
// must be there: anything else is a programmer's error and panics.
//
// A row of eight words takes some 2 ns, and a miss of the cache where it is not in one; misses of different rows do not wait
// for each other.
func Differ(dst []uint32, query, lines []uint64, rows []uint32) {
	if len(query) == 0 || len(query)%8 != 0 || len(dst) != len(rows) {
		panic(fmt.Sprintf("asm: a row of %d words, and %d results of %d rows", len(query), len(dst), len(rows)))
	}
	for _, r := range rows {
		if n := len(lines) / len(query); int(r) >= n {
			panic(fmt.Sprintf("asm: row %d of %d", r, n))
		}
	}
	raceRead(query)
	raceRead(rows)
	raceRead(lines)
	raceWrite(dst)
	for len(rows) > 0 {
		n := min(len(rows), differCall)
		differ(dst[:n], query, lines, rows[:n])
		dst, rows = dst[n:], rows[n:]
	}
}

// differCall is how many rows one call into assembly takes: some 50 microseconds where each is a miss.
const differCall = 512
