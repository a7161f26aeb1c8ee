package store

import (
	"os"
	"sync"
)

// A readAhead controls the read-ahead of a mapped file. By default the system reads megabytes around each missing
// page. If a file is larger than memory and is read at random, that evicts pages in use: queries of an index of four
// times the memory took a hundred times as long.
type readAhead struct {
	mapped []byte // the mapped file, if it is read at random; otherwise nil

	mu      sync.Mutex
	readers int // number of sequential readers of the whole file
}

// AdviseRandom declares that the file is read at random and does not fit in memory. The system then reads single pages
// of a mapped file, unless [File.ReadAhead] is active. Call it before several goroutines use the file.
func (f *File) AdviseRandom() {
	if f.isMapped {
		f.advice.mapped = f.data
		adviseRandom(f.data, true)
	}
}

// ReadAhead declares that a large part of the file is read sequentially until end is called. It is safe for
// concurrent use.
func (f *File) ReadAhead() (end func()) {
	a := &f.advice
	if a.mapped == nil {
		return func() {}
	}
	a.change(1)
	return func() { a.change(-1) }
}

// change adds delta to the number of sequential readers. The first reader turns read-ahead on, and the last one turns
// it off.
func (a *readAhead) change(delta int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	previous := a.readers
	a.readers += delta
	if (previous == 0) != (a.readers == 0) {
		adviseRandom(a.mapped, a.readers == 0)
	}
}

// prefetch asks the system to start reading the bytes [start, end) of a file without read-ahead.
func (f *File) prefetch(start, end uint64) {
	if f.advice.mapped == nil || end <= start {
		return
	}
	start -= start % uint64(os.Getpagesize())
	adviseWillNeed(f.advice.mapped[start:end])
}
