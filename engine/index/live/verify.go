package live

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/storage/store"
)

func verify(ctx context.Context, files []*store.File, threads int, progress func(done, total uint64)) error {
	total := uint64(0)
	for _, f := range files {
		total += f.Bytes()
	}
	var done atomic.Uint64
	for _, f := range files {
		err := f.Verify(ctx, threads, func(bytes int) {
			if d := done.Add(uint64(bytes)); progress != nil {
				progress(d, total)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scrubBlocks is the number of blocks that are checked at a time, while a view holds their file: 1 MiB.
const scrubBlocks = 16

// Scrub checks every block of the index's files against its checksum, piece by piece. After each piece it calls pace
// with the bytes of the piece and of all files. pace may wait; its error ends the scrub. Between pieces nothing is
// held: files that a merge has replaced meanwhile are skipped, and new ones are checked. The error wraps
// [store.ErrCorrupt] if a block is damaged. Scrub is safe for concurrent use with all other calls.
func (x *Index) Scrub(ctx context.Context, pace func(bytes, total uint64) error) error {
	next := map[*store.File]uint64{} // first block to check
	for {
		w, err := x.View()
		if err != nil {
			return err
		}
		bytes, total, err := scrubSome(filesOf(w.Version.Segments), next)
		w.Release()
		if err = cmp.Or(err, ctx.Err()); err != nil || total == 0 {
			return err
		}
		if bytes > 0 {
			if err := pace(bytes, total); err != nil {
				return err
			}
		}
	}
}

// scrubSome checks the next blocks of a file and returns their bytes and the bytes of all files. It returns 0 bytes of
// all files if there is nothing left to check.
func scrubSome(files []*store.File, next map[*store.File]uint64) (bytes, total uint64, err error) {
	i := slices.IndexFunc(files, func(f *store.File) bool { return next[f] != checked })
	if i < 0 {
		return 0, 0, nil
	}
	for _, f := range files {
		total += f.Bytes()
	}
	f := files[i]
	bytes, ok, err := f.VerifyBlocks(next[f], next[f]+scrubBlocks)
	if next[f] += scrubBlocks; !ok {
		next[f] = checked
	}
	return bytes, total, err
}

// checked is a block number after the last block of any file.
const checked = math.MaxUint64

// filesOf returns the files of segments.
func filesOf(segments []*version.Segment) (files []*store.File) {
	for _, s := range segments {
		files = append(files, s.Files()...)
	}
	return files
}
