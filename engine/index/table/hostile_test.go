package table

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/oracle"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// recorder keeps sections in order, to be changed and read again.
type recorder struct {
	names []string
	data  [][]byte
}

func (r *recorder) Section(name string) {
	r.names = append(r.names, name)
	r.data = append(r.data, nil)
}

func (r *recorder) Write(p []byte) (int, error) {
	last := len(r.data) - 1
	r.data[last] = append(r.data[last], p...)
	return len(p), nil
}

// source is what was recorded, as a file would give it.
func (r *recorder) source() store.Source {
	var m store.Memory
	for i, name := range r.names {
		m.Section(name)
		m.Write(r.data[i])
	}
	return m.Source()
}

// exercise does everything that a table can do; the only errors are those of
// corrupt content.
func exercise(t testing.TB, source store.Source, layout Layout, queries []uint64) {
	t.Helper()
	sound := func(err error) {
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Fatalf("%v: an error that is not about corrupt content: %v", layout, err)
		}
	}
	tab, err := Open(source, "", layout)
	if err != nil {
		sound(err)
		return
	}
	var c Scratch
	for _, leading := range []int{0, tab.Probing(24, 1, 3).Leading, 40} {
		s := &Search{Queries: queries, Leading: leading, Flips: permute.Flips(leading, 1), K: 3}
		if leading == 0 {
			s.Queries = s.Queries[:1]
		}
		matches, err := search(tab, s, &c)
		sound(err)
		for _, m := range matches {
			if d := m.Key ^ s.Queries[m.Query]; !slices.Contains(slices.Collect(s.Flips.All()), d&leadingMask(leading)) {
				t.Fatalf("%v: match %#x of query %#x is not what a probe asked for", layout, m.Key, s.Queries[m.Query])
			}
		}
	}
	for _, q := range queries {
		_, err := rankOf(tab, q, &c)
		sound(err)
	}
	seen := uint64(0)
	sound(walk(tab, func(keys []uint64) bool { seen += uint64(len(keys)); return seen < 1<<20 }))
}

// hostileTables are small tables of both layouts, narrow and wide.
func hostileTables(t testing.TB) (all []*recorder, of []Layout, queries []uint64) {
	for i, set := range sets.All(900, 6, 3, 11) {
		if i%3 > 0 && set.Name != "two ends" {
			continue
		}
		queries = append(queries[:0], set.Queries...)
		for _, o := range []Options{{Layout: LayoutPlanar}, {Layout: LayoutHuffman, BlockBytes: 128}} {
			r := &recorder{}
			must.Do(t, Write(r, "", distinct(set.Base), o))
			all, of = append(all, r), append(of, o.Layout)
		}
	}
	return all, of, queries
}

// Bytes changed anywhere, sections cut and extended: an error or an answer, on
// every backend, and never more than a probe asked for.
func TestHostile(t *testing.T) {
	all, of, queries := hostileTables(t)
	queries = queries[:min(6, len(queries))]
	queries = append(queries, 0, ^uint64(0), 1<<63)
	oracle.EachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for i, r := range all {
			for range 150 {
				bad := &recorder{r.names, slices.Clone(r.data)}
				s := rng.IntN(len(bad.data))
				data := slices.Clone(bad.data[s])
				switch change := rng.IntN(4); {
				case change == 0:
					data = data[:rng.IntN(len(data)+1)]
				case change == 1:
					data = append(data, make([]byte, 1+rng.IntN(9))...)
				case len(data) > 0:
					for range 1 + rng.IntN(3) {
						data[rng.IntN(len(data))] = byte(rng.Uint32())
					}
				}
				bad.data[s] = data
				exercise(t, bad.source(), of[i], queries)
			}
		}
	})
}

// A walk finds every change of a planar table's content, which its checksums
// would find first.
func TestWalkFindsChange(t *testing.T) {
	set := sets.All(3000, 0, 3, 3)[0]
	r := &recorder{}
	must.Do(t, Write(r, "", distinct(set.Base), Options{Layout: LayoutPlanar}))
	for s, name := range r.names {
		if name != "lines" && name != "fences" {
			continue
		}
		for at := range r.data[s] {
			r.data[s][at] ^= 1 << (at % 8)
			tab, err := Open(r.source(), "", LayoutPlanar)
			if err == nil {
				err = walk(tab, func([]uint64) bool { return true })
			}
			if !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("%s, byte %d changed: %v", name, at, err)
			}
			r.data[s][at] ^= 1 << (at % 8)
		}
	}
}

// FuzzOpenSearch gives a table sections of any content: the sections of a sound
// one, of which the input replaces bytes from a place on.
func FuzzOpenSearch(f *testing.F) {
	all, of, _ := hostileTables(f)
	f.Add(uint8(0), uint8(0), uint16(16), []byte{40, 48, 48}, uint64(0))
	f.Add(uint8(0), uint8(1), uint16(0), []byte{255, 255, 255, 255, 255, 255, 255, 127}, uint64(7))
	f.Add(uint8(2), uint8(2), uint16(1), []byte{255, 255, 255, 255}, ^uint64(0))
	f.Add(uint8(1), uint8(1), uint16(3), []byte{0, 0}, uint64(1)<<63)
	f.Fuzz(func(t *testing.T, which, section uint8, at uint16, content []byte, query uint64) {
		r := all[int(which)%len(all)]
		bad := &recorder{r.names, slices.Clone(r.data)}
		s := int(section) % len(bad.data)
		data := slices.Clone(bad.data[s])
		if len(data) > 0 {
			copy(data[int(at)%len(data):], content)
		}
		bad.data[s] = data
		oracle.AllKernels(t, func(string) {
			exercise(t, bad.source(), of[int(which)%len(all)], []uint64{query, ^query})
		})
	})
}

// What is wrong in a plane is said of that plane, where it lies.
func TestCorruptPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	uniform, sequence := make([]uint64, 5000), make([]uint64, 5000)
	for i := range uniform {
		uniform[i], sequence[i] = rng.Uint64(), uint64(i)
	}
	for _, c := range []struct {
		keys     []uint64
		section  string
		at, unit int64 // a byte to change, and the size of what it is part of
	}{
		{uniform, "lines", 64*3 + 5, 64}, {uniform, "lines", 64*7 + 1, 64}, {uniform, "fences", 8*2 + 3, 8},
		{sequence, "low", 2*4321 + 1, 2}, {sequence, "fences", 8, 8},
	} {
		var bad recorder
		must.Do(t, Write(&bad, "", distinct(c.keys), Options{Layout: LayoutPlanar}))
		bad.data[slices.Index(bad.names, c.section)][c.at] ^= 0x1f
		tab, err := Open(bad.source(), "", LayoutPlanar)
		if err == nil {
			err = walk(tab, func([]uint64) bool { return true })
		}
		var corrupt *store.CorruptError
		if !errors.As(err, &corrupt) || corrupt.Section != c.section || corrupt.Offset != c.at/c.unit*c.unit {
			t.Errorf("%s, byte %d: %v", c.section, c.at, err)
		}
	}
}
