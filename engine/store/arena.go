package store

import (
	"fmt"

	"ndd/engine/offheap"
)

// An Arena keeps sections like [Memory], but outside the Go heap, for segments
// that are large and live long: the garbage collector neither scans nor counts
// them, and [Arena.Free] gives them back at once. The zero value is empty and
// ready. Written by one goroutine, then read by many.
//
// A section that is being written takes up to twice its bytes, and while it
// moves to more room three times; a finished one takes its own, and less than a
// page.
type Arena struct {
	names []string
	data  map[string]*offheap.Buffer[uint8]
	used  int // bytes of the section begun last
	err   error
}

// arenaLeast is the room that a section begins with.
const arenaLeast = 64 << 10

// Section begins a section, whose name must be new.
func (a *Arena) Section(name string) {
	a.trim()
	if a.data == nil {
		a.data = make(map[string]*offheap.Buffer[uint8])
	}
	if _, ok := a.data[name]; ok {
		panic(fmt.Sprintf("store: a second section %q", name))
	}
	a.data[name] = &offheap.Buffer[uint8]{}
	a.names = append(a.names, name)
	a.used = 0
}

// trim gives back what the section begun last has too much.
func (a *Arena) trim() {
	if len(a.names) > 0 {
		a.data[a.names[len(a.names)-1]].Trim(a.used)
	}
}

// Write appends to the section begun last. The error, of this and every later
// call, is want of memory.
func (a *Arena) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	last := a.names[len(a.names)-1]
	b := a.data[last]
	if need := a.used + len(p); need > len(b.Data) {
		more, err := offheap.Make[uint8](max(need, 2*len(b.Data), arenaLeast))
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

// Source reads what was written. Nothing may be written any more.
func (a *Arena) Source() Source {
	a.trim()
	data := make(map[string][]byte, len(a.data))
	for name, b := range a.data {
		data[name] = b.Data
	}
	return memorySource{data}
}

// Free gives the memory back. No section may be in use.
func (a *Arena) Free() {
	for _, b := range a.data {
		b.Free()
	}
	*a = Arena{}
}
