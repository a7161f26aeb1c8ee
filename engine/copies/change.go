package copies

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"math"
	"math/bits"
	"slices"

	"ndd/engine/index/live/rows"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/generations"
	"ndd/engine/storage/store"
)

// Delete deletes documents from the index in folder dir by their IDs. It returns the number of
// deleted documents, and those IDs, in order, that no document has. Readers that open the index
// later do not find them; their signatures stay until [Merge]. It reads all IDs of the index. The
// error wraps [disk.ErrLocked] while another process changes the index.
func Delete(ctx context.Context, dir string, ids []string, o Options) (deleted int, missing []string, err error) {
	w, err := lockIndex(dir, o)
	if err != nil {
		return 0, nil, err
	}
	defer w.Abort()
	x, err := OpenIndex(ctx, dir, max(o.Threads, 1))
	if err != nil {
		return 0, nil, err
	}
	defer x.Close()
	found := make(map[string]bool, len(ids))
	for _, id := range ids {
		found[id] = false
	}
	for at := range x.segments {
		for doc, err := range x.documents(at) {
			if err != nil {
				return 0, nil, err
			}
			if _, ok := found[doc.id]; ok {
				found[doc.id] = true
				w.manifest.delete(at, doc.number)
				deleted++
			}
		}
	}
	for _, id := range ids {
		if !found[id] && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	if deleted == 0 {
		return 0, missing, nil
	}
	return deleted, missing, w.publish()
}

// Merge merges all segments of the index in folder dir into one without the deleted documents, and
// returns how many segments and deleted documents there were. The new segment has the bytes of one
// that is built of the remaining documents. Open readers keep the old segments. The error wraps
// [disk.ErrLocked] while another process changes the index. An index of one segment without deleted
// documents stays as it is; files of an interrupted merge are removed. Memory and threads are those
// of o.
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
	if _, err := w.Commit(ctx); err != nil {
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
			numbers[doc.number] = w.segment.document(s.few.has(doc.number), siteAt(s.sites, doc.number))
			if err := w.segment.ids.Append(doc.id); err != nil {
				return err
			}
		}
		for m, method := range s.methods {
			err := method.lists.Sets(ctx, w.segment.o.Room.Bytes, func(row uint32, set []uint64) error {
				if doc := numbers[method.rows[row]]; doc != gone {
					w.segment.add(m, doc, set)
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

// sweep removes segments that the manifest does not name: merged ones, and those of an interrupted
// merge.
func (w *IndexWriter) sweep() error {
	named := []string{manifestName, disk.LockName}
	for _, s := range w.manifest.Segments {
		named = append(named, s.File)
	}
	_, err := generations.RemoveOrphans(w.disk, w.dir, named, segmentName.MatchString)
	return errors.Join(err, w.disk.SyncFolder(w.dir))
}

// publish makes the manifest that of the index.
func (w *IndexWriter) publish() error {
	return w.manifest.write(w.dir, store.Options{Disk: w.disk})
}

// A bitmap is a set of a segment's documents, one bit each, the lowest first. The nil one is empty.
type bitmap []byte

func (b bitmap) has(doc uint32) bool { return int(doc/8) < len(b) && b[doc/8]>>(doc%8)&1 == 1 }

// set adds a document, growing the bitmap if necessary.
func (b *bitmap) set(doc uint32) {
	if n := int(doc/8) + 1 - len(*b); n > 0 {
		*b = append(*b, make([]byte, n)...)
	}
	(*b)[doc/8] |= 1 << (doc % 8)
}

func (b bitmap) count() (n uint64) {
	for _, x := range b {
		n += uint64(bits.OnesCount8(x))
	}
	return n
}

// fits reports whether all documents of the set are below documents.
func (b bitmap) fits(documents uint64) bool {
	last := documents % 8
	return uint64(len(b)) <= (documents+7)/8 && (last == 0 || uint64(len(b)) < (documents+7)/8 || b[len(b)-1]>>last == 0)
}

// takenExamples is the number of taken IDs that a Report names.
const takenExamples = 5

// taken maps IDs to documents of an index. IDs are distinguished by 128 bits of random hashes, so
// that two collide with a chance of 1e-26 among a million documents. A document takes about
// takenBytes.
type taken struct {
	seeds  [2]maphash.Seed
	places map[[2]uint64]place
	twins  map[[2]uint64][]place // other documents of an ID that several have
}

const takenBytes = 64

type place struct{ segment, doc uint32 }

func newTaken() *taken {
	return &taken{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, places: map[[2]uint64]place{},
		twins: map[[2]uint64][]place{}}
}

// put gives an ID to a document and returns the documents that had it before.
func (t *taken) put(id string, at place) (before []place) {
	key := t.key(id)
	if last, was := t.places[key]; was {
		before = append(t.twins[key], last)
		delete(t.twins, key)
	}
	t.places[key] = at
	return before
}

func (t *taken) key(id string) [2]uint64 {
	return [2]uint64{maphash.String(t.seeds[0], id), maphash.String(t.seeds[1], id)}
}

// conflict records a taken ID and reports whether its document is left out.
func (w *IndexWriter) conflict(id string) (leave bool, err error) {
	if _, taken := w.taken.places[w.taken.key(id)]; !taken {
		return false, nil
	}
	if w.conflicts == rows.Refuse {
		return true, fmt.Errorf("ID %q: another document has it", id)
	}
	r := &w.segment.report
	if r.Taken++; len(r.TakenIDs) < takenExamples {
		r.TakenIDs = append(r.TakenIDs, id)
	}
	return w.conflicts == rows.Keep, nil
}

// fill reads the IDs of an index. Of documents with one ID all have it.
func (t *taken) fill(x *Index) error {
	for at := range x.segments {
		for doc, err := range x.documents(at) {
			if err != nil {
				return err
			}
			if before := t.put(doc.id, place{uint32(at), doc.number}); len(before) > 0 {
				t.twins[t.key(doc.id)] = before
			}
		}
	}
	return nil
}
