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
// span of up to 32 elements is straight-line code, two masked loads, XORs and
// popcounts, one comparison and about 20 other instructions: 6 cycles, and no branch
// that depends on its length (BenchmarkWithin32Cache: 2.4 ns, the call included). From
// memory: two or three lines a span, which Prefetch32 asks for all at once.
func Within32(dst []Hit32, low []uint32, q uint32, spans []Span) (hits, done int) {
	raceWrite(dst)
	raceRead(spans)
	return runs32{unsafe.Pointer(unsafe.SliceData(spans)), spanBytes, q}.scan(dst, low, len(spans))
}

// Within32Runs is Within32 for runs that each have their own query: the probes of
// a whole batch.
func Within32Runs(dst []Hit32, low []uint32, runs []Run) (hits, done int) {
	raceWrite(dst)
	raceRead(runs)
	return runs32{unsafe.Pointer(unsafe.SliceData(runs)), runBytes, 0}.scan(dst, low, len(runs))
}

const (
	spanBytes = unsafe.Sizeof(Span{})
	runBytes  = unsafe.Sizeof(Run{})
)

// runs32 is a list of spans or of runs. A Run begins with its Span, so that one
// kernel serves both forms: a stride of runBytes says that each has a query of its
// own, and q is not looked at.
type runs32 struct {
	first  unsafe.Pointer
	stride uintptr // spanBytes or runBytes
	q      uint32
}

// from is the list from its element i on, which must exist.
func (r runs32) from(i int) runs32 {
	r.first = unsafe.Add(r.first, uintptr(i)*r.stride)
	return r
}

// scan scans the first total runs of the list.
func (r runs32) scan(dst []Hit32, low []uint32, total int) (hits, done int) {
	for done < total {
		next, count := r.from(done), min(total-done, within32Runs)
		if raceEnabled {
			next.annotate(low, count)
		}
		found, ready, offset := within32(dst[hits:], low, next.first, next.stride, count, within32Long, uint32(done), next.q)
		hits += found
		done += ready
		if ready == count {
			continue
		}
		// One run that needs care: a long one, or one with more hits than room.
		found, complete := r.from(done).scanOne(dst[hits:], low, uint32(done), offset)
		hits += found
		if !complete {
			break
		}
		done++
	}
	return hits, done
}

// scanOne scans the first run of the list from its element offset on, in parts. It
// reports whether the run is complete; if not, dst is full and the run is cut down
// to what is left.
func (r runs32) scanOne(dst []Hit32, low []uint32, number uint32, offset uint64) (hits int, complete bool) {
	run := (*Span)(r.first)
	if !run.inside(low) {
		panic(fmt.Sprintf("asm: run of %d elements from %d is not inside %d elements", run.Len, run.Start, len(low)))
	}
	raceRead(low[run.Start : run.Start+uint64(run.Len)])
	part := Run{Span: *run, Query: r.q}
	if r.stride == runBytes {
		part.Query = (*Run)(r.first).Query
	}
	end := run.Start + uint64(run.Len)
	for part.Start += offset; part.Start < end; part.Start += uint64(part.Len) {
		part.Len = uint32(min(end-part.Start, within32Call))
		found, ready, at := within32(dst[hits:], low, unsafe.Pointer(&part), runBytes, 1, within32Call, number, 0)
		hits += found
		if ready == 1 {
			continue
		}
		// Assembly stops before a block whose hits do not all fit; the last of
		// dst is filled here, so that every backend fills it alike.
		part.Start += at
		part.Len -= uint32(at)
		found, ready, at = within32Generic(dst[hits:], low, unsafe.Pointer(&part), runBytes, 1, within32Call, number, 0)
		hits += found
		if ready == 0 {
			run.Start, run.Len = part.Start+at, uint32(end-part.Start-at)
			return hits, false
		}
	}
	return hits, true
}

// annotate tells the race detector of the first count runs that the kernel may
// read.
func (r runs32) annotate(low []uint32, count int) {
	for i := range count {
		run := (*Span)(r.from(i).first)
		if run.inside(low) && run.Len <= within32Long {
			raceRead(low[run.Start : run.Start+uint64(run.Len)])
		}
	}
}

// inside reports whether the span lies inside low.
func (s *Span) inside(low []uint32) bool {
	size := uint64(len(low))
	return s.Start <= size && uint64(s.Len) <= size-s.Start
}
