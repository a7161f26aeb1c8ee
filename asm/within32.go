package asm

import (
	"fmt"
	"unsafe"
)

// Span is a run of one big array of low halves, and how far an element of it may
// be from the query.
type Span struct {
	Start uint64 // index of the first element
	Len   uint32 // elements
	Limit uint32 // an element that differs in at most this many bits is a hit
}

// Run is a span with a query of its own.
type Run struct {
	Span
	Query uint32
	Tag   uint32 // the caller's; not looked at
}

// Hit32 is an element that a run asked for.
type Hit32 struct {
	Pos      uint64 // its index in the big array
	Run      uint32 // index of the run, in the slice that was passed
	Distance uint32 // bits in which it differs from the run's query
}

const (
	// within32Long is the longest run, in elements, that is scanned together with
	// others in one call into assembly: 2 KiB.
	within32Long = 512
	// within32Runs is how many such runs one call into assembly takes: at most
	// 256 KiB, and at most some 40 microseconds when each is a miss of 300 ns.
	within32Runs = 128
	// within32Call is how much of a longer run one call takes: 128 KiB.
	within32Call = 32 << 10
)

// Within32 scans spans of low, all for one query: every element within a span's
// Limit of q becomes a hit, in the order of the spans and then of the positions. It
// returns how many hits it wrote to dst and how many spans are done. done <
// len(spans) means that dst is full: spans[done] has then been cut down to what is
// left of it, and the caller, having emptied dst, goes on with spans[done:], whose
// hits number their runs from 0 again. As long as dst has room for one hit, every
// call makes progress. A span that is not inside low is a programmer's error and
// panics.
//
// It is the planar table's probe: 23 to 33 spans of 16 to 32 elements for one
// query, of which one in ten thousand holds a hit. Napkin, AVX-512, in cache: a
// span of up to 32 elements is straight-line code, two masked loads, XORs,
// popcounts and comparisons and about 20 other instructions: 8 cycles, and no
// branch that depends on its length. From memory: two or three lines a span, which
// Prefetch32 asks for all at once.
func Within32(dst []Hit32, low []uint32, q uint32, spans []Span) (hits, done int) {
	raceWrite(dst)
	raceRead(spans)
	s := scan32{low: low, dst: dst, query: &q}
	if len(spans) > 0 {
		s.runs, s.stride = unsafe.Pointer(&spans[0]), unsafe.Sizeof(spans[0])
	}
	return s.scan(len(spans))
}

// Within32Runs is Within32 for runs that each have their own query: the probes of
// a whole batch.
func Within32Runs(dst []Hit32, low []uint32, runs []Run) (hits, done int) {
	raceWrite(dst)
	raceRead(runs)
	s := scan32{low: low, dst: dst}
	if len(runs) > 0 {
		s.runs, s.stride = unsafe.Pointer(&runs[0]), unsafe.Sizeof(runs[0])
		s.query, s.queryStride = &runs[0].Query, unsafe.Sizeof(runs[0])
	}
	return s.scan(len(runs))
}

// scan32 is one call into assembly: what to scan, where to write, how far it came.
// A Run begins with its Span and the query is found through a stride of its own, so
// one kernel serves both forms. Assembly knows the fields by their offsets
// (within32_offsets in the test).
type scan32 struct {
	low         []uint32
	dst         []Hit32
	runs        unsafe.Pointer // the first Span, or Run, of this call
	stride      uintptr        // bytes from one to the next
	count       int            // how many
	query       *uint32        // the query of the first
	queryStride uintptr        // bytes to the query of the next
	longest     uint64         // stop before a run longer than this, in elements
	base        uint32         // number of the first run

	// The result: runs [0, done) are scanned, and elements [0, offset) of the next.
	// done < count means that it is longer than longest or not inside low (then
	// offset is 0), or that dst cannot take the hits of its next block.
	hits   int
	done   int
	offset uint64
}

// scan scans total runs.
func (s *scan32) scan(total int) (hits, done int) {
	first, query := s.runs, unsafe.Pointer(s.query)
	seek := func(i int) {
		s.runs = unsafe.Add(first, uintptr(i)*s.stride)
		s.query = (*uint32)(unsafe.Add(query, uintptr(i)*s.queryStride))
	}
	for done < total {
		seek(done)
		s.base = uint32(done)
		s.count = min(total-done, within32Runs)
		s.longest = within32Long
		s.call()
		hits += s.hits
		done += s.done
		if s.done == s.count {
			continue
		}
		// One run that needs care: a long one, or one with more hits than room.
		seek(done)
		s.base = uint32(done)
		n, complete := s.scanOne(s.offset)
		hits += n
		if !complete {
			break
		}
		done++
	}
	return hits, done
}

// call runs the kernel and moves dst past the hits.
func (s *scan32) call() {
	s.hits, s.done, s.offset = 0, 0, 0
	if raceEnabled {
		s.annotate()
	}
	within32(s)
	s.dst = s.dst[s.hits:]
}

// annotate tells the race detector of the runs that the kernel may read.
func (s *scan32) annotate() {
	for i := range s.count {
		run := (*Span)(unsafe.Add(s.runs, uintptr(i)*s.stride))
		if s.inside(run) && uint64(run.Len) <= s.longest {
			raceRead(s.low[run.Start : run.Start+uint64(run.Len)])
		}
	}
}

// inside reports whether the run lies inside low.
func (s *scan32) inside(run *Span) bool {
	size := uint64(len(s.low))
	return run.Start <= size && uint64(run.Len) <= size-run.Start
}

// scanOne scans the next run from its element offset on, in parts. It reports
// whether the run is complete; if not, dst is full and the run is cut down to
// what is left.
func (s *scan32) scanOne(offset uint64) (hits int, complete bool) {
	run := (*Span)(s.runs)
	if !s.inside(run) {
		panic(fmt.Sprintf("asm: run of %d elements from %d is not inside %d elements", run.Len, run.Start, len(s.low)))
	}
	for offset < uint64(run.Len) {
		length := min(uint64(run.Len)-offset, within32Call)
		part := Span{run.Start + offset, uint32(length), run.Limit}
		c := *s
		c.runs, c.count, c.longest = unsafe.Pointer(&part), 1, within32Call
		c.call()
		hits += c.hits
		if c.done == 0 {
			// Assembly stops before a block whose hits do not all fit; the last
			// of dst is filled here, so that every backend fills it alike.
			part.Start += c.offset
			part.Len -= uint32(c.offset)
			c.hits, c.done, c.offset = 0, 0, 0
			within32Generic(&c)
			hits += c.hits
			if c.done == 0 {
				left := part.Start + c.offset - run.Start
				run.Start += left
				run.Len -= uint32(left)
				return hits, false
			}
			c.dst = c.dst[c.hits:]
		}
		s.dst = c.dst
		offset += length
	}
	return hits, true
}
