package asm

import "encoding/binary"

// A Seek searches near keys in many halves of Huffman-coded blocks of one table at once (see Decode). A probe begins
// at the fence of a half, and ends at the first key that is at least its High:
//
//	fence -> key -> key -> key -> ... -> key >= High       hits: the keys on the way, High at most, near the query
//
// A half is a chain: the position of the next raw bits depends on the previous code, and the position of a code on
// the one before it. Decode decodes many keys of one half. Here many halves decode one key each, in the lanes of a
// register, so no lane waits for itself and nothing is guessed. Keys are compared as soon as they are decoded: the
// keys that a probe needs, and at most seven more.
//
// With AVX-512, eight lanes decode eight keys per round, or seven keys and one with a long code:
//
//	refill    57 bits of code per lane, by a gather
//	steps     the code's position h from a table of 6 bits of code, which one register holds; its raw bits
//	          by a gather; the key; its distance from the query
//	last      a lane whose code was longer, 2 in 100, waits until here for a look-up in the Window
//	out       active lanes are compressed, so that the next pass has no gaps
//
// A step has 22 instructions on two ports, 11 cycles for eight keys. Measured: 2.7 cycles per key with all lanes
// full.
//
// A probe that ends in another way is left to the caller, who decodes its half. Reasons are a half that ends before
// High, corrupt bits, and unusual bits: an h above 57, codes within 121 bits of the raw bits, or a half that begins
// in the first 64 bytes of data. The set of these probes may depend on the backend. The hits of such a probe are
// valid only if PendingAt reports it.
//
// Without assembly for KernelSeek, see [Accelerated], decoding is faster.
//
// A Seek is used by one goroutine. The zero value is ready. Nothing is allocated.
type Seek struct {
	n          int // number of active lanes, the first n of each array
	hits       int
	unfinished int // number of probes left to the caller
	data       []byte
	lines      []uint64 // offsets in next of lines that are still to be prefetched
	next       []byte

	key       [seekLanes]uint64 // the last decoded key
	raw       [seekLanes]uint64 // offset in data, in bits: 121 before the end of the next raw bits
	code      [seekLanes]uint64 // offset in data of the next code, in bits
	remaining [seekLanes]uint64 // remaining keys of the half, and the number of the probe times 2^32
	query     [seekLanes]uint64
	high      [seekLanes]uint64

	hitKey        [seekHits + 8]uint64
	hitProbe      [seekHits + 8]uint64 // number of each hit's probe, in the high 32 bits
	unfinishedIDs [seekLanes]uint64    // number of each unfinished probe, in the high 32 bits
}

const (
	// SeekWidth is the maximum number of probes of a Seek.
	SeekWidth = 64
	seekLanes = SeekWidth + 16
	seekHits  = 256
	seekFirst = 64  // minimum offset of a half in data: seven raw bits before it are read
	seekAhead = 121 // bits, see raw: a code that begins earlier is followed by 64 bits of data
	seekUnit  = 1 << 32
	seekLines = 5  // lines that are prefetched with a group: as many as it needs itself
	seekCall  = 64 // passes per kernel call, at most 35 us
	seekSteps = 8  // maximum number of keys per lane and round
	quickBits = 6  // number of code bits of the table in a register
	hMax      = 57 // maximum number of raw bits in eight bytes, at every bit offset
)

// Reset removes all probes and hits. The halves of the next probes are in data.
func (s *Seek) Reset(data []byte) {
	s.n, s.hits, s.unfinished, s.data = 0, 0, 0, data
}

// Prefetch makes Run prefetch the lines of bytes at the offsets of next, some with each group, so that neither waits
// for the other. The caller must not change the offsets until then.
func (s *Seek) Prefetch(next []byte, offsets []uint64) { s.next, s.lines = next, offsets }

// Add adds a probe of half data[start:end], which must have at least 32 bytes. It searches keys near query, from the
// key fence on, until a key is at least high. Its hits are reported with the number. Between two calls of Reset,
// SeekWidth probes may be added.
func (s *Seek) Add(number int, start, end int, fence, query, high uint64) {
	if start < seekFirst {
		s.unfinishedIDs[s.unfinished] = uint64(number)*seekUnit + 1
		s.unfinished++
		return
	}
	raceRead(s.data[start:end])
	i := s.n
	steps := uint64(binary.LittleEndian.Uint16(s.data[start:end:end]))
	s.key[i] = fence
	s.raw[i] = uint64(8*end - seekAhead)
	s.code[i] = uint64(8*start + headBits)
	s.remaining[i] = steps + uint64(number)*seekUnit
	s.query[i] = query
	s.high[i] = high
	s.n++
}

// Run runs all probes to their ends. k is the maximum distance of a hit, and w the code of the table's blocks. When
// it returns, it has also prefetched all lines of Prefetch.
func (s *Seek) Run(k int, w *Window) {
	for s.n > 0 {
		prefetched := seek(s, k, w)
		s.lines = s.lines[prefetched:]
	}
	PrefetchAt(s.next, s.lines)
	s.lines = nil
}

// Hits returns the number of hits, including those of probes that were left.
func (s *Seek) Hits() int { return s.hits }

// Hit returns the number of the probe of hit i, below Hits(), and its key.
func (s *Seek) Hit(i int) (number int, key uint64) {
	return int(s.hitProbe[i] / seekUnit), s.hitKey[i]
}

// Pending returns the number of probes that were left to the caller.
func (s *Seek) Pending() int { return s.unfinished }

// PendingAt returns the number of a probe that was left. If ended is true, all keys of its half were compared, and its
// hits are valid. Otherwise its hits must be ignored.
func (s *Seek) PendingAt(i int) (number int, ended bool) {
	return int(s.unfinishedIDs[i] / seekUnit), s.unfinishedIDs[i]%seekUnit == 0
}
