package segment

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"ndd/engine/names"
	"ndd/engine/store"
)

// section is a golden segment's, for changing.
type section struct {
	name string
	data []byte
}

func goldenSections(t testing.TB, layout string) (list []section) {
	t.Helper()
	f, err := store.Open(filepath.Join("..", "..", "testdata", "golden", "v1", layout, "00000001.segment"), store.KindSegment)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections() {
		list = append(list, section{s.Name, slices.Clone(s.Data)})
	}
	return list
}

var layouts = []string{"planar", "huffman"}

// A change is what a hostile writer, who repairs all checksums, does to one
// section: cut or extend it, and overwrite bytes.
type change struct {
	section, length, at uint16
	bytes               []byte
}

func (c *change) apply(list []section) []section {
	list = slices.Clone(list)
	s := &list[int(c.section)%len(list)]
	data := slices.Clone(s.data)
	if n := int(c.length) % (2*len(data) + 64); n != 0 { // 0 leaves the length
		data = append(data, make([]byte, max(n-len(data), 0))...)[:n]
	}
	if len(data) > 0 {
		copy(data[int(c.at)%len(data):], c.bytes)
	}
	s.data = data
	return list
}

// exercise opens a segment of these sections and does everything with it. Any
// error must be typed; what it allocates is bounded by the input.
func exercise(t testing.TB, list []section) {
	var m store.Memory
	size := 0
	for _, s := range list {
		m.Section(s.name)
		m.Write(s.data)
		size += len(s.data)
	}
	typed := func(what string, err error) {
		if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, names.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	allocates(t, 16*uint64(size)+1<<20, func() {
		s, err := Open(m.Source())
		typed("open", err)
		if err != nil {
			return
		}
		defer s.Close()
		typed("check", s.Check())
		err = s.Rows(make([]uint64, s.Documents()))
		typed("rows", err)
		var c Scratch
		for _, q := range []uint64{0, ^uint64(0), 0x243f6a8885a308d3, 0x9e3779b97f4a7c15} {
			matches, err := s.Search(nil, []uint64{q}, s.Design().K, &c)
			typed("search", err)
			for _, m := range matches[:min(len(matches), 10)] {
				_, _, err = s.Docs(nil, m.Fingerprint, 1000, &c)
				typed("docs", err)
			}
		}
		if n := s.Names(); n != nil {
			_, err = n.Cursor().Name(n.Len() / 2)
			typed("name", err)
		}
	})
}

// allocates fails the test when f takes more of the heap than the limit.
func allocates(t testing.TB, limit uint64, f func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > limit {
		t.Errorf("%d bytes allocated, %d are allowed", n, limit)
	}
}

// TestHostile makes random changes, and those that hurt most: extreme numbers
// in every place of every small section.
func TestHostile(t *testing.T) {
	for _, layout := range layouts {
		list := goldenSections(t, layout)
		exercise(t, list)
		rng := rand.New(rand.NewPCG(5, 5))
		for range 1500 {
			c := change{section: uint16(rng.Uint32()), at: uint16(rng.Uint32()), bytes: make([]byte, 1+rng.IntN(9))}
			for i := range c.bytes {
				c.bytes[i] = byte(rng.Uint32())
			}
			if rng.IntN(3) == 0 {
				c.length = uint16(rng.Uint32())
			}
			exercise(t, c.apply(list))
		}
		for i, s := range list {
			if len(s.data) > 128 {
				continue
			}
			for at := range len(s.data) {
				for _, v := range []uint64{0, 1, ^uint64(0), 1 << 63, 1 << 56, 1 << 40, 1 << 32, 401} {
					c := change{section: uint16(i), at: uint16(at), bytes: binary.LittleEndian.AppendUint64(nil, v)}
					exercise(t, c.apply(list))
				}
			}
		}
	}
}

// FuzzSegment is the reader against a writer who repairs every checksum.
func FuzzSegment(f *testing.F) {
	f.Add(false, uint16(0), uint16(0), uint16(0), []byte{1})
	f.Add(true, uint16(7), uint16(3), uint16(8), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	sections := [][]section{goldenSections(f, layouts[0]), goldenSections(f, layouts[1])}
	f.Fuzz(func(t *testing.T, huffman bool, section, length, at uint16, bytes []byte) {
		list := sections[0]
		if huffman {
			list = sections[1]
		}
		exercise(t, (&change{section, length, at, bytes}).apply(list))
	})
}
