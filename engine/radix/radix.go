// Package radix sorts permuted fingerprints, alone or each with the ordinal of
// its document.
//
// The sort is a most-significant-digit radix sort that writes each element
// twice or so: the first pass permutes the input, counts the leading bits and
// scatters the elements into as many as 4,096 buckets; each bucket, small
// enough for the cache by then, is split the same way by the bits that follow
// until about eight elements are left, which an insertion sort puts in order.
//
//	input --permute, count--> offsets --permute, scatter--> buckets --in cache--> sorted
//
// Cost for n = 1e8: two sequential reads of the input, one scattered write of
// the output (8 bytes each, 4,096 streams), one read and write in cache:
// about 20 ns an element and thread. Memory: the input, the output, and one
// buffer a thread of the size of its largest bucket. Skew costs at most one
// pass per 12 bits: equal elements are never compared with each other more
// than once a pass, and a bucket of n equal elements takes six passes.
//
// The sort is stable, so documents of one fingerprint stay in the order of
// their ordinals.
package radix

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"ndd/asm"
)

// element is a key, or a key and a document's ordinal; the key is the first.
type element interface{ [1]uint64 | [2]uint64 }

// A Pair is a permuted fingerprint and the ordinal of a document.
type Pair = [2]uint64

const (
	digitMax  = 12 // bits of a digit: 4,096 write streams and counters
	leafMax   = 24 // elements that an insertion sort takes
	chunkSize = 2048
)

// Keys sets dst to the sorted fingerprints of src under the permutation that
// moves mask to the front. dst must have the length of src and not overlap it.
func Keys(dst, src []uint64, mask uint64, threads int) {
	d := unsafe.Slice((*[1]uint64)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst))
	s := &sorter[[1]uint64]{src: src, mask: mask, make: func(dst [][1]uint64, keys []uint64, _ int) {
		copy(dst, unsafe.Slice((*[1]uint64)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys)))
	}}
	s.sort(d, threads)
}

// Pairs sets dst to the sorted fingerprints of src, each with its row in src,
// rows of one fingerprint ascending.
func Pairs(dst []Pair, src []uint64, mask uint64, threads int) {
	s := &sorter[[2]uint64]{src: src, mask: mask, make: func(dst []Pair, keys []uint64, at int) {
		for i, k := range keys {
			dst[i] = Pair{k, uint64(at + i)}
		}
	}}
	s.sort(dst, threads)
}

type sorter[E element] struct {
	src  []uint64
	mask uint64
	make func(dst []E, keys []uint64, at int)
}

// sort partitions src by its leading digit into dst, in parallel, and sorts
// the buckets, in parallel.
func (s *sorter[E]) sort(dst []E, threads int) {
	if len(dst) != len(s.src) {
		panic("radix: lengths differ")
	}
	n := len(dst)
	threads = max(1, min(threads, n/chunkSize))
	width := digitWidth(n)
	shift := 64 - width

	// starts[t][d]: where thread t writes its next element of digit d.
	starts := make([][]int, threads)
	each(threads, func(t int) {
		count := make([]int, 1<<width)
		s.chunks(t, threads, func(elems []E) {
			for i := range elems {
				count[elems[i][0]>>shift]++
			}
		})
		starts[t] = count
	})
	at, largest := 0, 0
	ends := make([]int, 1<<width)
	for d := range ends {
		from := at
		for t := range starts {
			at, starts[t][d] = at+starts[t][d], at
		}
		ends[d] = at
		largest = max(largest, at-from)
	}
	each(threads, func(t int) {
		start := starts[t]
		s.chunks(t, threads, func(elems []E) {
			for _, e := range elems {
				d := e[0] >> shift
				dst[start[d]] = e
				start[d]++
			}
		})
	})

	var next atomic.Int64
	each(threads, func(int) {
		var tmp []E
		for {
			d := int(next.Add(1) - 1)
			if d >= len(ends) {
				return
			}
			from := 0
			if d > 0 {
				from = ends[d-1]
			}
			if n := ends[d] - from; n > len(tmp) {
				tmp = make([]E, min(largest, n+n/4))
			}
			sortBits(dst[from:ends[d]], tmp, shift)
		}
	})
}

// chunks calls f with thread t's part of the input, permuted, a cache-sized
// chunk at a time.
func (s *sorter[E]) chunks(t, threads int, f func([]E)) {
	keys := make([]uint64, chunkSize)
	elems := make([]E, chunkSize)
	from, to := part(t, threads, len(s.src)), part(t+1, threads, len(s.src))
	for ; from < to; from += chunkSize {
		n := min(chunkSize, to-from)
		asm.Permute(keys[:n], s.src[from:from+n], s.mask)
		s.make(elems, keys[:n], from)
		f(elems[:n])
	}
}

func part(t, threads, n int) int {
	hi, lo := bits.Mul64(uint64(n), uint64(t))
	q, _ := bits.Div64(hi, lo, uint64(threads))
	return int(q)
}

// digitWidth aims at eight elements a bucket.
func digitWidth(n int) int { return min(max(bits.Len(uint(n))-3, 1), digitMax) }

// sortBits sorts a by the lowest low bits of its keys, the others being equal,
// with the help of a tmp at least as long.
func sortBits[E element](a, tmp []E, low int) {
	if len(a) <= leafMax || low == 0 {
		insertion(a)
		return
	}
	var ends [1 << digitMax]int
	width := min(digitWidth(len(a)), low)
	shift := low - width
	end := ends[:1<<width]
	digit := func(e E) uint64 { return e[0] >> shift & (1<<width - 1) }
	for i := range a {
		end[digit(a[i])]++
	}
	at := 0
	for d, n := range end {
		end[d] = at
		at += n
	}
	tmp = tmp[:len(a)]
	for _, e := range a {
		d := digit(e)
		tmp[end[d]] = e
		end[d]++
	}
	copy(a, tmp)
	from := 0
	for _, to := range end {
		if to-from > 1 {
			if to-from <= leafMax {
				insertion(a[from:to])
			} else {
				sortBits(a[from:to], tmp, shift)
			}
		}
		from = to
	}
}

func insertion[E element](a []E) {
	for i := 1; i < len(a); i++ {
		e := a[i]
		j := i
		for ; j > 0 && a[j-1][0] > e[0]; j-- {
			a[j] = a[j-1]
		}
		a[j] = e
	}
}

func each(n int, f func(int)) {
	if n == 1 {
		f(0)
		return
	}
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { f(i) })
	}
	wait.Wait()
}

// Distinct moves the distinct keys of a sorted slice to its front.
func Distinct(keys []uint64) []uint64 { return slices.Compact(keys) }
