package permute

import (
	"errors"
	"flag"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bitErrors limits the size of the error sets that the tests try bit by bit: 3 takes half a second, 5 some seconds, 7
// some minutes (go test ./permute -run OnBits -errors 7 -timeout 1h).
var bitErrors = flag.Int("errors", 3, "prove designs on all sets of so many of the 64 bits")

func TestCatalogueIsValid(t *testing.T) {
	for _, seed := range []uint64{0, 1, 0xfeedfacecafebeef} {
		everyDesign(t, seed, func(t *testing.T, d Design) {
			if err := d.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCatalogueIsValidOnBits tests single bits, because the proof uses blocks. Sets of fewer errors are subsets of the
// tested ones.
func TestCatalogueIsValidOnBits(t *testing.T) {
	everyDesign(t, 2007, func(t *testing.T, d Design) {
		if missed, found := firstMissed(&d, min(d.K, *bitErrors)); found {
			t.Errorf("%s, k = %d: misses %#x", d.Name, d.K, missed)
		}
	})
}

// firstMissed tries all sets of n bits.
func firstMissed(d *Design, n int) (uint64, bool) {
	if n == 0 {
		return 0, d.First(0) < 0
	}
	set := ^uint64(0) >> (64 - uint(n))
	for {
		if d.First(set) < 0 {
			return set, true
		}
		low := set & -set
		carried, overflow := bits.Add64(set, low, 0)
		if overflow == 1 {
			return 0, false
		}
		set = carried | (set^carried)>>2>>bits.TrailingZeros64(low)
	}
}

func TestProofAgreesWithBruteForce(t *testing.T) {
	const seed = 31
	random := rand.New(rand.NewPCG(seed, 0))
	valid, invalid := 0, 0
	for range 400 {
		d := randomDesign(random)
		missed, want := firstMissed(&d, d.K)
		err := d.Validate()
		var gap *Gap
		switch {
		case err == nil && !want:
			valid++
		case errors.As(err, &gap) && want:
			invalid++
			checkGap(t, &d, gap)
		default:
			t.Fatalf("seed %d: Validate says %v, brute force finds %v: %#x\n%+v", seed, err, want, missed, d)
		}
	}
	if valid < 40 || invalid < 40 {
		t.Errorf("%d valid and %d invalid designs: too few of one kind to say", valid, invalid)
	}
}

// randomDesign changes a valid design of bits a little. The result may be invalid.
func randomDesign(random *rand.Rand) Design {
	k := 1 + random.IntN(3)
	list := Catalogue(k, random.Uint64())
	d := list[random.IntN(len(list))]
	for range random.IntN(4) {
		i := random.IntN(len(d.Tables))
		table := &d.Tables[i]
		switch random.IntN(5) {
		case 0:
			table.Mask |= someBits(random, 1+random.IntN(2))
		case 1:
			if less := table.Mask &^ someBits(random, 20); less != 0 {
				table.Mask = less
			}
		case 2:
			table.Radius = min(table.Radius+1, k)
		case 3:
			table.Radius = max(table.Radius-1, 0)
		case 4:
			extra := Table{random.Uint64() & random.Uint64() & random.Uint64(), random.IntN(k + 1)}
			d.Tables = append(d.Tables, extra)
		}
	}
	return d
}

func checkGap(t *testing.T, d *Design, gap *Gap) {
	t.Helper()
	if n := bits.OnesCount64(gap.Errors); n > d.K || d.First(gap.Errors) != -1 {
		t.Errorf("%s, k = %d: the gap %#x has %d bits and First = %d", d.Name, d.K, gap.Errors, n, d.First(gap.Errors))
	}
}

// TestProofMissesWhatMutationsRemove checks that no table of the catalogue's designs can be removed, and no radius can
// be smaller. The proof shows a counterexample.
func TestProofMissesWhatMutationsRemove(t *testing.T) {
	everyDesign(t, 77, func(t *testing.T, d Design) {
		if extra, err := ByName(d.Name, d.K+1, d.Seed); err == nil && slices.Equal(extra.Tables, d.Tables) {
			return // it is valid for a larger k, and has more tables than this one needs
		}
		fails := func(name string, i int, m Design) {
			var gap *Gap
			err := m.Validate()
			if len(m.Tables) == 0 && err != nil {
				return
			}
			if !errors.As(err, &gap) {
				t.Errorf("%s, k = %d: %s table %d: Validate says %v", d.Name, d.K, name, i, err)
				return
			}
			checkGap(t, &m, gap)
		}
		for i, table := range d.Tables {
			m := d
			m.Tables = append(append([]Table(nil), d.Tables[:i]...), d.Tables[i+1:]...)
			if table.Finds(^uint64(0)) {
				continue
			}
			fails("without", i, m)
			m.Tables = append([]Table(nil), d.Tables...)
			if table.Radius > 0 {
				m.Tables[i].Radius--
				fails("smaller radius in", i, m)
			}
			// A table with a too large mask finds no relevant difference.
			m.Tables[i] = Table{^uint64(0), 0}
			if d.K > 0 {
				fails("all bits in", i, m)
			}
		}
	})
}

func TestProofGivesUpOnHostileDesigns(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	d := Design{Name: "hostile", K: MaxK}
	for range MaxTables {
		d.Tables = append(d.Tables, Table{Mask: someBits(random, 14)})
	}
	if err := d.Validate(); !errors.Is(err, ErrUnproven) {
		t.Errorf("Validate says %v, want %v", err, ErrUnproven)
	}
	// After the budget is used up, the proof examines nothing more at any level.
	p := newProof(&d)
	p.search(^uint64(0)>>(64-uint(len(p.blocks))), d.K)
	if over := -p.budget; over <= 0 || over > len(d.Tables) {
		t.Errorf("%d tables were looked at beyond the budget", over)
	}
}

func TestFormIsChecked(t *testing.T) {
	good := []Table{{0xffffffff, 1}, {0xffffffff << 32, 1}}
	for want, d := range map[string]Design{
		"name":              {Name: "Halves\x1b[0m", K: 3, Tables: good},
		`name ""`:           {K: 3, Tables: good},
		"k = -1":            {Name: "halves", K: -1, Tables: good},
		"k = 9":             {Name: "halves", K: 9, Tables: good},
		"0 tables":          {Name: "halves", K: 3},
		"1025 tables":       {Name: "halves", K: 3, Tables: make([]Table, 1025)},
		"table 1: radius 4": {Name: "halves", K: 3, Tables: []Table{{1, 1}, {2, 4}}},
		"radius -1":         {Name: "halves", K: 3, Tables: []Table{{1, -1}}},
		"table 0: empty":    {Name: "halves", K: 3, Tables: []Table{{0, 1}}},
		"is that of table":  {Name: "halves", K: 3, Tables: []Table{{1, 1}, {2, 1}, {1, 0}}},
	} {
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
