package permute

import (
	"math"
	"math/bits"
)

const (
	// MaxK is the largest Hamming distance a design may promise.
	MaxK = 8
	// MaxTables is the largest number of tables a design may have.
	MaxTables = 1024
)

// Table says how one table is ordered and how far around a query it is searched.
type Table struct {
	Mask   uint64 // the bits that lead; see [New]
	Radius int    // flips to allow among them: 0 is the paper's exact match on the leading bits
}

// Finds reports whether the table finds a fingerprint that differs from the query in diff.
func (t Table) Finds(diff uint64) bool {
	return bits.OnesCount64(diff&t.Mask) <= t.Radius
}

// Leading returns the number of leading bits, the paper's p.
func (t Table) Leading() int { return bits.OnesCount64(t.Mask) }

// Design is a set of tables that together find everything within Hamming distance K. Name, K and
// Seed make the same tables again (see [Named]); the tables are stored all the same, so that an
// index does not depend on the catalogue of the program that opens it. It has no hidden state: its
// JSON form is the whole of it. Methods only read.
type Design struct {
	Name   string
	K      int
	Seed   uint64
	Tables []Table
}

// First returns the canonical table of a difference: the first in order that finds it, -1 if none does
// (never, in a valid design, for at most K bits). A hit found in table j is reported if and only if
// First(diff) == j, so every hit is reported exactly once without remembering any.
func (d *Design) First(diff uint64) int {
	for i := range d.Tables {
		if d.Tables[i].Finds(diff) {
			return i
		}
	}
	return -1
}

// Leading returns the smallest and the largest number of leading bits of the tables.
func (d *Design) Leading() (least, most int) {
	least = 64
	for _, t := range d.Tables {
		least = min(least, t.Leading())
		most = max(most, t.Leading())
	}
	return least, most
}

// share returns the part of all words that agree with a query, but for radius flips, in their top bits.
func share(bits, radius int) float64 {
	return math.Ldexp(float64(Ball(bits, radius)), -bits)
}
