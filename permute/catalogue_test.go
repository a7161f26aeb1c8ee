package permute

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// candidates returns all designs for k that ByName can make and that do not have too many tables. If costs are equal,
// the earlier one is chosen.
func candidates(t *testing.T, k int) []Design {
	t.Helper()
	var list []Design
	try := func(name string) {
		if d, err := ByName(name, k, 1); err == nil && len(d.Tables) <= 64 {
			list = append(list, d)
		}
	}
	if k == 3 {
		for _, name := range []string{"paper-4", "paper-10", "paper-16", "paper-20"} {
			try(name)
		}
	}
	for _, name := range partNames {
		try(name)
	}
	for m := k + 2; m <= k+8; m++ {
		try(fmt.Sprintf("choose-%d-%d", m, m-k))
	}
	for _, s := range append(slices.Clone(coverings), mixed...) {
		if s.k == k {
			try(s.name)
		}
	}
	slices.SortStableFunc(list, func(a, b Design) int { return len(a.Tables) - len(b.Tables) })
	return list
}

// worthwhile selects designs that are the cheapest with their number of tables, and at least 15 % cheaper than all
// designs with fewer tables, for at least two numbers of bucket bits.
func worthwhile(list []Design) (names []string) {
	wins := make([]int, len(list))
	for bucketBits := 8; bucketBits <= 32; bucketBits++ {
		smaller := math.Inf(1)
		for from := 0; from < len(list); {
			best, minimum := -1, math.Inf(1)
			i := from
			for ; i < len(list) && len(list[i].Tables) == len(list[from].Tables); i++ {
				probes := float64(probesOf(&list[i], bucketBits))
				cost := probes + (bucketsOf(&list[i], bucketBits)-probes)/4
				if cost < 0.99*minimum {
					best, minimum = i, cost
				}
			}
			if minimum < 0.85*smaller {
				wins[best]++
				smaller = minimum
			}
			from = i
		}
	}
	for i, n := range wins {
		if n >= 2 {
			names = append(names, list[i].Name)
		}
	}
	return names
}

func TestCatalogueIsWorthwhile(t *testing.T) {
	for k := 0; k <= MaxK; k++ {
		var got []string
		exact, list := false, Catalogue(k, 1)
		for _, d := range list {
			got = append(got, d.Name)
			exact = exact || !slices.ContainsFunc(d.Tables, func(t Table) bool { return t.Radius > 0 })
		}
		if want := worthwhile(candidates(t, k)); !slices.Equal(got, want) {
			t.Errorf("k = %d: the catalogue has\n%s\nwant\n%s", k, strings.Join(got, " "), strings.Join(want, " "))
		}
		if !exact || len(list[0].Tables) != 1 {
			t.Errorf("k = %d: the catalogue has no design of radius 0, or none of one table", k)
		}
	}
	if Catalogue(-1, 1) != nil || Catalogue(MaxK+1, 1) != nil {
		t.Error("a catalogue for an impossible k")
	}
}

// TestSeeds checks that the seed chooses bits, and does not change costs.
func TestSeeds(t *testing.T) {
	for k := 0; k <= MaxK; k++ {
		a, b := Catalogue(k, 1), Catalogue(k, 2)
		for i := range a {
			same := 0
			for j := range a[i].Tables {
				if a[i].Tables[j].Leading() != b[i].Tables[j].Leading() || a[i].Tables[j].Radius != b[i].Tables[j].Radius {
					t.Errorf("%s, k = %d, table %d: seeds change its size", a[i].Name, k, j)
				}
				if a[i].Tables[j].Mask == b[i].Tables[j].Mask {
					same++
				}
			}
			if same > 0 && a[i].Name != "one" {
				t.Errorf("%s, k = %d: %d masks are the same for two seeds", a[i].Name, k, same)
			}
		}
	}
}

// TestMasksNeverChange checks that the masks of a name and seed never change. Another program made these masks from
// the description of spread.
func TestMasksNeverChange(t *testing.T) {
	for _, c := range []struct {
		name       string
		seed, mask uint64
	}{
		{"halves", 0, 0xffffffff00000000},
		{"halves", 1, 0x8b6ee2c850a9dbe1},
		{"halves", 2, 0x5f9904f3f35c0f20},
		{"halves", 1 << 63, 0x9ac990b8bac758b6},
		{"paper-16", 0, 0xfffffff << 36},
	} {
		d, err := ByName(c.name, 3, c.seed)
		must.Do(t, err)
		if d.Tables[0].Mask != c.mask || c.name == "halves" && d.Tables[1].Mask != ^c.mask {
			t.Errorf("%s, seed %d: lead with %#x and %#x, want %#x", c.name, c.seed, d.Tables[0].Mask, d.Tables[1].Mask, c.mask)
		}
	}
}

// A query against two tables, each simply sorted: all within k = 3 of 0x0123456789abcdef.
func Example() {
	stored := []uint64{0x0123456789abcdef, 0x0123456789abcde8, 0x8123056789abcdef, 0x0123456789ab0000}
	const query, k = 0x0123456789abcdef, 3
	design, err := ByName("halves", k, 1)
	if err != nil {
		panic(err)
	}
	for number, table := range design.Tables {
		p := New(table.Mask)
		sorted := make([]uint64, len(stored))
		for i, x := range stored {
			sorted[i] = p.Apply(x)
		}
		slices.Sort(sorted)

		top := ^uint64(0) << (64 - table.Leading())
		for flips := range Flips(table.Leading(), table.Radius).All() {
			from := (p.Apply(query) ^ flips) & top
			pos, _ := slices.BinarySearch(sorted, from)
			for ; pos < len(sorted) && sorted[pos]&top == from; pos++ {
				diff := p.Invert(sorted[pos]) ^ query
				if bits.OnesCount64(diff) <= k && design.First(diff) == number {
					fmt.Printf("%#016x differs in %d bits\n", query^diff, bits.OnesCount64(diff))
				}
			}
		}
	}
	// Unordered output:
	// 0x0123456789abcdef differs in 0 bits
	// 0x0123456789abcde8 differs in 3 bits
	// 0x8123056789abcdef differs in 2 bits
}
