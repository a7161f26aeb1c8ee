package table

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
)

// packed returns the sections of the table that a builder makes from keys in pieces of random lengths, in random order,
// by two goroutines. Each piece is packed in place.
func packed(t *testing.T, keys []uint64, rng *rand.Rand, threads int) recorder {
	t.Helper()
	b, err := NewPlanarBuilder(uint64(len(keys)))
	must.Do(t, err)
	defer b.Free()
	memory := slices.Clone(keys)
	type piece struct{ from, to int }
	var pieces []piece
	for pos := 0; pos < len(keys); {
		n := min(len(keys)-pos, 1+rng.IntN(1<<rng.IntN(15)))
		pieces = append(pieces, piece{pos, pos + n})
		pos += n
	}
	rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	var wait sync.WaitGroup
	for half := range 2 {
		wait.Go(func() {
			for i := half; i < len(pieces); i += 2 {
				p := pieces[i]
				b.Pack(uint64(p.from), keys[p.from:p.to], memory[p.from:p.to])
			}
		})
	}
	wait.Wait()
	var r recorder
	must.Do(t, b.Write(&r, "", threads))
	return r
}

// TestPlanarBuilder checks that a table built piece by piece equals the table of all keys at once, byte for byte.
func TestPlanarBuilder(t *testing.T) {
	inputs := append(skewed(60_000), sets.All(3000, 0, 3, 5)...)
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1023, 1024, 1025, 300_000} {
		inputs = append(inputs, sets.Set{Name: fmt.Sprintf("uniform %d", n), Base: sets.Uniform(n, 1)})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, set := range inputs {
		t.Run(set.Name, func(t *testing.T) {
			keys := distinct(set.Base)
			want := recorded(t, "", keys, Options{Layout: LayoutPlanar})
			for _, threads := range []int{1, 4} {
				if got := packed(t, keys, rng, threads); !reflect.DeepEqual(got, want) {
					t.Errorf("%d threads: other sections", threads)
				}
			}
		})
	}
}

// TestPlanarBuilderMisuse checks that the builder panics unless it gets all keys in ascending order.
func TestPlanarBuilderMisuse(t *testing.T) {
	for name, misuse := range map[string]func(b *PlanarBuilder, m *sections.Memory){
		"missing": func(b *PlanarBuilder, m *sections.Memory) {
			b.Pack(0, []uint64{1}, make([]uint64, 1))
			b.Write(m, "", 1)
		},
		"a gap": func(b *PlanarBuilder, m *sections.Memory) {
			b.Pack(1, []uint64{1}, make([]uint64, 1))
			b.Write(m, "", 1)
		},
		"descending": func(b *PlanarBuilder, _ *sections.Memory) { b.Pack(0, []uint64{2, 1}, make([]uint64, 2)) },
		"equal":      func(b *PlanarBuilder, _ *sections.Memory) { b.Pack(0, []uint64{2, 2}, make([]uint64, 2)) },
		"descending from piece to piece": func(_ *PlanarBuilder, m *sections.Memory) {
			keys := sets.Generate(8193, func(i int) uint64 { return uint64(i+1) % 8193 })
			Write(m, "", keys, Options{Layout: LayoutPlanar})
		},
		"too many": func(b *PlanarBuilder, _ *sections.Memory) { b.Pack(1, []uint64{2, 3}, make([]uint64, 2)) },
		"no room":  func(b *PlanarBuilder, _ *sections.Memory) { b.Pack(0, []uint64{2, 3}, make([]uint64, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			b, err := NewPlanarBuilder(2)
			must.Do(t, err)
			defer b.Free()
			must.Panic(t, name, func() { misuse(b, new(sections.Memory)) })
		})
	}
}
