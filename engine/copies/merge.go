package copies

import (
	"context"
	"errors"
	"iter"
	"math"
	"os"
	"path/filepath"

	"ndd/engine/storage/store"
)

// Merge makes one segment of all segments of the index in folder dir, without the documents that are deleted, and returns how many
// segments and deleted documents there were. The segment has the bytes of one that is built of the documents that remain. Who has the
// index open goes on with the old segments; nobody may append meanwhile, which the error says that wraps [disk.ErrLocked]. An
// index of one segment without deleted documents stays as it is; files that an interrupted merge has left are removed. Options say what memory and threads there are.
func Merge(ctx context.Context, dir string, o Options) (segments int, deleted uint64, err error) {
	w, err := lockIndex(dir, o)
	if err != nil {
		return 0, 0, err
	}
	defer w.Abort()
	x, err := OpenIndex(ctx, dir, max(o.Threads, 1))
	if err != nil {
		return 0, 0, err
	}
	defer x.Close()
	if segments, deleted = len(x.segments), x.Deleted(); segments == 1 && deleted == 0 {
		return segments, 0, w.sweep() // what an interrupted merge has left
	}
	made, err := x.Recipe().Options()
	if err != nil {
		return 0, 0, err
	}
	made.Room, made.Threads = o.Room, o.Threads
	w.manifest.Segments, w.manifest.deleted = nil, nil
	if err := w.begin(made); err != nil {
		return 0, 0, err
	}
	if err := x.copyTo(ctx, w); err != nil {
		return 0, 0, err
	}
	if _, _, err := w.Commit(ctx); err != nil {
		return 0, 0, err
	}
	return segments, deleted, w.sweep()
}

// copyTo adds all documents that are not deleted to a writer, in order of the segments.
func (x *Index) copyTo(ctx context.Context, w *IndexWriter) error {
	for at, s := range x.segments {
		numbers := make([]uint32, s.head.Documents) // of the writer, by document; gone for those that are deleted
		for i := range numbers {
			numbers[i] = gone
		}
		for doc, err := range x.documents(at) {
			if err != nil {
				return err
			}
			numbers[doc.number] = w.segment.document(s.isFew(doc.number), s.site(doc.number))
			if err := w.segment.ids.Append(doc.id); err != nil {
				return err
			}
		}
		for m, method := range s.methods {
			err := method.lists.Sets(ctx, w.segment.o.Room.Bytes, func(row uint32, set []uint64) error {
				if doc := numbers[method.rows[row]]; doc != gone {
					w.segment.collection.add(m, doc, set)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

const gone = math.MaxUint32

// stored is a document of a segment.
type stored struct {
	number uint32
	id     string
}

// documents yields the documents of a segment that are not deleted.
func (x *Index) documents(segment int) iter.Seq2[stored, error] {
	return func(yield func(stored, error) bool) {
		s := x.segments[segment]
		number := uint32(0)
		for id, err := range s.ids.All() {
			if (err != nil || !s.deleted.has(number)) && !yield(stored{number, id}, err) || err != nil {
				return
			}
			number++
		}
	}
}

// sweep removes the segments that the manifest does not name: those that were merged, and what is left of a merge that was
// interrupted.
func (w *IndexWriter) sweep() error {
	named := map[string]bool{}
	for _, s := range w.manifest.Segments {
		named[s.File] = true
	}
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if segmentName.MatchString(e.Name()) && !named[e.Name()] {
			err = errors.Join(err, w.disk.Remove(filepath.Join(w.dir, e.Name())))
		}
	}
	return errors.Join(err, w.disk.SyncFolder(w.dir))
}

// publish makes the manifest that of the index.
func (w *IndexWriter) publish() error {
	return w.manifest.write(w.dir, store.Options{Disk: w.disk})
}
