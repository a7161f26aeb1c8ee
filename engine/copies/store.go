package copies

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ndd/engine/copies/lists"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// An IndexWriter writes the documents of a new index, or further ones of an index that exists. Nothing of them is there until
// [IndexWriter.Commit]. It belongs to one goroutine.
type IndexWriter struct {
	segment  *segmentWriter
	manifest Manifest
	dir      string       // where the files are written
	folder   *disk.Folder // of a new index
	lock     *os.File     // of one that exists
	disk     *disk.Disk

	conflicts OnConflict
	taken     *taken
}

// CreateIndex begins an index in the folder dir, where nothing may stand, or, with replace, an index. The options say how the
// signatures are made and what memory and threads there are.
func CreateIndex(dir string, o Options, replace bool) (w *IndexWriter, err error) {
	w = &IndexWriter{manifest: Manifest{Recipe: o.Recipe(), Generation: 1}, disk: o.Room.Disk, taken: newTaken()}
	if replace {
		w.folder, err = o.Room.Disk.ReplaceFolder(dir, isOwn)
	} else {
		w.folder, err = o.Room.Disk.CreateFolder(dir)
	}
	if err != nil {
		return nil, err
	}
	w.dir = w.folder.Dir()
	if err := w.begin(o); err != nil {
		w.folder.Abort()
		return nil, err
	}
	return w, nil
}

// isOwn says whether a file belongs to an index.
func isOwn(name string) bool {
	return name == manifestName || name == lockName || segmentName.MatchString(name)
}

// AppendIndex begins to append documents to the index in the folder dir. The options must make signatures by the recipe of the index:
// see [Manifest] and [Recipe.Options]. The error wraps [disk.ErrLocked] where somebody else appends to it.
func AppendIndex(ctx context.Context, dir string, o Options) (w *IndexWriter, err error) {
	if w, err = lockIndex(dir, o); err != nil {
		return nil, err
	}
	recipe := o.Recipe()
	err = recipe.Compatible("the documents", &w.manifest.Recipe, dir)
	if err == nil {
		err = w.readIDs(ctx, o)
	}
	if err == nil {
		err = w.begin(o)
	}
	if err != nil {
		return nil, errors.Join(err, w.lock.Close())
	}
	return w, nil
}

// readIDs reads which IDs are taken.
func (w *IndexWriter) readIDs(ctx context.Context, o Options) error {
	x, err := OpenIndex(ctx, w.dir, max(o.Threads, 1))
	if err != nil {
		return err
	}
	w.taken = newTaken()
	return errors.Join(w.taken.fill(x), x.Close())
}

// lockIndex locks the index in folder dir for a change that makes its next generation.
func lockIndex(dir string, o Options) (w *IndexWriter, err error) {
	w = &IndexWriter{dir: dir, disk: o.Room.Disk}
	if _, err := ReadManifest(dir); err != nil { // before a lock is made where no index is
		return nil, err
	}
	if w.lock, err = disk.Lock(filepath.Join(dir, lockName)); err != nil {
		return nil, err
	}
	m, err := ReadManifest(dir) // as it is under the lock
	if err != nil {
		return nil, errors.Join(err, w.lock.Close())
	}
	w.manifest = *m
	w.manifest.Generation++
	return w, nil
}

// begin begins a segment.
func (w *IndexWriter) begin(o Options) (err error) {
	w.conflicts = o.OnConflict
	w.manifest.deleted = append(w.manifest.deleted, nil)
	w.manifest.Segments = append(w.manifest.Segments, ManifestSegment{File: fmt.Sprintf("%08d.postings", w.manifest.Generation)})
	w.segment, err = newSegmentWriter(filepath.Join(w.dir, w.current().File), w.manifest.Generation, o)
	return err
}

func (w *IndexWriter) current() *ManifestSegment {
	return &w.manifest.Segments[len(w.manifest.Segments)-1]
}

// Add adds the next document; if its ID is taken, Options.OnConflict says what becomes of it. The error is of the disk, or a
// [TakenError].
func (w *IndexWriter) Add(id string, s Sets) error {
	if leave, err := w.conflict(id); leave || err != nil {
		return err
	}
	at := place{uint32(len(w.manifest.Segments) - 1), uint32(w.segment.report.Documents)}
	for _, before := range w.taken.put(id, at) {
		w.manifest.delete(int(before.segment), before.doc)
	}
	return w.segment.append(id, s)
}

// NeedBytes returns the memory that the documents so far take.
func (w *IndexWriter) NeedBytes() uint64 {
	return w.segment.NeedBytes() + takenBytes*uint64(len(w.taken.places))
}

// Commit writes the index, and makes what was added a part of it.
func (w *IndexWriter) Commit(ctx context.Context) (stats map[Method]lists.Stats, r Report, err error) {
	at := w.current()
	id := w.segment.file.Identity()
	at.ID, at.Documents = hex.EncodeToString(id.ID[:]), uint64(w.segment.report.Documents)
	if stats, err = w.segment.commit(ctx); err != nil {
		return nil, r, err
	}
	if err := w.publish(); err != nil {
		return nil, r, err
	}
	if w.folder != nil {
		err = w.folder.Commit()
	}
	return stats, w.segment.report, err
}

// Abort gives up, unless the index was committed.
func (w *IndexWriter) Abort() error {
	var err error
	if w.segment != nil {
		err = w.segment.abort()
	}
	if w.folder != nil {
		w.folder.Abort()
	}
	if w.lock != nil {
		err = errors.Join(err, w.lock.Close())
		w.lock = nil
	}
	return err
}

func writeJSON(w io.Writer, value any) error {
	b, err := json.Marshal(value)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// An Index is an open index: documents to compare others with. It may be used from many goroutines.
type Index struct {
	dir      string
	manifest *Manifest
	segments []*segment
}

// OpenIndex opens the index in folder dir and verifies all of it, at some 5 GB/s for each thread; what is appended, deleted or merged
// later is for those to see who open it again. The errors wrap [store.ErrCorrupt] where it is damaged, or was made by a recipe that
// this program does not know.
func OpenIndex(ctx context.Context, dir string, threads int) (*Index, error) {
	for {
		m, err := ReadManifest(dir)
		if err != nil {
			return nil, err
		}
		x, err := openIndex(ctx, dir, m, threads)
		if errors.Is(err, store.ErrCorrupt) {
			// A merge may have taken the segments away since the manifest was read.
			if now, e := ReadManifest(dir); e == nil && !slices.Equal(now.Segments, m.Segments) {
				continue
			}
		}
		return x, err
	}
}

func openIndex(ctx context.Context, dir string, m *Manifest, threads int) (*Index, error) {
	if _, err := m.Recipe.Options(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, store.ErrCorrupt, err)
	}
	x := &Index{dir: dir, manifest: m}
	for i := range m.Segments {
		if err := x.open(ctx, &m.Segments[i], threads); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	return x, nil
}

func (x *Index) open(ctx context.Context, m *ManifestSegment, threads int) error {
	path := filepath.Join(x.dir, m.File)
	s, err := openSegment(ctx, path, threads)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w: the manifest names this file, and it is missing: copy it from where it is, or build the index again", path, store.ErrCorrupt)
	}
	if err != nil {
		return err
	}
	s.deleted = x.manifest.deleted[len(x.segments)]
	x.segments = append(x.segments, s)
	id := s.file.Identity()
	if hex.EncodeToString(id.ID[:]) != m.ID || s.head.Documents != m.Documents {
		return fmt.Errorf("%s: %w: not the file that the manifest names", path, store.ErrCorrupt)
	}
	return nil
}

// CheckSegment reads and compares all content of the file of postings at path, and returns how many documents it has, and
// how large the lists of each method are.
func CheckSegment(ctx context.Context, path string, threads int) (documents uint64, stats map[Method]lists.Stats, err error) {
	s, err := openSegment(ctx, path, threads)
	if err != nil {
		return 0, nil, err
	}
	defer s.close()
	x := Index{segments: []*segment{s}}
	if err := s.check(ctx); err != nil {
		return 0, nil, fmt.Errorf("%s: %w", path, err)
	}
	return s.head.Documents, x.Stats(), nil
}

// Recipe returns how the index's signatures were made.
func (x *Index) Recipe() *Recipe { return &x.manifest.Recipe }

// Documents returns how many documents the index has, without those that are deleted.
func (x *Index) Documents() (n uint64) {
	for _, s := range x.segments {
		n += s.head.Documents
	}
	return n - x.Deleted()
}

// Deleted returns how many documents are deleted, and dropped by a merge.
func (x *Index) Deleted() (n uint64) {
	for _, s := range x.manifest.Segments {
		n += s.Deleted
	}
	return n
}

// Segments returns how many segments the index has.
func (x *Index) Segments() int { return len(x.segments) }

// Same reports whether another open index has the same documents, by what the manifests say.
func (x *Index) Same(other *Index) bool {
	return slices.Equal(x.manifest.Segments, other.manifest.Segments) && x.manifest.Generation == other.manifest.Generation
}

// Stats returns how large the lists of each method are, all segments together.
func (x *Index) Stats() map[Method]lists.Stats {
	all := map[Method]lists.Stats{}
	for _, s := range x.segments {
		for m, l := range s.methods {
			sum := all[m]
			sum.Add(l.lists.Stats())
			all[m] = sum
		}
	}
	return all
}

// Check reads all content and compares its parts.
func (x *Index) Check(ctx context.Context) error {
	for i, s := range x.segments {
		if err := s.check(ctx); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(x.dir, x.manifest.Segments[i].File), err)
		}
	}
	return nil
}

// Close closes the index. Nobody may use it any more.
func (x *Index) Close() (err error) {
	for _, s := range x.segments {
		err = errors.Join(err, s.close())
	}
	x.segments = nil
	return err
}
