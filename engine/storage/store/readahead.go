package store

import (
	"os"
	"sync"
)

// A readAhead says how a mapped file is read. The system reads what follows a page that it has to read, up to
// megabytes of it. Where a file is larger than the memory there is and is read here and there, that drives out what
// will be read again: of an index four times as large as the memory there was, queries took a hundred times as long.
type readAhead struct {
	mapped []byte // nil unless the file is mapped, and read here and there

	mu      sync.Mutex
	readers int // that read all of it in order
}

// Scattered says that from now on the file is read here and there, and that it will not stay in memory as a whole. Where
// it is mapped the system reads single pages of it then, unless [File.ReadAhead] says otherwise. Call it before
// the file is used by several goroutines.
func (f *File) Scattered() {
	if f.isMapped {
		f.ahead.mapped = f.data
		adviseScattered(f.data, true)
	}
}

// ReadAhead says that much of the file will be read in order until end is called. It is safe for many goroutines.
func (f *File) ReadAhead() (end func()) {
	a := &f.ahead
	if a.mapped == nil {
		return func() {}
	}
	a.change(1)
	return func() { a.change(-1) }
}

// change counts readers in order, of whom the first has the system read ahead, and the last one no more.
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
