package copies

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"ndd/engine/index/live/rows"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/generations"
	"ndd/engine/storage/idlist"
	"ndd/engine/storage/store"
)

// An IndexWriter writes the documents of a new index, or further ones of an existing index. They
// become visible with [IndexWriter.Commit]. It belongs to one goroutine.
type IndexWriter struct {
	segment  *segmentWriter
	manifest Manifest
	dir      string       // where the files are written
	folder   *disk.Folder // of a new index
	lock     *disk.Lock   // of one that exists
	disk     *disk.Disk

	conflicts rows.OnConflict
	taken     *taken
}

// CreateIndex begins an index in the folder dir, which must not exist or, with replace, must be an
// index. The options configure signatures, memory and threads.
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

// isOwn reports whether a file belongs to an index.
func isOwn(name string) bool {
	return name == manifestName || name == disk.LockName || segmentName.MatchString(name)
}

// AppendIndex begins to append documents to the index in the folder dir. The options must make
// signatures by the recipe of the index: see [Manifest] and [Recipe.Options]. The error wraps
// [disk.ErrLocked] while another process changes the index.
func AppendIndex(ctx context.Context, dir string, o Options) (w *IndexWriter, err error) {
	if w, err = lockIndex(dir, o); err != nil {
		return nil, err
	}
	err = o.Recipe().Compatible("the documents", w.manifest.Recipe, dir)
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

func (w *IndexWriter) readIDs(ctx context.Context, o Options) error {
	x, err := OpenIndex(ctx, w.dir, max(o.Threads, 1))
	if err != nil {
		return err
	}
	w.taken = newTaken()
	return errors.Join(w.taken.fill(x), x.Close())
}

// lockIndex locks the index in folder dir for a change that makes its next generation.
func lockIndex(dir string, o Options) (*IndexWriter, error) {
	read := func(d *disk.Disk) (*Manifest, error) { return readManifest(d, dir) }
	m, lock, err := generations.Lock(o.Room.Disk, dir, read)
	if err != nil {
		return nil, err
	}
	m.Generation++
	return &IndexWriter{dir: dir, disk: lock.Disk(o.Room.Disk), lock: lock, manifest: *m}, nil
}

func (w *IndexWriter) begin(o Options) error {
	w.conflicts = o.OnConflict
	w.manifest.deleted = append(w.manifest.deleted, nil)
	w.manifest.Segments = append(w.manifest.Segments,
		ManifestSegment{Entry: generations.Entry{File: fmt.Sprintf("%08d.postings", w.manifest.Generation)}})
	file, err := store.CreateWith(filepath.Join(w.dir, w.current().File), store.KindPostings, w.manifest.Generation,
		store.Options{Disk: w.disk})
	if err == nil {
		file.Section("names")
		w.segment = &segmentWriter{NewDetector(o), file, idlist.NewWriter(file)}
	}
	return err
}

func (w *IndexWriter) current() *ManifestSegment {
	return &w.manifest.Segments[len(w.manifest.Segments)-1]
}

// Add adds the next document. Options.OnConflict applies if its ID is taken. The error is of the
// disk, or names an ID that is taken.
func (w *IndexWriter) Add(id string, s Sets) error {
	if leave, err := w.conflict(id); leave || err != nil {
		return err
	}
	at := place{uint32(len(w.manifest.Segments) - 1), uint32(w.segment.report.Documents)}
	for _, before := range w.taken.put(id, at) {
		w.manifest.delete(int(before.segment), before.doc)
	}
	w.segment.Add(s)
	return w.segment.ids.Append(id)
}

// NeedBytes returns the memory of the documents so far.
func (w *IndexWriter) NeedBytes() uint64 {
	return w.segment.NeedBytes() + takenBytes*uint64(len(w.taken.places))
}

// Commit writes the documents and makes them part of the index.
func (w *IndexWriter) Commit(ctx context.Context) (r Report, err error) {
	at := w.current()
	at.Entry = generations.EntryOf(w.segment.file, at.File)
	at.Bytes = 0 // which manifests of copies do not have
	at.Documents = uint64(w.segment.report.Documents)
	if err := w.segment.commit(ctx); err != nil {
		return r, err
	}
	if err := w.publish(); err != nil {
		return r, err
	}
	if w.folder != nil {
		err = w.folder.Commit()
	}
	return w.segment.report, err
}

// Abort discards the documents unless they were committed.
func (w *IndexWriter) Abort() error {
	var err error
	if w.segment != nil {
		w.segment.file.Abort()
		err = w.segment.Close()
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

// An Index is an open index: documents to compare others with. It may be used from many goroutines.
type Index struct {
	dir      string
	manifest *Manifest
	segments []*segment
}

// OpenIndex opens the index in folder dir and verifies all of it, at some 5 GB/s for each thread.
// Later changes are visible only to those who open it again. The error wraps [store.ErrCorrupt] if
// the index is damaged or was made by an unknown recipe.
func OpenIndex(ctx context.Context, dir string, threads int) (*Index, error) {
	return generations.Open(func() (*Manifest, error) { return ReadManifest(dir) },
		func(m *Manifest) (*Index, error) { return openIndex(ctx, dir, m, threads) },
		func(a, b *Manifest) bool { return a.Generation == b.Generation })
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
	f, err := m.Open(x.dir, store.KindPostings, x.manifest.Generation, store.Open)
	if err != nil {
		return err
	}
	s, err := openSegment(ctx, f, threads)
	if err != nil {
		return err
	}
	s.deleted = x.manifest.deleted[len(x.segments)]
	x.segments = append(x.segments, s)
	if s.head.Documents != m.Documents {
		return s.file.Corrupt("%d documents, where the manifest has %d", s.head.Documents, m.Documents)
	}
	return nil
}

// CheckSegment reads and compares all content of the file of postings at path, and returns the
// number of its documents.
func CheckSegment(ctx context.Context, path string, threads int) (documents uint64, err error) {
	f, err := store.Open(path, store.KindPostings)
	if err != nil {
		return 0, err
	}
	s, err := openSegment(ctx, f, threads)
	if err != nil {
		return 0, err
	}
	defer s.close()
	if err := s.check(ctx); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return s.head.Documents, nil
}

// Recipe returns how the index's signatures were made.
func (x *Index) Recipe() *Recipe { return &x.manifest.Recipe }

// Documents returns the number of documents that are not deleted.
func (x *Index) Documents() (n uint64) {
	for _, s := range x.segments {
		n += s.head.Documents
	}
	return n - x.Deleted()
}

// Deleted returns the number of deleted documents that a merge has not dropped.
func (x *Index) Deleted() (n uint64) {
	for _, s := range x.manifest.Segments {
		n += s.Deleted
	}
	return n
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

// Close closes the index, which must not be used any more.
func (x *Index) Close() (err error) {
	for _, s := range x.segments {
		err = errors.Join(err, s.close())
	}
	x.segments = nil
	return err
}
