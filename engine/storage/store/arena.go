package store

import (
	"fmt"

	"ndd/engine/memory"
)

// An Arena keeps sections like [Memory], but outside the Go heap, for segments that live long: the
// garbage collector neither scans nor counts them, and [Arena.Free] gives them back at once. The zero
// value is empty and ready. It is written by one goroutine; after [Arena.Source] any number may read.
//
// A section that is being written takes up to twice its bytes, and three times while it is copied to
// a larger buffer; from 16 MiB on, a quarter more and two and a quarter times. Each large section has huge pages of its own, and gives back what it does not fill;
// small ones, such as a table's head and directory, are packed together by [Arena.Source].
type Arena struct {
	names []string
	data  map[string]*memory.Buffer[uint8]
	small *memory.Buffer[uint8] // the small ones, when all are written
	used  int                   // bytes of the section begun last
	err   error
}

// arenaMin is the capacity that a section begins with.
const arenaMin = 64 << 10

// Section begins the section called name, which must be new: a second one panics.
func (a *Arena) Section(name string) {
	a.trim()
	if a.data == nil {
		a.data = make(map[string]*memory.Buffer[uint8])
	}
	if _, ok := a.data[name]; ok {
		panic(fmt.Sprintf("store: a second section %q", name))
	}
	a.data[name] = &memory.Buffer[uint8]{}
	a.names = append(a.names, name)
	a.used = 0
}

// trim gives back the unused end of the section begun last.
func (a *Arena) trim() {
	if len(a.names) > 0 {
		a.data[a.names[len(a.names)-1]].Trim(a.used)
	}
}

// Write appends to the section begun last. It fails when there is no memory; then every later call
// returns the same error.
func (a *Arena) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	last := a.names[len(a.names)-1]
	b := a.data[last]
	if need := a.used + len(p); need > len(b.Data) {
		more, err := memory.Make[uint8](max(need, grown(len(b.Data)), arenaMin))
		if err != nil {
			a.err = fmt.Errorf("section %s: %w", last, err)
			return 0, a.err
		}
		copy(more.Data, b.Data[:a.used])
		b.Free()
		a.data[last], b = more, more
	}
	a.used += copy(b.Data[a.used:], p)
	return len(p), nil
}

// grown returns the next capacity of a section.
func grown(capacity int) int {
	const large = 16 << 20
	if capacity < large {
		return 2 * capacity
	}
	return capacity + capacity/4
}

// arenaSmall is a section that is packed with others, each on lines of its own:
// half a huge page.
const (
	arenaSmall = 1 << 20
	arenaLine  = 64
)

// Source returns a source of the sections that were written. Nothing may be written after it. It fails
// when there is no memory to pack the small sections.
func (a *Arena) Source() (Source, error) {
	if a.err != nil {
		return nil, a.err
	}
	a.trim()
	a.names = a.names[:0] // trimmed for good
	room := 0
	for _, b := range a.data {
		if len(b.Data) < arenaSmall {
			room += (len(b.Data) + arenaLine - 1) &^ (arenaLine - 1)
		}
	}
	if a.small, a.err = memory.Make[uint8](room); a.err != nil {
		return nil, a.err
	}
	data := make(map[string][]byte, len(a.data))
	at := 0
	for name, b := range a.data {
		data[name] = b.Data
		if n := len(b.Data); n < arenaSmall {
			data[name] = a.small.Data[at : at+copy(a.small.Data[at:], b.Data) : at+n]
			at += (n + arenaLine - 1) &^ (arenaLine - 1)
			b.Free()
		}
	}
	return memorySource{data}, nil
}

// Bytes returns how much memory the sections take once [Arena.Source] was called.
func (a *Arena) Bytes() (sum uint64) {
	for _, b := range a.data {
		sum += uint64(len(b.Data))
	}
	return sum + uint64(len(a.small.Data))
}

// Free gives the memory of all sections back. None may be in use.
func (a *Arena) Free() {
	for _, b := range a.data {
		b.Free()
	}
	a.small.Free()
	*a = Arena{}
}
