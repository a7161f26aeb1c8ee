// Package hostile tests the readers of files against an attacker who changes the content of a sound file and repairs
// all checksums. So only the checks of the reader can detect the change.
//
//	sections of a sound file --Change.Apply--> sections --Bytes--> a file that verifies
//
// A reader passes if it returns an error with the place in the file ([Expect]) or a consistent answer. It must not
// panic, and must allocate in proportion to the size of the file, not to sizes that the file claims ([Allocates]). The
// package is for tests and fuzz targets.
package hostile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// A Change changes the sections of a file. All values of its fields are valid: numbers are taken modulo the number of
// sections, or the size of the section.
type Change struct {
	Section uint16 // number of the changed section
	Length  uint16 // new length plus 1, up to twice the length plus 63, filled with zeros; 0 keeps the length
	Offset  uint16 // offset in the section at which Bytes overwrite it
	Bytes   []byte // new content
	Order   uint8  // then: 1 drops the section, 2 repeats it, 3 swaps it with the next one, 0 and others do nothing
}

// Apply returns the changed sections. It does not modify its argument.
func (c *Change) Apply(sections []store.Section) []store.Section {
	list := slices.Clone(sections)
	i := int(c.Section) % len(list)
	data := slices.Clone(list[i].Data)
	if c.Length > 0 {
		n := int(c.Length-1) % (2*len(data) + 64)
		data = append(data, make([]byte, max(n-len(data), 0))...)[:n]
	}
	if len(data) > 0 {
		copy(data[int(c.Offset)%len(data):], c.Bytes)
	}
	list[i].Data = data
	switch next := (i + 1) % len(list); c.Order {
	case 1:
		list = slices.Delete(list, i, i+1)
	case 2:
		list = slices.Insert(list, i, list[i])
	case 3:
		list[i], list[next] = list[next], list[i]
	}
	return list
}

// Extremes are dangerous values for sizes and counts.
var Extremes = []uint64{0, 1, ^uint64(0), 1 << 63, 1 << 56, 1 << 40, 1 << 32, 401}

// Sections returns copies of the sections of the file at path.
func Sections(t testing.TB, path string, kind store.Kind) []store.Section {
	t.Helper()
	f, err := store.Open(path, kind)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := f.Sections()
	for i := range list {
		list[i].Data = slices.Clone(list[i].Data)
	}
	return list
}

// Bytes returns a file with an identity, the Names and Data of these sections, and valid checksums. The content of
// the sections is not checked.
func Bytes(kind store.Kind, id store.Identity, sections []store.Section) []byte {
	d := disk.InMemory()
	w, err := store.CreateWith("hostile", kind, id.Generation, store.Options{Disk: d, Random: bytes.NewReader(id.ID[:])})
	if err != nil {
		panic(err)
	}
	defer w.Abort()
	for _, s := range sections {
		w.Section(s.Name)
		w.Write(s.Data) // Commit reports an error
	}
	if err := w.Commit(); err != nil {
		panic(err)
	}
	content, err := d.Take("hostile")
	if err != nil {
		panic(err)
	}
	defer content.Free()
	return bytes.Clone(content.Data)
}

// File returns a container of the sections with valid checksums. The content of the sections is not checked.
func File(t testing.TB, kind store.Kind, sections []store.Section) *store.File {
	t.Helper()
	f, err := store.OpenBytes("hostile", Bytes(kind, store.Identity{ID: [16]byte{1}, Generation: 1}, sections), kind)
	if err == nil {
		err = f.Verify(t.Context(), 1, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Limit returns the maximum allocation for hostile input of the given size: 16 times the size, and 1 MiB.
func Limit(bytes uint64) uint64 { return 16*bytes + 1<<20 }

// Allocates fails the test if f allocates more than limit bytes of the heap.
func Allocates(t testing.TB, limit uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > limit {
		t.Errorf("%d bytes allocated, %d are allowed", n, limit)
	}
}

// Expect fails the test unless err is nil, or names the file once, the section and the wrong offset.
func Expect(t testing.TB, text string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e, ok := errors.AsType[*store.CorruptError](err)
	if !ok || e.File == "" || e.Section == "" || strings.Count(err.Error(), e.File) != 1 {
		t.Errorf("%s: the error does not say where: %v", text, err)
	}
}

// Each calls do with the sections after each of n random changes, and after the most harmful ones: extreme numbers at
// every position of each small section.
func Each(list []store.Section, n int, seed uint64, do func([]store.Section)) {
	rng := rand.New(rand.NewPCG(5, seed))
	for range n {
		c := Change{Section: uint16(rng.Uint32()), Offset: uint16(rng.Uint32()), Bytes: make([]byte, 1+rng.IntN(9)),
			Order: uint8(rng.IntN(12))}
		for i := range c.Bytes {
			c.Bytes[i] = byte(rng.Uint32())
		}
		if rng.IntN(3) == 0 {
			c.Length = uint16(rng.Uint32())
		}
		do(c.Apply(list))
	}
	for i, s := range list {
		if len(s.Data) > 128 {
			continue
		}
		for size := range len(s.Data) {
			for _, v := range Extremes {
				c := Change{Section: uint16(i), Offset: uint16(size), Bytes: binary.LittleEndian.AppendUint64(nil, v)}
				do(c.Apply(list))
			}
		}
	}
}
