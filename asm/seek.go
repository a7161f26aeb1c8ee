package asm

import "encoding/binary"

// A Seek looks for near keys in many halves of Huffman-coded blocks at once (see Decode; all of one
// table). A probe begins at the fence of a half, and goes on until a key is at least its High:
//
//	fence -> key -> key -> key -> ... -> key >= High       hits: the keys on the way, High at most, near the query
//
// A half is a chain: where the next raw bits lie, the code before says, and where that code lies, the one
// before it. Decode makes many keys of one half; here many halves make one key each, in
// the lanes of a register, so that no lane waits for itself and nothing is guessed. Keys are looked at where they
// are made: those that a probe needs, and seven more at most.
//
// With AVX-512, eight lanes make eight keys a round, or seven and one of a long code:
//
//	refill    57 bits of code a lane, by a gather
//	steps     the code's position h from a table of 6 bits of code, which one register holds; its raw bits
//	          by a gather; the key; its distance from the query
//	last      a lane whose code was longer, 2 in 100, waits until here for a look-up in the Window
//	out       lanes that go on are pressed together, so that the next pass over all has no gaps
//
// A step is 22 instructions on two ports, 11 cycles for eight keys; measured: 2.7 cycles a key, with
// all lanes full.
//
// A probe that ends in any other way is left to the caller, who decodes its half: the half ends
// before High, its bits are corrupt, or they are unusual: an h above 57, codes that come within 121
// bits of the raw bits, or a half that begins in the first 64 bytes of data. Which of these are left
// may depend on the backend. The hits of one that is left hold only where LeftAt reports it.
//
// Without assembly for KernelSeek, see [Accelerated], decoding is faster.
//
// A Seek belongs to one goroutine. Its zero value is ready; nothing is allocated.
type Seek struct {
	n     int // lanes under way, the first n of each of the arrays
	hits  int
	gone  int // probes left
	data  []byte
	lines []uint64 // bytes of next whose lines are still to be prefetched,
	next  []byte

	key   [seekLanes]uint64 // the last one that was made
	raw   [seekLanes]uint64 // bit of data, 121 before the end of the next raw bits
	code  [seekLanes]uint64 // bit of data of the next code
	left  [seekLanes]uint64 // keys that the half still has, and the number of the probe times 2^32
	query [seekLanes]uint64
	high  [seekLanes]uint64

	hitKey   [seekHits + 8]uint64
	hitProbe [seekHits + 8]uint64 // in the high 32 bits
	goneID   [seekLanes]uint64    // in the high 32 bits
}

const (
	// SeekWidth is how many probes a Seek takes at once.
	SeekWidth = 64
	seekLanes = SeekWidth + 16
	seekHits  = 256
	seekFirst = 64  // byte of data at which a half may begin: seven raw bits before it are read
	seekAhead = 121 // bits, see raw: a code that begins before has 64 bits of data behind it
	seekUnit  = 1 << 32
	seekLines = 5  // lines that are prefetched with a group: as many as it needs itself
	seekCall  = 64 // passes of a call of the kernel, at most 35 us
	seekSteps = 8  // keys that each lane of a round makes at most
	quickBits = 6  // of code, that a register is a table for
	hMax      = 57 // raw bits that eight bytes hold wherever they begin
)

// Reset forgets all probes and hits. The halves of the probes that are added next lie in data.
func (s *Seek) Reset(data []byte) {
	s.n, s.hits, s.gone, s.data = 0, 0, 0, data
}

// Prefetch has Run prefetch the lines of bytes at of next, some
// with each group, so that neither waits for the other. at is kept until then.
func (s *Seek) Prefetch(next []byte, at []uint64) { s.next, s.lines = next, at }

// Add adds a probe of half data[from:to], which must be at least 32 bytes, for keys near query, from the key fence on
// until one is at least high. Its hits are reported under the number. There may be SeekWidth probes between two calls
// of Reset.
func (s *Seek) Add(number int, from, to int, fence, query, high uint64) {
	if from < seekFirst {
		s.goneID[s.gone] = uint64(number)*seekUnit + 1
		s.gone++
		return
	}
	raceRead(s.data[from:to])
	i := s.n
	steps := uint64(binary.LittleEndian.Uint16(s.data[from:to:to]))
	s.key[i] = fence
	s.raw[i] = uint64(8*to - seekAhead)
	s.code[i] = uint64(8*from + headBits)
	s.left[i] = steps + uint64(number)*seekUnit
	s.query[i] = query
	s.high[i] = high
	s.n++
}

// Run follows all probes to their ends. k is the largest distance of a hit, and w the code of the table's blocks. It
// prefetches what Prefetch named, all of it when it returns.
func (s *Seek) Run(k int, w *Window) {
	for s.n > 0 {
		prefetched := seek(s, k, w)
		s.lines = s.lines[prefetched:]
	}
	PrefetchAt(s.next, s.lines)
	s.lines = nil
}

// Hits returns how many keys were found, those of probes that were left among them.
func (s *Seek) Hits() int { return s.hits }

// Hit returns the number of the probe of hit i, below Hits(), and the key that it found.
func (s *Seek) Hit(i int) (number int, key uint64) {
	return int(s.hitProbe[i] / seekUnit), s.hitKey[i]
}

// Left returns how many probes were left to the caller.
func (s *Seek) Left() int { return s.gone }

// LeftAt returns the number of a probe that was left. If only its half ended, all keys of that were looked
// at, and its hits hold; else they are to be passed over.
func (s *Seek) LeftAt(i int) (number int, ended bool) {
	return int(s.goneID[i] / seekUnit), s.goneID[i]%seekUnit == 0
}
