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

// A Table describes the bit order of one table and the radius of its searches.
type Table struct {
	Mask   uint64 // the bits that lead; see [New]
	Radius int    // maximum number of flips among them; 0 is the paper's exact match
}

// Finds reports whether the table finds a fingerprint that differs from the query in diff.
func (t Table) Finds(diff uint64) bool {
	return bits.OnesCount64(diff&t.Mask) <= t.Radius
}

// Leading returns the number of leading bits, the paper's p.
func (t Table) Leading() int { return bits.OnesCount64(t.Mask) }

// A Design is a set of tables that together find every fingerprint within Hamming distance K. Name, K and Seed
// determine the tables (see [ByName]). The tables are stored nevertheless, so that an index does not depend on the
// catalogue of the program that opens it. The JSON form is complete: a Design has no hidden state. Methods only read.
type Design struct {
	Name   string
	K      int
	Seed   uint64
	Tables []Table
}

// First returns the canonical table of a difference: the first table that finds it. It returns -1 if no table does,
// which a valid design excludes for at most K bits. A search reports a hit of table j only if First(diff) == j. So
// every hit is reported exactly once, without memory of earlier hits.
func (d *Design) First(diff uint64) int {
	for i := range d.Tables {
		if d.Tables[i].Finds(diff) {
			return i
		}
	}
	return -1
}

// Leading returns the smallest and the largest number of leading bits of the tables.
func (d *Design) Leading() (low, high int) {
	low = 64
	for _, t := range d.Tables {
		low = min(low, t.Leading())
		high = max(high, t.Leading())
	}
	return low, high
}

// share returns the fraction of all words whose top bits differ from a query in at most radius bits.
func share(bits, radius int) float64 {
	return math.Ldexp(float64(Ball(bits, radius)), -bits)
}
