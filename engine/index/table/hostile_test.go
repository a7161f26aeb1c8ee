package table

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// A recorder keeps sections in order, to be changed and read again.
type recorder []store.Section

func (r *recorder) Section(name string) { *r = append(*r, store.Section{Name: name}) }

func (r recorder) Write(p []byte) (int, error) {
	last := &r[len(r)-1]
	last.Data = append(last.Data, p...)
	return len(p), nil
}

// recorded returns the sections of a table of keys.
func recorded(t testing.TB, prefix string, keys []uint64, o Options) recorder {
	t.Helper()
	var r recorder
	must.Do(t, Write(&r, prefix, keys, o))
	return r
}

// sourceOf returns sections as a file does.
func sourceOf(list []store.Section) store.Source {
	var m sections.Memory
	for _, s := range list {
		store.WriteSection(&m, s.Name, s.Data)
	}
	return m.Source()
}

// walked opens a planar table and walks over it.
func walked(list []store.Section) error {
	tab, err := Open(sourceOf(list), "", LayoutPlanar)
	if err != nil {
		return err
	}
	return walk(tab, func([]uint64) bool { return true })
}

// exercise calls all methods of a table. Only errors of corrupt content are allowed.
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
	for _, leading := range []int{0, tab.PlanProbes(24, 1, 3).Leading, 40} {
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
func hostileTables(t testing.TB) (all []recorder, of []Layout, queries []uint64) {
	for i, set := range sets.All(900, 6, 3, 11) {
		if i%3 > 0 && set.Name != "two ends" {
			continue
		}
		queries = append(queries[:0], set.Queries...)
		for _, o := range []Options{{Layout: LayoutPlanar}, {Layout: LayoutHuffman, BlockBytes: 128}} {
			all, of = append(all, recorded(t, "", distinct(set.Base), o)), append(of, o.Layout)
		}
	}
	return all, of, queries
}

// TestHostile changes bytes at random positions, and truncates and extends sections. Every search returns an error or
// an answer, on every backend, with at most the requested number of matches.
func TestHostile(t *testing.T) {
	all, of, queries := hostileTables(t)
	queries = queries[:min(6, len(queries))]
	queries = append(queries, 0, ^uint64(0), 1<<63)
	oracle.EachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for i, r := range all {
			for range 150 {
				s := rng.IntN(len(r))
				c := hostile.Change{Section: uint16(s), Offset: uint16(rng.Uint32())}
				switch bytes := len(r[s].Data); rng.IntN(4) {
				case 0:
					c.Length = uint16(1 + rng.IntN(bytes+1)) // down to none
				case 1:
					c.Length = uint16(bytes + 2 + rng.IntN(9))
				default:
					c.Bytes = binary.LittleEndian.AppendUint32(nil, rng.Uint32())[:1+rng.IntN(3)]
				}
				exercise(t, sourceOf(c.Apply(r)), of[i], queries)
			}
		}
	})
}

// TestWalkFindsChange checks that a walk finds every change of a planar table's content without checksums, which would
// find it first.
func TestWalkFindsChange(t *testing.T) {
	set := sets.All(3000, 0, 3, 3)[0]
	r := recorded(t, "", distinct(set.Base), Options{Layout: LayoutPlanar})
	for _, s := range r {
		if s.Name != "lines" && s.Name != "fences" {
			continue
		}
		for pos := range s.Data {
			s.Data[pos] ^= 1 << (pos % 8)
			if err := walked(r); !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("%s, byte %d changed: %v", s.Name, pos, err)
			}
			s.Data[pos] ^= 1 << (pos % 8)
		}
	}
}

// FuzzOpenSearch opens tables with any content. The input replaces bytes of valid sections from a position on.
func FuzzOpenSearch(f *testing.F) {
	all, of, _ := hostileTables(f)
	f.Add(uint8(0), uint8(0), uint16(16), []byte{40, 48, 48}, uint64(0))
	f.Add(uint8(0), uint8(1), uint16(0), []byte{255, 255, 255, 255, 255, 255, 255, 127}, uint64(7))
	f.Add(uint8(2), uint8(2), uint16(1), []byte{255, 255, 255, 255}, ^uint64(0))
	f.Add(uint8(1), uint8(1), uint16(3), []byte{0, 0}, uint64(1)<<63)
	f.Fuzz(func(t *testing.T, which, section uint8, pos uint16, content []byte, query uint64) {
		c := hostile.Change{Section: uint16(section), Offset: pos, Bytes: content}
		bad := c.Apply(all[int(which)%len(all)])
		oracle.AllKernels(t, func(string) {
			exercise(t, sourceOf(bad), of[int(which)%len(all)], []uint64{query, ^query})
		})
	})
}

// TestCorruptPosition checks that an error in a plane names that plane and the position.
func TestCorruptPosition(t *testing.T) {
	uniform, sequence := sets.Uniform(5000, 4), sets.Generate(5000, func(i int) uint64 { return uint64(i) })
	for _, c := range []struct {
		keys     []uint64
		section  string
		at, unit int64 // a byte to change, and the size of the unit that contains it
	}{
		{uniform, "lines", 64*3 + 5, 64}, {uniform, "lines", 64*7 + 1, 64}, {uniform, "fences", 8*2 + 3, 8},
		{sequence, "low", 2*4321 + 1, 2}, {sequence, "fences", 8, 8},
	} {
		bad := recorded(t, "", distinct(c.keys), Options{Layout: LayoutPlanar})
		bad[slices.IndexFunc(bad, func(s store.Section) bool { return s.Name == c.section })].Data[c.at] ^= 0x1f
		err := walked(bad)
		var corrupt *store.CorruptError
		if !errors.As(err, &corrupt) || corrupt.Section != c.section || corrupt.Offset != c.at/c.unit*c.unit {
			t.Errorf("%s, byte %d: %v", c.section, c.at, err)
		}
	}
}
