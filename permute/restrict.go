package permute

import "slices"

// For returns the cheapest part of the design that is valid for a smaller distance k. It lowers all radii together as
// far as possible. Then it removes tables that are not needed, the last ones first. Then it lowers single radii, the
// largest first. Nothing more can be removed from the result. A removed table stays in the list with radius -1, which
// finds no difference. For panics unless 0 <= k <= d.K.
//
// For k = 1, two tables of paper-10 are enough, because no single error is in both masks. The halves of k = 3 need no
// flips.
func (d *Design) For(k int) Design {
	if k < 0 || k > d.K {
		panic("permute: k is not within the design's")
	}
	part := *d
	part.K = k
	if k == d.K {
		return part
	}
	// Lower all radii together.
	part.Tables = slices.Clone(d.Tables)
	for {
		lower := part
		lower.Tables = slices.Clone(part.Tables)
		ok := false
		for i := range lower.Tables {
			if lower.Tables[i].Radius > 0 {
				lower.Tables[i].Radius--
				ok = true
			}
		}
		if !ok || lower.prove() != nil {
			break
		}
		part = lower
	}
	// Remove tables, the last ones first.
	for i := len(part.Tables) - 1; i >= 0; i-- {
		radius := part.Tables[i].Radius
		if part.Tables[i].Radius = -1; part.prove() != nil {
			part.Tables[i].Radius = radius
		}
	}
	// Lower single radii, the largest ones first.
	for radius := d.K; radius > 0; radius-- {
		for i := range part.Tables {
			t := &part.Tables[i]
			if t.Radius != radius {
				continue
			}
			if t.Radius--; part.prove() != nil {
				t.Radius++
			}
		}
	}
	return part
}
