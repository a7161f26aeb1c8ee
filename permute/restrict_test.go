package permute

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFor compares each design restricted to every smaller distance with all error sets, bit by bit, and with the whole
// design.
func TestFor(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for k := 1; k <= 5; k++ {
		for _, d := range Catalogue(k, 1) {
			if len(d.Tables) > 60 {
				continue // the tests of Validate cover the proofs of all restrictions
			}
			for lower := range k + 1 {
				part := d.For(lower)
				if len(part.Tables) != len(d.Tables) || part.K != lower {
					t.Fatalf("%s for %d: %d tables, k = %d", d.Name, lower, len(part.Tables), part.K)
				}
				for i, p := range part.Tables {
					if p.Mask != d.Tables[i].Mask || p.Radius > d.Tables[i].Radius {
						t.Fatalf("%s for %d: table %d is %+v of %+v", d.Name, lower, i, p, d.Tables[i])
					}
				}
				for i := range part.Tables {
					less := part
					less.Tables = slices.Clone(part.Tables)
					if less.Tables[i].Radius--; part.Tables[i].Radius >= 0 && lower < k && less.prove() == nil {
						t.Errorf("%s for %d: table %d has a radius of %d, less will do", d.Name, lower, i, part.Tables[i].Radius)
					}
				}
				if missed, found := firstMissed(&part, min(lower, 2)); found {
					t.Fatalf("%s for %d: no table finds %#x", d.Name, lower, missed)
				}
				for range 2000 {
					if e := someBits(rng, lower); part.First(e) < 0 {
						t.Fatalf("%s for %d: no table finds %#x", d.Name, lower, e)
					}
				}
			}
			if used := slices.DeleteFunc(d.For(0).Tables, func(t Table) bool { return t.Radius < 0 }); len(used) != 1 {
				t.Errorf("%s for 0 uses %d tables, one does", d.Name, len(used))
			}
		}
	}
}
