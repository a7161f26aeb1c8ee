package store

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// smallBytes is the maximum size of a section that [File.VerifySmall] checks. Heads, counts, designs and code lengths
// take less than a page. The ends of the names of 30 million documents fit, too.
const smallBytes = 1 << 20

// VerifySmall checks the blocks of sections up to 1 MiB. The time does not depend on the size of the others. Together
// with [Open] it covers all data that controls how the large sections are read. A flipped bit in a larger section is
// not detected, unless it makes the content inconsistent. The error wraps [ErrCorrupt].
func (f *File) VerifySmall() (err error) {
	defer EndFaults(BeginFaults(), &err)
	first := uint64(0)
	for i := range f.entries {
		n := f.entries[i].blocks()
		if f.entries[i].length <= smallBytes {
			if _, err := f.verify(first, first+n, nil); err != nil {
				return err
			}
		}
		first += n
	}
	return nil
}

// LargeBytes returns the number of bytes that [File.VerifySmall] does not check.
func (f *File) LargeBytes() (sum uint64) {
	for i := range f.entries {
		if f.entries[i].length > smallBytes {
			sum += f.entries[i].padded()
		}
	}
	return sum
}

// Verify checks every block of every section with the given number of goroutines, at about 5 GB/s each. It returns at
// the first mismatch, with an error that wraps [ErrCorrupt], or when ctx ends. Many goroutines call progress, unless
// it is nil, with the size of each checked block.
func (f *File) Verify(ctx context.Context, threads int, progress func(bytes int)) error {
	group, ctx := errgroup.WithContext(ctx)
	const stride = 64 // blocks taken at a time: 4 MiB
	var next atomic.Int64
	for range max(threads, 1) {
		group.Go(func() (err error) {
			defer EndFaults(BeginFaults(), &err)
			for ctx.Err() == nil {
				start := uint64(next.Add(stride) - stride)
				ok, err := f.verify(start, start+stride, progress)
				if !ok || err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// verify checks the blocks [start, end) of the file, counted through all sections. ok is false if start is after the
// last block.
func (f *File) verify(start, end uint64, progress func(int)) (ok bool, err error) {
	sums, first := f.tail.sums, uint64(0)
	for i := range f.entries {
		e := &f.entries[i]
		n := e.blocks()
		if begin, stop := max(start, first), min(end, first+n); begin < stop {
			f.prefetch(e.offset+(begin-first)*blockBytes, min(e.offset+(stop-first)*blockBytes, e.offset+e.padded()))
		}
		for b := max(start, first); b < min(end, first+n); b++ {
			k := b - first
			offset := e.offset + k*blockBytes
			data := f.data[offset:min(offset+blockBytes, e.offset+e.padded())]
			if binary.LittleEndian.Uint64(f.data[sums+k*sumBytes:]) != f.head.sum(uint64(i), k, data) {
				return false, &CorruptError{File: f.path, Section: e.name, Block: int64(k), Offset: int64(offset), Reason: mismatch}
			}
			if progress != nil {
				progress(len(data))
			}
		}
		sums += n * sumBytes
		first += n
	}
	return start < first, nil
}

// VerifyBlocks checks the blocks [start, end), counted through all sections, and returns their size in bytes. ok is
// false if start is after the last block. The error wraps [ErrCorrupt].
func (f *File) VerifyBlocks(start, end uint64) (bytes uint64, ok bool, err error) {
	defer EndFaults(BeginFaults(), &err)
	ok, err = f.verify(start, end, func(n int) { bytes += uint64(n) })
	return bytes, ok, err
}
