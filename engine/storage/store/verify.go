package store

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// smallBytes is the section that [File.VerifySmall] takes for small: heads,
// counts, designs and code lengths are less than a page; the names' ends of 30
// million documents fit.
const smallBytes = 1 << 20

// VerifySmall checks the blocks of the sections of at most 1 MiB. Together
// with what [Open] checks this vouches for all that says how the other
// sections are to be read, in time independent of their size. It says nothing
// about the blocks of larger sections: a flipped bit there stays unnoticed
// unless it makes the content inconsistent.
func (f *File) VerifySmall() (err error) {
	defer CatchFault(&err)()
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

// LargeBytes are the bytes that [File.VerifySmall] leaves out.
func (f *File) LargeBytes() (sum uint64) {
	for i := range f.entries {
		if f.entries[i].length > smallBytes {
			sum += f.entries[i].padded()
		}
	}
	return sum
}

// Verify checks every block of every section with the given number of
// goroutines. The first mismatch ends it; the error wraps [ErrCorrupt].
// progress, unless nil, is called with bytes as they are done, from many
// goroutines.
func (f *File) Verify(ctx context.Context, threads int, progress func(bytes int)) error {
	group, ctx := errgroup.WithContext(ctx)
	const stride = 64 // blocks taken at a time: 4 MiB
	var next atomic.Int64
	for range max(threads, 1) {
		group.Go(func() (err error) {
			defer CatchFault(&err)()
			for ctx.Err() == nil {
				from := uint64(next.Add(stride) - stride)
				more, err := f.verify(from, from+stride, progress)
				if !more || err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// verify checks blocks [from, to) of all sections' blocks counted through;
// more is false when from is past the last.
func (f *File) verify(from, to uint64, progress func(int)) (more bool, err error) {
	sums, first := f.tail.sums, uint64(0)
	for i := range f.entries {
		e := &f.entries[i]
		n := e.blocks()
		for b := max(from, first); b < min(to, first+n); b++ {
			k := b - first
			at := e.offset + k*blockBytes
			data := f.data[at:min(at+blockBytes, e.offset+e.padded())]
			if binary.LittleEndian.Uint64(f.data[sums+k*sumBytes:]) != f.head.sum(uint64(i), k, data) {
				return false, &CorruptError{File: f.path, Section: e.name, Block: int64(k), Offset: int64(at), Why: mismatch}
			}
			if progress != nil {
				progress(len(data))
			}
		}
		sums += n * sumBytes
		first += n
	}
	return from < first, nil
}
