package live

import (
	"context"
	"slices"

	"ndd/engine/storage/store"
)

// scrubBlocks are checked at a time, while a view holds their file: 1 MiB.
const scrubBlocks = 16

// Scrub holds every block of the index's files against its checksum, as [Index.Verify] does, but piece by piece: after each
// piece pace is called with its bytes, and of all files, to wait as long as the caller wants; its error ends the scrub.
// Between pieces nothing is held: files that a merge has replaced meanwhile are left out, and those that came are
// checked. The error wraps [store.ErrCorrupt] where a block is damaged. Any number of goroutines may query and change
// the index meanwhile.
func (x *Index) Scrub(ctx context.Context, pace func(bytes, of uint64) error) error {
	checked := map[*store.File]bool{}
	for {
		f, of, err := x.unchecked(checked)
		if f == nil || err != nil {
			return err
		}
		checked[f] = true
		for from, more := uint64(0), true; more; from += scrubBlocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			var bytes uint64
			if bytes, more, err = x.scrubSome(f, from); err != nil {
				return err
			}
			if more {
				if err := pace(bytes, of); err != nil {
					return err
				}
			}
		}
	}
}

// unchecked returns a file of the index that is not among those, nil when there is none, and the bytes of all files.
func (x *Index) unchecked(checked map[*store.File]bool) (next *store.File, of uint64, err error) {
	w, err := x.View()
	if err != nil {
		return nil, 0, err
	}
	defer w.Release()
	for _, f := range filesOf(w.version.segments) {
		of += f.Bytes()
		if next == nil && !checked[f] {
			next = f
		}
	}
	return next, of, nil
}

// scrubSome checks some blocks of a file, unless it is no longer one of the index's.
func (x *Index) scrubSome(f *store.File, from uint64) (bytes uint64, more bool, err error) {
	w, err := x.View()
	if err != nil {
		return 0, false, err
	}
	defer w.Release()
	if !slices.Contains(filesOf(w.version.segments), f) {
		return 0, false, nil
	}
	return f.VerifyBlocks(from, from+scrubBlocks)
}
