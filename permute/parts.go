package permute

import "fmt"

// partNames are the words for disjoint parts, by their number less one.
var partNames = []string{
	"one", "halves", "thirds", "quarters", "fifths", "sixths", "sevenths", "eighths", "ninths",
}

// parts returns the radius design of m disjoint parts, each leading in one table. By the general pigeonhole
// principle (Qin et al., "GPH: Similarity Search in Hamming Space", ICDE 2018) it is enough that the
// radii sum to k-m+1: if every part had more errors than its radius, there would be at least
// (k-m+1) + m = k+1 errors. That is m-1 less than the sum of m radii of floor(k/m) may be. The radii
// are as even as can be, the larger ones first, and a part with a larger radius gets more bits, so
// that the candidates are fewest. Its name is that of the part: halves, thirds, ...; one for m = 1.
func parts(m, k int, seed uint64) (Design, error) {
	if m < 1 || m > len(partNames) {
		return Design{}, fmt.Errorf("design of %d parts: want 1 to %d", m, len(partNames))
	}
	name := partNames[m-1]
	if k < m-1 || k > MaxK {
		return Design{}, fmt.Errorf("design %s: serves k = %d to %d, not %d", name, m-1, MaxK, k)
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

// weave returns the radius design of overlapping parts: m blocks, and in table i the blocks i, i+1, ...,
// i+lead-1 (modulo m), so each bit leads in lead of the m tables. At most k errors are counted at
// most k*lead times in all, so by the pigeonhole principle, as in parts, it is enough that the radii
// sum to k*lead-m+1. More tables than parts for the same leading bits, but a smaller radius: fewer
// probes. Its name is weave-M-LEAD.
func weave(m, lead, k int, seed uint64) (Design, error) {
	name := fmt.Sprintf("weave-%d-%d", m, lead)
	if lead < 2 || lead >= m || m > 64 {
		return Design{}, fmt.Errorf("design %s: want 2 to m-1 of at most 64 blocks to lead", name)
	}
	spare := k*lead - m + 1
	if k < 0 || k > MaxK || spare < 0 {
		return Design{}, fmt.Errorf("design %s: serves k = %d to %d, not %d", name, (m-1+lead-1)/lead, MaxK, k)
	}
	radii := even(spare, m)
	blocks := spread(even(64, m), seed)
	d := Design{Name: name, K: k, Seed: seed}
	for i, radius := range radii {
		t := Table{Radius: min(radius, k)}
		for j := range lead {
			t.Mask |= blocks[(i+j)%m]
		}
		d.Tables = append(d.Tables, t)
	}
	return d, nil
}
