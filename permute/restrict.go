package permute

import "slices"

// For returns the cheapest part of the design that is valid for a smaller distance
// k: radii lowered together as far as they go, then tables left out, last
// first, where the others do without them, then single radii lowered, the
// largest first. Nothing of it can be spared. A table that is left out keeps its
// place with radius -1, which no difference satisfies. It panics unless
// 0 <= k <= d.K.
//
// For k = 1, two of paper-10's tables do (no single error touches both), and
// the halves of k = 3 need no flips.
func (d *Design) For(k int) Design {
	if k < 0 || k > d.K {
		panic("permute: k is not within the design's")
	}
	part := *d
	part.K = k
	if k == d.K {
		return part
	}
	part.Tables = slices.Clone(d.Tables)
	for {
		lower := part
		lower.Tables = slices.Clone(part.Tables)
		any := false
		for i := range lower.Tables {
			if lower.Tables[i].Radius > 0 {
				lower.Tables[i].Radius--
				any = true
			}
		}
		if !any || lower.prove() != nil {
			break
		}
		part = lower
	}
	for i := len(part.Tables) - 1; i >= 0; i-- {
		radius := part.Tables[i].Radius
		if part.Tables[i].Radius = -1; part.prove() != nil {
			part.Tables[i].Radius = radius
		}
	}
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
