package radix

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"example.org/ndd/asm"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

const (
	chunkKeys   = 2048    // number of keys that are permuted at once: 16 KiB, in the first-level cache
	digitMax    = 13      // maximum bits of a leading digit: 8,192 write streams
	bucketAim   = 13      // log2 of the target size of a bucket if leaves are sorted in Go
	bucketWide  = 15      // the same if AVX-512 sorts leaves: 256 KiB, and as much for the copy
	heavyMin    = 1 << 16 // minimum number of elements of a heavy bucket
	heavyShares = 64      // a bucket is heavy above 1/heavyShares of the input, divided by the number of threads
)

// An interval has the keys from low to high.
type interval struct{ low, high uint64 }

// A sorter is the state of one call that sorts the keys of an input, alone or with their rows.
type sorter[R row] struct {
	input     Input
	len       int
	mask      uint64
	threads   int
	aim       int                                                      // log2 of the target size of a bucket
	heavy     int                                                      // a bucket with more keys is sorted separately
	rows      bool                                                     // rows are sorted with the keys
	workers   []*worker                                                // one per thread
	buffers   func(n int) ([]uint64, []R)                              // memory for the next n sorted keys and rows
	bufferLen int                                                      // maximum n of buffers
	yield     func(ctx context.Context, keys []uint64, rows []R) error // passes on the sorted keys
	order     *order                                                   // for [Distinct]: receives buckets instead of yield
	emit      func(keys []uint64, ends []uint32) error                 // for [Buckets]: receives parts of buckets, not yield
	floor     int                                                      // the lowest bit to sort by
}

func newSorter[R row](in Input, o Options) *sorter[R] {
	s := &sorter[R]{input: in, len: in.Len(), mask: o.Mask}
	s.threads = max(1, min(o.Threads, s.len/(4*chunkKeys)))
	s.aim = bucketAim
	if asm.Accelerated(asm.KernelSortLeaves) {
		s.aim = bucketWide
	}
	s.heavy = max(heavyMin, s.len/(heavyShares*s.threads))
	for range s.threads {
		s.workers = append(s.workers, &worker{})
	}
	return s
}

// sortInto sorts all elements into keys, and their rows into rows if s.rows is set.
func (s *sorter[R]) sortInto(ctx context.Context, keys []uint64, rows []R) error {
	if len(keys) != s.len {
		panic("radix: lengths differ")
	}
	end := 0
	s.bufferLen = s.len
	s.buffers = func(n int) ([]uint64, []R) {
		start := end
		end += n
		if !s.rows {
			return keys[start:end:end], nil
		}
		return keys[start:end:end], rows[start:end:end]
	}
	s.yield = func(context.Context, []uint64, []R) error { return nil }
	return s.run(ctx)
}

// walk sorts ranges of the keys one after the other, in buffers of limit elements.
func (s *sorter[R]) walk(ctx context.Context, limit int, yield func([]uint64, []R) error) error {
	if limit <= 0 || limit > s.len {
		limit = s.len
	}
	keys, err := memory.Make[uint64](limit)
	if err != nil {
		return err
	}
	defer keys.Free()
	var rows *memory.Buffer[R]
	if s.rows {
		if rows, err = memory.Make[R](limit); err != nil {
			return err
		}
		defer rows.Free()
	}
	s.bufferLen, s.heavy = limit, min(s.heavy, limit)
	s.buffers = func(n int) ([]uint64, []R) {
		if rows == nil {
			return keys.Data[:n], nil
		}
		return keys.Data[:n], rows.Data[:n]
	}
	s.yield = func(_ context.Context, keys []uint64, rows []R) error { return yield(keys, rows) }
	return s.run(ctx)
}

// run sorts all elements, and frees the memory of the threads.
func (s *sorter[R]) run(ctx context.Context) error {
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

// sort sorts the n elements of an interval and passes them on. The width of the interval must be a power of two, and
// its start a multiple of the width.
func (s *sorter[R]) sort(ctx context.Context, iv interval, n int) error {
	width := bits.Len64(iv.high ^ iv.low)
	if width == 0 && s.emit == nil {
		return s.copy(ctx, iv.low, n)
	}
	// Count the keys of each value of the leading digit.
	digit := s.digit(width, n)
	shift := width - digit
	counts, err := s.count(ctx, iv, shift)
	if err != nil {
		return err
	}
	sizes := bucketSizes(counts, 1<<digit)
	// Find the first and the last bucket with keys.
	first, last := 0, 1<<digit-1
	for first < last && sizes[first] == 0 {
		first++
	}
	for last > first && sizes[last] == 0 {
		last--
	}
	if part := bits.Len(uint(first ^ last)); n > s.heavy && part < digit-1 && shift+part > s.floor {
		// Keys that share leading bits, such as a range of all keys, fill few buckets, and most of these would be
		// heavy.
		low := iv.low + uint64(first>>part<<part)<<shift
		return s.sort(ctx, interval{low, low + 1<<(shift+part) - 1}, n)
	}
	complete := s.emit != nil && shift == s.floor // emit receives complete buckets, so none is split
	// Sort heavy buckets by themselves, and others together as far as there is space.
	for d := 0; d < 1<<digit; {
		low := iv.low + uint64(d)<<shift
		size := sizes[d]
		if iv := (interval{low, low + 1<<shift - 1}); size > s.heavy && !complete || size > s.bufferLen {
			if complete {
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
		// Take as many further buckets as fit.
		end := d + 1
		for ; end < 1<<digit && (sizes[end] <= s.heavy || complete) && size+sizes[end] <= s.bufferLen; end++ {
			size += sizes[end]
		}
		if size > 0 {
			r := interval{low, iv.low + uint64(end)<<shift - 1}
			if err := s.scatter(ctx, r, shift, counts, d, end, size); err != nil {
				return err
			}
		}
		d = end
	}
	return nil
}

// bucketSizes returns the number of keys in each bucket, which several goroutines have counted.
func bucketSizes(counts [][]uint64, buckets int) []int {
	sizes := make([]int, buckets)
	for _, part := range counts {
		for d, n := range part[:buckets] {
			sizes[d] += int(n)
		}
	}
	return sizes
}

// digit returns the number of leading bits that divide n elements into buckets. The elements differ only in the last
// width bits.
func (s *sorter[R]) digit(width, n int) int {
	length := bits.Len(uint(n))
	if s.rows {
		return min(width, rowsDigitMax, length/2+1) // so that positions within a bucket need no more bits
	}
	return min(width-s.floor, digitMax, max(length-s.aim, 1))
}

// count counts the digits of an interval's elements, by thread.
func (s *sorter[R]) count(ctx context.Context, iv interval, shift int) ([][]uint64, error) {
	counts := make([][]uint64, s.threads)
	err := s.eachPart(func(t int) error {
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

// scatter moves the size elements of an interval, with digits [first, end), to their buckets, sorts these and passes
// them on.
func (s *sorter[R]) scatter(ctx context.Context, iv interval, shift int, counts [][]uint64, first, end, size int) error {
	keys, rows := s.buffers(size)
	// starts[t][d] is the position of the next key of digit d by thread t.
	starts := make([][]uint64, s.threads)
	for t := range starts {
		starts[t] = make([]uint64, end-first)
	}
	ends := make([]int, end-first)
	position := uint64(0)
	for d := range ends {
		for t := range starts {
			starts[t][d] = position
			position += counts[t][first+d]
		}
		ends[d] = int(position)
	}
	// Scatter the keys, and their rows, on all threads.
	err := s.eachPart(func(t int) error {
		b := asm.NewBuckets(keys, starts[t], iv.low, uint(shift))
		var numbers []R
		if rows != nil {
			numbers = make([]R, chunkKeys)
		}
		err := s.keys(ctx, t, iv, func(group []uint64, row int) {
			group = within(group, numbers, row, iv)
			asm.Scatter(b, group)
			if rows != nil {
				scatterRows(rows, numbers, group, starts[t], iv.low, uint(shift))
			}
		})
		asm.ScatterFlush(b)
		return err
	})
	if err != nil {
		return err
	}
	// Sort the buckets and pass them on.
	if err := s.buckets(ctx, keys, rows, ends, shift); err != nil || s.order != nil || s.emit != nil {
		return err
	}
	return s.yield(ctx, keys, rows)
}

// within moves the keys of an interval to the front and returns them. It sets numbers, unless nil, to their rows.
// first is the row of the first key.
func within[R row](keys []uint64, numbers []R, first int, iv interval) []uint64 {
	n, span := 0, iv.high-iv.low
	switch {
	case span == ^uint64(0):
		for i := range numbers[:min(len(keys), len(numbers))] {
			numbers[i] = R(first + i)
		}
		return keys
	case numbers == nil:
		for _, k := range keys {
			keys[n] = k
			if k-iv.low <= span {
				n++
			}
		}
		return keys[:n]
	}
	numbers = numbers[:len(keys)]
	for i, k := range keys {
		keys[n], numbers[n] = k, R(first+i)
		if k-iv.low <= span {
			n++
		}
	}
	return keys[:n]
}

// scatterRows moves the numbers of keys to the positions of the keys: each to the next position of its digit.
func scatterRows[R row](rows, numbers []R, keys, next []uint64, low uint64, shift uint) {
	numbers = numbers[:len(keys)]
	for i, k := range keys {
		d := (k - low) >> (shift & 63)
		p := next[d]
		rows[p] = numbers[i]
		next[d] = p + 1
	}
}

// buckets sorts each bucket by the bits below shift. All threads take buckets one by one.
func (s *sorter[R]) buckets(ctx context.Context, keys []uint64, rows []R, ends []int, shift int) error {
	var next atomic.Int64
	return s.eachPart(func(t int) (err error) {
		for {
			d := int(next.Add(1) - 1)
			if d >= len(ends) {
				return nil
			}
			// Find the bucket.
			start := 0
			if d > 0 {
				start = ends[d-1]
			}
			if d%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			// Sort it, and pass it on.
			bucket := keys[start:ends[d]]
			switch {
			case rows != nil:
				err = sortRows(s.workers[t], bucket, rows[start:ends[d]], shift)
			case s.order != nil:
				err = s.order.distinct(s.workers[t], bucket, shift)
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

// copy passes on the n keys of one value, with their rows in input order.
func (s *sorter[R]) copy(ctx context.Context, key uint64, n int) error {
	keys, rows := s.buffers(min(n, s.bufferLen))
	if s.order != nil {
		return s.order.take(keys, []uint64{key})
	}
	part, count, errYield := *s, 0, error(nil)
	part.threads = 1
	numbers := make([]R, chunkKeys)
	err := part.keys(ctx, 0, interval{key, key}, func(group []uint64, row int) {
		for i := range within(group, numbers, row, interval{key, key}) {
			if errYield != nil {
				return
			}
			if keys[count] = key; rows != nil {
				rows[count] = numbers[i]
			}
			if count++; count == len(keys) {
				errYield = s.yield(ctx, keys, rows)
				if n -= count; n > 0 {
					keys, rows = s.buffers(min(n, s.bufferLen))
					count = 0
				}
			}
		}
	})
	return errors.Join(errYield, err)
}

// keys calls f with the part of the input of thread t, or with a part of it that contains the interval. The keys are
// permuted, and come in cache-sized chunks with the row of the first.
func (s *sorter[R]) keys(ctx context.Context, t int, iv interval, f func(keys []uint64, row int)) error {
	buffer := make([]uint64, chunkKeys)
	take := func(piece []uint64, row int) error {
		for a := 0; a < len(piece); a += chunkKeys {
			fingerprints := piece[a:min(a+chunkKeys, len(piece))]
			keys := buffer[:len(fingerprints)]
			asm.Permute(keys, fingerprints, s.mask)
			f(keys, row+a)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	}
	if in, ok := s.input.(rangeInput); ok && s.threads == 1 {
		return in.ReadWithin(s.mask, iv.low, iv.high, take)
	}
	return s.input.Read(t, s.threads, take)
}

// eachPart calls f for every thread concurrently.
func (s *sorter[R]) eachPart(f func(t int) error) error {
	if s.threads == 1 {
		return f(0)
	}
	var group errgroup.Group
	for t := range s.threads {
		group.Go(func() (err error) {
			defer func() {
				if err != nil && s.order != nil {
					s.order.fail(err) // other threads may wait for this one
				}
			}()
			defer store.EndFaults(store.BeginFaults(), &err) // the input may be mapped
			return f(t)
		})
	}
	return group.Wait()
}
