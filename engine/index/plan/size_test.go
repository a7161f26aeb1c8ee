package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
	"ndd/huffman"
)

// uniformKeys are n sorted distinct random keys.
func uniformKeys(n int, seed uint64) []uint64 {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// TestBytes holds the predicted parts against tables that were built: to the
// byte for the planar layout, within half a per cent for the huffman layout.
func TestBytes(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 1000, 4095, 4097, 100_000, 500_000, 1 << 20} {
		keys := uniformKeys(n, 1)
		for _, md := range models {
			var memory store.Memory
			must.Do(t, table.Write(&memory, "", keys, table.Options{Layout: md.layout()}))
			built, err := table.Open(memory.Source(), "", md.layout())
			must.Do(t, err)
			got := make(map[string]uint64)
			for _, p := range built.Parts() {
				got[p.Name] += p.Bytes
			}
			for _, p := range md.parts(float64(n), uniformEntry(float64(n))) {
				tolerance := 0.0
				if md.layout() == table.LayoutHuffman {
					tolerance = 0.005*float64(got[p.Name]) + huffman.BlockBytesDefault
				}
				if diff := math.Abs(float64(p.Bytes) - float64(got[p.Name])); diff > tolerance {
					t.Errorf("%s, %d keys, %s: %d bytes predicted, %d built", md.layout(), n, p.Name, p.Bytes, got[p.Name])
				}
				delete(got, p.Name)
			}
			for name, bytes := range got {
				if name == "wide" && bytes < uint64(n)/1000 {
					continue
				}
				if bytes > 0 {
					t.Errorf("%s, %d keys: %d bytes of %s, which nobody predicted", md.layout(), n, bytes, name)
				}
			}
		}
	}
}

// TestPositions holds the expected positions against counted ones.
func TestPositions(t *testing.T) {
	sizes := []int{2, 1000, 300_000}
	if !long.Form() {
		sizes[2] = 30_000
	}
	for _, n := range sizes {
		var counts [huffman.Positions]float64
		const sets = 20
		for seed := range uint64(sets) {
			var c [huffman.Positions]uint64
			huffman.Count(&c, uniformKeys(n, seed))
			for h := range c {
				counts[h] += float64(c[h])
			}
		}
		total := 0.0
		for h, expected := range positions(float64(n)) {
			total += expected
			// Five standard deviations of a Poisson count, and one.
			if diff := math.Abs(counts[h] - sets*expected); n > 2 && diff > 5*math.Sqrt(sets*expected)+1 {
				t.Errorf("%d keys, position %d: %.1f expected, %.1f counted", n, h, sets*expected, counts[h])
			}
		}
		if want := float64(n) - 1; n > 2 && math.Abs(total-want) > 1e-3*want {
			t.Errorf("%d keys: %.1f positions in all, want %.1f", n, total, want)
		}
	}
}

// TestBound: no table is foretold to take less than anything exact must.
func TestBound(t *testing.T) {
	for n := uint64(1); n < 1<<40; n *= 3 {
		for _, md := range models {
			if built := table.Sum(md.parts(float64(n), uniformEntry(float64(n)))); n > 100 && built < boundBytes(n) {
				t.Errorf("%s, %d keys: %d bytes, less than the bound of %d", md.layout(), n, built, boundBytes(n))
			}
		}
	}
}
