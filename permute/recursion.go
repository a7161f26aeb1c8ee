package permute

// A Split is the paper's minimum number of tables, given a bound on the keys that a probe compares (section 3.1.2).
type Split struct {
	Tables int
	Blocks []int // number of blocks at each level of the recursion; empty if one table is enough
	Low    int   // minimum number of leading bits of a table
}

// Recursion returns the paper's X(f, k, d): the minimum number of tables of any recursive division of f bits into
// blocks. A probe of 2^d fingerprints must compare fewer than 2^tau of them:
//
//	X(f, k, d) = 1                                                     if d < tau
//	X(f, k, d) = min over r > k of C(r, k) X(fk/r, k, d - (r - k)f/r)  otherwise
//
// Here, blocks have whole bits. Of r blocks of f bits, some are one bit longer, and the r - k shortest ones count. If
// there is no solution, the Split has no tables.
func Recursion(f, k, d, tau int) Split {
	type state struct{ f, d int }
	known := map[state]Split{}
	var solve func(f, d int) Split
	solve = func(f, d int) Split {
		if d < tau {
			return Split{Tables: 1}
		}
		best, seen := known[state{f, d}]
		if seen {
			return best
		}
		for r := k + 1; r <= f; r++ {
			low := shortestLength(f, r, r-k)
			split := solve(f-low, d-low)
			if tables := int(Binomial(r, k)) * split.Tables; tables > 0 && (best.Tables == 0 || tables < best.Tables) {
				best = Split{tables, append([]int{r}, split.Blocks...), low + split.Low}
			}
		}
		known[state{f, d}] = best
		return best
	}
	return solve(f, d)
}

// shortestLength returns the number of bits in the n shortest of r blocks that divide f bits evenly.
func shortestLength(f, r, n int) int { return n*(f/r) + max(0, n-(r-f%r)) }
