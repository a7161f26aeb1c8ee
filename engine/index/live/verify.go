package live

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"ndd/engine/index/live/version"
	"ndd/engine/storage/store"
)

func verify(ctx context.Context, files []*store.File, threads int, progress func(done, of uint64)) error {
	of := uint64(0)
	for _, f := range files {
		of += f.Bytes()
	}
	var done atomic.Uint64
	for _, f := range files {
		err := f.Verify(ctx, threads, func(bytes int) {
			if d := done.Add(uint64(bytes)); progress != nil {
				progress(d, of)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scrubBlocks are checked at a time, while a view holds their file: 1 MiB.
const scrubBlocks = 16

// Scrub holds every block of the index's files against its checksum, piece by piece: after each
// piece it calls pace with the piece's bytes, and those of all files, to wait as long as the caller
// wants; an error of pace ends the scrub. Between pieces nothing is held: files that a merge has
// replaced meanwhile are left out, and new ones are checked. The error wraps [store.ErrCorrupt]
// where a block is damaged. Any number of goroutines may query and change the index meanwhile.
func (x *Index) Scrub(ctx context.Context, pace func(bytes, of uint64) error) error {
	next := map[*store.File]uint64{} // the first block that was not checked
	for {
		bytes, of, err := x.scrubSome(next)
		if err = cmp.Or(err, ctx.Err()); err != nil || of == 0 {
			return err
		}
		if bytes > 0 {
			if err := pace(bytes, of); err != nil {
				return err
			}
		}
	}
}

// scrubSome checks the next blocks of a file of the index, which may be none, and returns the bytes
// of all files; 0 if there is nothing left to check.
func (x *Index) scrubSome(next map[*store.File]uint64) (bytes, of uint64, err error) {
	w, err := x.View()
	if err != nil {
		return 0, 0, err
	}
	defer w.Release()
	files := filesOf(w.Version.Segments)
	i := slices.IndexFunc(files, func(f *store.File) bool { return next[f] != checked })
	if i < 0 {
		return 0, 0, nil
	}
	for _, f := range files {
		of += f.Bytes()
	}
	f := files[i]
	bytes, more, err := f.VerifyBlocks(next[f], next[f]+scrubBlocks)
	if next[f] += scrubBlocks; !more {
		next[f] = checked
	}
	return bytes, of, err
}

// checked is the block after the last one of any file.
const checked = math.MaxUint64

// filesOf returns the files of segments.
func filesOf(segments []*version.Segment) (files []*store.File) {
	for _, s := range segments {
		if s.File != nil {
			for _, f := range []*store.File{s.File, s.Beside, s.SketchFile} {
				if f != nil {
					files = append(files, f)
				}
			}
		}
	}
	return files
}
