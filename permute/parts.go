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

// weave returns the design of overlapping parts: m blocks, where table i has the blocks i, i+1, ..., i+lead-1 (modulo
// m). So each bit leads in lead of the m tables, and at most k errors are counted at most k*lead times. By the same
// pigeonhole principle as in parts, the radii only need to sum to k*lead-m+1. For the same number of leading bits it
// has more tables than parts, but smaller radii, so fewer probes. Its name is weave-M-LEAD.
func weave(m, lead, k int, seed uint64) (Design, error) {
	name := fmt.Sprintf("weave-%d-%d", m, lead)
	if lead < 2 || lead >= m || m > 64 {
		return Design{}, fmt.Errorf("design %s: want 2 to m-1 of at most 64 blocks to lead", name)
	}
	extra := k*lead - m + 1
	if k < 0 || k > MaxK || extra < 0 {
		return Design{}, fmt.Errorf("design %s: supports k = %d to %d, not %d", name, (m-1+lead-1)/lead, MaxK, k)
	}
	radii := even(extra, m)
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
