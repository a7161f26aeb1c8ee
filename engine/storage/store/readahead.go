package store

import (
	"os"
	"sync"
)

// A readAhead controls how the system reads a mapped file. By default it reads megabytes ahead of
// each missing page. If a file is larger than memory and is read at random, that evicts pages in
// use: queries of an index of four times the memory took a hundred times as long.
type readAhead struct {
	mapped []byte // nil unless the file is mapped, and read here and there

	mu      sync.Mutex
	readers int // that read all of it in order
}

// Scattered declares that the file will be read at random and not fit into memory. Of a mapped file
// the system then reads single pages, unless [File.ReadAhead] asks for more. Call it before several
// goroutines use the file.
func (f *File) Scattered() {
	if f.isMapped {
		f.ahead.mapped = f.data
		adviseScattered(f.data, true)
	}
}

// ReadAhead says that much of the file will be read in order until end is called. It is safe for
// many goroutines.
func (f *File) ReadAhead() (end func()) {
	a := &f.ahead
	if a.mapped == nil {
		return func() {}
	}
	a.change(1)
	return func() { a.change(-1) }
}

// change counts readers in order, of whom the first has the system read ahead, and the last one no
// more.
func (a *readAhead) change(by int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.readers
	a.readers += by
	if (before == 0) != (a.readers == 0) {
		adviseScattered(a.mapped, a.readers == 0)
	}
}

// soon has the system begin to read the bytes [from, to) of a file that it does not read ahead of.
func (f *File) soon(from, to uint64) {
	if f.ahead.mapped == nil || to <= from {
		return
	}
	from -= from % uint64(os.Getpagesize())
	adviseSoon(f.ahead.mapped[from:to])
}
