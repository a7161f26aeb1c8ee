package asm

import "fmt"

// Differ writes to dst[i] the number of bits in which row rows[i] differs from query. lines contains rows of the
// length of query, which must be a multiple of eight words. dst must have the length of rows, and each row must
// exist; otherwise Differ panics.
//
// A row of eight words takes some 2 ns, or a cache miss. Misses of different rows overlap.
func Differ(dst []uint32, query, lines []uint64, rows []uint32) {
	if len(query) == 0 || len(query)%8 != 0 || len(dst) != len(rows) {
		panic(fmt.Sprintf("asm: a row of %d words, and %d results of %d rows", len(query), len(dst), len(rows)))
	}
	last := uint32(0)
	for _, r := range rows {
		last = max(last, r)
	}
	if n := len(lines) / len(query); len(rows) > 0 && int(last) >= n {
		panic(fmt.Sprintf("asm: row %d of %d", last, n))
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

// differCall is the maximum number of rows per call of assembly: some 50 microseconds if every row is a miss.
const differCall = 512
