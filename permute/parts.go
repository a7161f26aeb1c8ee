package permute

import "fmt"

// partNames are the names of m disjoint parts, at index m-1.
var partNames = []string{
	"one", "halves", "thirds", "quarters", "fifths", "sixths", "sevenths", "eighths", "ninths",
}

// parts returns the design of m disjoint parts, each leading in one table. By the general pigeonhole principle (Qin
// et al., "GPH: Similarity Search in Hamming Space", ICDE 2018) the radii only need to sum to k-m+1. If every part
// had more errors than its radius, there would be at least (k-m+1) + m = k+1 errors. That can save up to m-1 compared
// with m radii of floor(k/m). The radii differ by at most one, the larger ones first. A part with a larger radius
// gets more bits, to minimise the candidates. Its name is the name of the part: halves, thirds, ...; one for m = 1.
func parts(m, k int, seed uint64) (Design, error) {
	if m < 1 || m > len(partNames) {
		return Design{}, fmt.Errorf("design of %d parts: want 1 to %d", m, len(partNames))
	}
	name := partNames[m-1]
	if k < m-1 || k > MaxK {
		return Design{}, fmt.Errorf("design %s: supports k = %d to %d, not %d", name, m-1, MaxK, k)
	}
	radii := even(k-m+1, m)
	d := Design{Name: name, K: k, Seed: seed}
	for i, radius := range radii {
		d.Tables = append(d.Tables, Table{1 << i, radius})
	}
	for i, mask := range spread(balance(d.Tables), seed) {
		d.Tables[i].Mask = mask
	}
	return d, nil
}
