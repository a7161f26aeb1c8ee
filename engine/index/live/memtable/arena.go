package memtable

import (
	"sync/atomic"
	"unsafe"

	"ndd/engine/memory"
)

// lineBytes is the size of a cache line and the one that processors fetch with it.
const lineBytes = 128

const (
	// slabShift bits of an address are the place in a slab, of at most 4 MiB.
	slabShift = 19
	slabWords = 1 << slabShift
	// slabFirst words has the first slab, and each next one twice as many as the one before.
	slabFirst = 1 << 12
)

// An arena is memory that one writer takes piece by piece, of which nothing is given back or moved
// before all is: readers need no lock.
//
//	address   number of the slab | word in it          0 is none
//
// It is outside the Go heap, which takes up to twice what it has. Where the machine gives none it
// is inside.
type arena struct {
	slabs   atomic.Pointer[[][]uint64]
	_       [lineBytes]byte // readers do not meet what the writer writes
	buffers []*memory.Buffer[uint64]
	used    int // words of the last slab
	words   int // of all slabs
}

// alloc returns zeroed words and their address.
func (a *arena) alloc(words int) (at uint32, room []uint64) {
	if n := len(a.buffers); n == 0 || a.used+words > len(a.buffers[n-1].Data) {
		a.grow(words)
	}
	n := len(a.buffers) - 1
	at, room = uint32(n<<slabShift|a.used), a.buffers[n].Data[a.used:][:words:words]
	a.used += words
	return at, room
}

// grow adds a slab with room for the given number of words.
func (a *arena) grow(words int) {
	n := len(a.buffers)
	a.used = 0
	if n == 0 {
		a.used = 1 // address 0 is none
	}
	size := max(min(slabFirst<<min(n, slabShift), slabWords), words+a.used)
	b, err := memory.Make[uint64](size)
	if err != nil {
		b = &memory.Buffer[uint64]{Data: make([]uint64, size)}
	}
	a.buffers = append(a.buffers, b)
	a.words += size
	slabs := make([][]uint64, n+1)
	for i, b := range a.buffers {
		slabs[i] = b.Data
	}
	a.slabs.Store(&slabs)
}

// at returns the words from an address to the end of its slab.
func (a *arena) at(address uint32) []uint64 {
	return (*a.slabs.Load())[address>>slabShift][address&(slabWords-1):]
}

// bytes returns how much memory the arena takes.
func (a *arena) bytes() uint64 { return 8 * uint64(a.words) }

// free gives the memory back. Nobody reads it any more.
func (a *arena) free() {
	for _, b := range a.buffers {
		b.Free()
	}
	a.buffers, a.words = nil, 0
}

// halfWords returns words as twice as many numbers.
func halfWords(words []uint64) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), 2*len(words))
}

// bytesOf returns words as bytes.
func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
