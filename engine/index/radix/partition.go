package radix

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"ndd/asm"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

const (
	chunkKeys   = 2048    // permuted at a time: 16 KiB, in the first-level cache
	digitMax    = 13      // bits of a leading digit: 8,192 write streams
	bucketAim   = 13      // log2 of the elements that a bucket may have, where leaves are sorted in Go
	bucketWide  = 15      // the same for keys, where AVX-512 sorts leaves: 256 KiB, and as much for the copy
	heavyLeast  = 1 << 16 // elements below which no bucket is heavy
	heavyShares = 64      // of all threads together
)

// An interval holds the keys from low to high.
type interval struct{ low, high uint64 }

// A sorter is the state of one call that sorts the elements of an input.
type sorter[E element] struct {
	in      Input
	len     int
	mask    uint64
	threads int
	aim     int                                       // log2 of the elements that a bucket may have
	heavy   int                                       // a bucket of more elements is sorted by itself
	make    func(dst []E, keys []uint64, row int) []E // elements of permuted fingerprints
	// of [SortRows]: where the rows of the next elements, which are keys, go; else nil
	rows    []uint32
	workers []*worker[E]                                // by thread
	place   func(n int) []E                             // where the next n sorted elements go
	room    int                                         // the most that place gives
	yield   func(ctx context.Context, sorted []E) error // they are there
	order   *order                                      // of [Distinct]: takes each bucket instead of yield
	emit    func(keys []uint64, ends []uint32) error    // of [Buckets]: takes what each bucket is split into instead
	floor   int                                         // the lowest bit that is looked at
}

func newSorter[E element](in Input, o Options, make_ func([]E, []uint64, int) []E) *sorter[E] {
	s := &sorter[E]{in: in, len: in.Len(), mask: o.Mask, make: make_}
	s.threads = max(1, min(o.Threads, s.len/(4*chunkKeys)))
	s.aim = bucketAim
	var e E
	if len(e) == 1 && asm.Accelerated(asm.KernelSortLeaves) {
		s.aim = bucketWide
	}
	s.heavy = max(heavyLeast, s.len/(heavyShares*s.threads))
	for range s.threads {
		s.workers = append(s.workers, &worker[E]{})
	}
	return s
}

// into sorts everything into dst.
func (s *sorter[E]) into(ctx context.Context, dst []E) error {
	if len(dst) != s.len {
		panic("radix: lengths differ")
	}
	s.room = s.len
	s.place = func(n int) (to []E) {
		to, dst = dst[:n:n], dst[n:]
		return to
	}
	s.yield = func(context.Context, []E) error { return nil }
	return s.run(ctx)
}

// walk sorts ranges of the keys, one after the other, in a buffer of room elements.
func (s *sorter[E]) walk(ctx context.Context, room int, yield func([]E) error) error {
	if room <= 0 || room > s.len {
		room = s.len
	}
	buffer, err := memory.Make[E](room)
	if err != nil {
		return err
	}
	defer buffer.Free()
	s.room, s.heavy = room, min(s.heavy, room)
	s.place = func(n int) []E { return buffer.Data[:n] }
	s.yield = func(_ context.Context, sorted []E) error { return yield(sorted) }
	return s.run(ctx)
}

// run sorts everything, and gives the memory of the threads back.
func (s *sorter[E]) run(ctx context.Context) error {
	defer func() {
		for _, w := range s.workers {
			w.free()
		}
	}()
	if s.len == 0 {
		return ctx.Err()
	}
	return s.sort(ctx, interval{0, ^uint64(0)}, s.len)
}

// sort sorts the n elements of an interval, which must be a power of two wide
// and aligned to it, and passes them on.
func (s *sorter[E]) sort(ctx context.Context, iv interval, n int) error {
	width := bits.Len64(iv.high ^ iv.low)
	if width == 0 && s.emit == nil {
		return s.copy(ctx, iv.low, n)
	}
	digit := s.digit(width, n)
	shift := width - digit
	counts, err := s.count(ctx, iv, shift)
	if err != nil {
		return err
	}
	total := func(d int) (sum int) {
		for t := range counts {
			sum += int(counts[t][d])
		}
		return sum
	}
	first, last := 0, 1<<digit-1
	for first < last && total(first) == 0 {
		first++
	}
	for last > first && total(last) == 0 {
		last--
	}
	if part := bits.Len(uint(first ^ last)); n > s.heavy && part < digit-1 && shift+part > s.floor {
		// Keys that share leading bits, such as a range of all keys, fill few buckets, and most of
		// those would be heavy.
		low := iv.low + uint64(first>>part<<part)<<shift
		return s.sort(ctx, interval{low, low + 1<<(shift+part) - 1}, n)
	}
	whole := s.emit != nil && shift == s.floor // buckets are done: none is split
	for d := 0; d < 1<<digit; {
		low := iv.low + uint64(d)<<shift
		size := total(d)
		if iv := (interval{low, low + 1<<shift - 1}); size > s.heavy && !whole || size > s.room {
			if whole {
				err = s.fill(ctx, iv)
			} else {
				err = s.sort(ctx, iv, size)
			}
			if err != nil {
				return err
			}
			d++
			continue
		}
		to := d + 1
		for ; to < 1<<digit; to++ {
			if more := total(to); more > s.heavy && !whole || size+more > s.room {
				break
			} else {
				size += more
			}
		}
		if size > 0 {
			r := interval{low, iv.low + uint64(to)<<shift - 1}
			if err := s.scatter(ctx, r, shift, counts, d, to, size); err != nil {
				return err
			}
		}
		d = to
	}
	return nil
}

// digit returns by how many of the leading bits n elements, which differ in the last width ones, are put into buckets.
func (s *sorter[E]) digit(width, n int) int {
	length := bits.Len(uint(n))
	if s.rows != nil {
		return min(width, rowsDigitMax, length/2+1) // so that places within a bucket have no more bits
	}
	return min(width-s.floor, digitMax, max(length-s.aim, 1))
}

// count counts the digits of an interval's elements, by thread.
func (s *sorter[E]) count(ctx context.Context, iv interval, shift int) ([][]uint64, error) {
	counts := make([][]uint64, s.threads)
	err := s.each(func(t int) error {
		count := make([]uint64, (iv.high-iv.low)>>shift+1)
		counts[t] = count
		span := iv.high - iv.low
		return s.keys(ctx, t, iv, func(keys []uint64, _ int) {
			for _, k := range keys {
				if k -= iv.low; k <= span {
					count[k>>(shift&63)]++
				}
			}
		})
	})
	return counts, err
}

// scatter puts the size elements of an interval, which are those of digits
// [from, to), into their buckets, sorts these and passes them on.
func (s *sorter[E]) scatter(ctx context.Context, iv interval, shift int, counts [][]uint64, from, to, size int) error {
	dst, rows := s.place(size), s.placeRows(size)
	// starts[t][d]: where thread t writes its next element of digit d.
	starts := make([][]uint64, s.threads)
	for t := range starts {
		starts[t] = make([]uint64, to-from)
	}
	ends := make([]int, to-from)
	at := uint64(0)
	for d := range ends {
		for t := range starts {
			starts[t][d] = at
			at += counts[t][from+d]
		}
		ends[d] = int(at)
	}
	all := iv == (interval{0, ^uint64(0)})
	err := s.each(func(t int) error {
		if rows != nil {
			put := rowsPutter(asWords(dst), rows, starts[t], iv, uint(shift))
			err := s.keys(ctx, t, iv, put)
			put(nil, 0)
			return err
		}
		put := s.putter(dst, starts[t], iv.low, uint(shift))
		elems := make([]E, chunkKeys)
		err := s.keys(ctx, t, iv, func(keys []uint64, row int) {
			elems := s.make(elems, keys, row)
			if !all {
				elems = within(elems, iv)
			}
			put(elems)
		})
		put(nil)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.buckets(ctx, dst, rows, ends, shift); err != nil || s.order != nil || s.emit != nil {
		return err
	}
	return s.yield(ctx, dst)
}

// putter returns a function that moves elements to their buckets in dst and, called with none,
// completes them. Keys alone go by cache lines.
func (s *sorter[E]) putter(dst []E, start []uint64, low uint64, shift uint) func(elems []E) {
	var e E
	if len(e) == 1 {
		b := newBuckets(asWords(dst), start, low, shift)
		return func(elems []E) {
			if asm.Scatter(b, asWords(elems)); elems == nil {
				asm.ScatterFlush(b)
			}
		}
	}
	return func(elems []E) {
		for i := range elems {
			d := (elems[i][0] - low) >> (shift & 63)
			p := start[d]
			dst[p] = elems[i]
			start[d] = p + 1
		}
	}
}

// asWords views elements, of one word or two, as words.
func asWords[E element](x []E) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(E))/8))
}

// wordsAs views words as elements of one word.
func wordsAs[E element](x []uint64) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// wordsAsRows views words as rows, two of them each.
func wordsAsRows(x []uint64) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

// within moves the elements of an interval to the front.
func within[E element](elems []E, iv interval) []E {
	n, span := 0, iv.high-iv.low
	for i := range elems {
		k := elems[i][0]
		elems[n] = elems[i]
		if k-iv.low <= span {
			n++
		}
	}
	return elems[:n]
}

// buckets sorts each bucket by the bits below shift; all threads take them one
// by one.
func (s *sorter[E]) buckets(ctx context.Context, dst []E, rows []uint32, ends []int, shift int) error {
	var next atomic.Int64
	return s.each(func(t int) (err error) {
		for {
			d := int(next.Add(1) - 1)
			if d >= len(ends) {
				return nil
			}
			from := 0
			if d > 0 {
				from = ends[d-1]
			}
			if d%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			bucket := dst[from:ends[d]]
			switch {
			case rows != nil:
				err = s.workers[t].sortRows(asWords(bucket), rows[from:ends[d]], shift)
			case s.order != nil:
				err = s.distinct(s.workers[t], bucket, shift)
			case s.emit != nil:
				err = s.split(s.workers[t], bucket, shift)
			default:
				err = s.workers[t].sort(bucket, shift)
			}
			if err != nil {
				return err
			}
		}
	})
}

// copy passes on the n elements of one key, in the order of the input.
func (s *sorter[E]) copy(ctx context.Context, key uint64, n int) error {
	if s.order != nil {
		return s.order.take(asWords(s.place(n)), []uint64{key})
	}
	size := min(n, s.room)
	dst, rows, at := s.place(size), s.placeRows(size), 0
	elems := make([]E, chunkKeys)
	one := *s
	one.threads = 1
	if rows != nil {
		return one.keys(ctx, 0, interval{key, key}, rowsPutter(asWords(dst), rows, []uint64{0}, interval{key, key}, 0))
	}
	var failed error
	err := one.keys(ctx, 0, interval{key, key}, func(keys []uint64, row int) {
		for _, e := range within(s.make(elems, keys, row), interval{key, key}) {
			if failed != nil {
				return
			}
			dst[at] = e
			if at++; at == size {
				failed = s.yield(ctx, dst)
				if n -= size; n > 0 {
					size = min(n, s.room)
					dst, at = s.place(size), 0
				}
			}
		}
	})
	return errors.Join(failed, err)
}

// keys calls f with thread t's part of the input, or with what of it is in an interval at least,
// permuted, a cache-sized chunk at a time, and the row of its first.
func (s *sorter[E]) keys(ctx context.Context, t int, iv interval, f func(keys []uint64, row int)) error {
	buffer := make([]uint64, chunkKeys)
	take := func(piece []uint64, row int) error {
		for a := 0; a < len(piece); a += chunkKeys {
			prints := piece[a:min(a+chunkKeys, len(piece))]
			keys := buffer[:len(prints)]
			asm.Permute(keys, prints, s.mask)
			f(keys, row+a)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	}
	if in, ok := s.in.(ranged); ok && s.threads == 1 {
		return in.ReadWithin(s.mask, iv.low, iv.high, take)
	}
	return s.in.Read(t, s.threads, take)
}

// each calls f for every thread, at the same time.
func (s *sorter[E]) each(f func(t int) error) error {
	if s.threads == 1 {
		return f(0)
	}
	var group errgroup.Group
	for t := range s.threads {
		group.Go(func() (err error) {
			defer func() {
				if err != nil && s.order != nil {
					s.order.fail(err) // threads may wait for this one
				}
			}()
			defer store.CatchFault(&err)() // the input may be mapped
			return f(t)
		})
	}
	return group.Wait()
}

// newBuckets returns buckets in dst, for asm.Scatter, of keys of at least low: the first key of digit d, which is
// (key-low) >> shift, goes to dst[starts[d]]. It allocates a cache line a digit.
func newBuckets(dst, starts []uint64, low uint64, shift uint) *asm.Buckets {
	b := &asm.Buckets{Dst: dst, Low: low, Shift: shift, Skew: asm.LineOffset(dst), Next: make([]uint64, len(starts))}
	for d, at := range starts {
		b.Next[d] = at + b.Skew
	}
	b.First = slices.Clone(b.Next)
	// Lines begin where cache lines do, so that none lies on two.
	lines := make([]uint64, asm.LineKeys*(len(starts)+1)-1)
	b.Lines = lines[-int(asm.LineOffset(lines))&(asm.LineKeys-1):][:asm.LineKeys*len(starts)]
	return b
}
