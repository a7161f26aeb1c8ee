package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/engine/storage/wal"
)

// Open opens the index in folder dir and verifies it as o says. The error wraps [store.ErrCorrupt] if the index is
// damaged, [ErrNoIndex] if there is none, [memory.ErrTooLarge] if it is to be loaded and is larger than the free memory
// of o.Budget, and [disk.ErrLocked] if it is to be written and another process writes to it.
//
// An index that another process writes to can be opened for reading. It then has a state from during the opening, with
// all changes that were acknowledged before.
func Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	if o.Write {
		return openForWriting(ctx, dir, o)
	}
	return openCurrent(func() (*Manifest, error) { return ReadManifest(dir) },
		func(m *Manifest) (*Index, error) { return m.Open(ctx, dir, o) })
}

// openTries is the maximum number of further attempts to open an index that changes meanwhile.
const openTries = 10

// openCurrent opens the files of a manifest. If that fails and the manifest has changed, it tries again: a writer may
// have merged and removed files that the first manifest names.
func openCurrent(read func() (*Manifest, error), open func(*Manifest) (*Index, error)) (*Index, error) {
	for try := 0; ; try++ {
		m, err := read()
		if err != nil {
			return nil, err
		}
		x, err := open(m)
		if err == nil || try == openTries {
			return x, err
		}
		if now, e := read(); e != nil || now.Generation == m.Generation {
			return nil, err
		}
	}
}

// openForWriting locks the index and opens it. Without a manifest it fails before it creates a lock. With the lock it
// reads the manifest again, because another writer may have replaced it.
func openForWriting(ctx context.Context, dir string, o OpenOptions) (_ *Index, err error) {
	if _, err := readManifest(o.Disk, dir); err != nil {
		return nil, err
	}
	lock, err := disk.LockFolder(dir)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("%w; stop it first; until then the index can be read and backed up", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	o.Disk = lock.Disk(o.Disk)
	m, err := readManifest(o.Disk, dir)
	if err != nil {
		return nil, err
	}
	return m.open(ctx, dir, o, &folder{dir: dir, disk: o.Disk, lock: lock, manifest: m})
}

// Open opens the index with this manifest in folder dir for reading.
func (m *Manifest) Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	return m.open(ctx, dir, o, nil)
}

// open opens the index for writing if f is not nil, and otherwise for reading.
func (m *Manifest) open(ctx context.Context, dir string, o OpenOptions, f *folder) (_ *Index, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	// Reserve memory for loaded files.
	var reservation *memory.Reservation
	if o.Load {
		if reservation, err = o.Budget.OrMachine().Reserve("the index "+dir, m.bytes()); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			reservation.Release()
		}
	}()
	// Open and verify the files.
	report := OpenReport{Bytes: m.bytes(), Loaded: o.Load}
	start := time.Now()
	segments, err := m.openSegments(ctx, dir, o)
	owned := false // the index closes the segments
	defer func() {
		for _, s := range segments {
			if err != nil && !owned {
				s.Close()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	if f != nil && slices.ContainsFunc(segments, func(s *version.Segment) bool { return !s.KeepsDocs() }) {
		return nil, fmt.Errorf("%s cannot be written to: %w", dir, search.ErrNoDocs)
	}
	if report.Skipped, err = verifyAs(ctx, filesOf(segments), o); err != nil {
		return nil, err
	}
	report.Took = time.Since(start)
	// Make an index of the segments, with their tables on memory nodes if requested.
	x := newIndex(m.config(segments, o))
	x.OpenReport, x.loaded = report, reservation
	if o.Spread != nil {
		spread := *o.Spread
		spread.Budget = cmp.Or(spread.Budget, o.Budget)
		x.workers = worker.New(spread)
		for _, s := range segments {
			if err := place(ctx, x.workers, s); err != nil {
				return nil, err
			}
		}
	}
	// Publish them, and read the log.
	owned = true
	r := &replay{indexState: x.indexState, writer: x.writer}
	if err := r.run(dir, m, f, segments, o); err != nil {
		x.versions.Publish(nil) // closes the segments
		return nil, err
	}
	x.Recovery = r.report
	x.upkeep.start()
	x.wakeFlusher()
	x.wakeMerger()
	return x, nil
}

// verifyAs compares files with their checksums as o says, and returns the bytes that it does not check. The blocks of
// loaded files are checked while they are in the cache.
func verifyAs(ctx context.Context, files []*store.File, o OpenOptions) (skipped uint64, err error) {
	if o.Verify != VerifyFast || o.Load {
		return 0, verify(ctx, files, o.Threads, o.Progress)
	}
	for _, f := range files {
		skipped += f.LargeBytes()
		err = cmp.Or(err, f.VerifySmall())
	}
	return skipped, err
}

// config returns the description of the index.
func (m *Manifest) config(segments []*version.Segment, o OpenOptions) Config {
	c := Config{Recipe: m.Recipe, Threshold: o.Threshold, OnConflict: o.OnConflict,
		TTL: o.TTL, Budget: o.Budget, Events: o.Events, simulation: o.simulation}
	if m.Live != nil {
		c.Design, c.Table, c.IDs, c.Sketches = m.Live.Design, table.Options{Layout: m.Live.Layout}, m.Live.IDs, m.Live.Sketches
	} else {
		first := segments[0].Segment
		c.Design, c.Table, c.IDs, c.Sketches = *first.Design(), table.Options{Layout: first.Layout()}, first.IDs() != nil,
			segments[0].Sketches != nil
	}
	// An index that was made before sketches existed, or from files without them, keeps the sketches of new documents.
	c.Sketches = c.Sketches || o.Write && m.Recipe != nil && !m.NoSketches
	return c
}

// mapper returns a function that maps files. If the index is larger than the memory, single pages of segments are read.
func (m *Manifest) mapper(d *disk.Disk) getter {
	random := m.bytes() > (memory.Machine{}).Limit(0).Bytes
	return func(path string, kind store.Kind) (*store.File, error) {
		f, err := store.OpenOn(d, path, kind)
		if err == nil && random {
			f.AdviseRandom()
		}
		return f, err
	}
}

// openSegments opens the segments of the manifest. With an error it also returns the open ones.
func (m *Manifest) openSegments(ctx context.Context, dir string, o OpenOptions) (segments []*version.Segment,
	err error) {
	get := m.mapper(o.Disk)
	if o.Load {
		get = func(path string, kind store.Kind) (*store.File, error) {
			return store.Load(ctx, o.Disk, path, kind, o.Threads)
		}
	}
	next := rows.DocID(0)
	for i := range m.Segments {
		s, err := m.openSegment(o.Disk, dir, i, next, get)
		if err != nil {
			return segments, err
		}
		segments = append(segments, s)
		if s.Numbers.N > 0 && s.Numbers.First() < next {
			return segments, s.DocsFile.Corrupt("its documents begin with number %d, where those of the segment before end with "+
				"%d", s.Numbers.First(), next)
		}
		next = s.End()
	}
	return segments, nil
}

// openSegment opens segment i. Its documents are numbered from next on unless a file lists the numbers.
func (m *Manifest) openSegment(d *disk.Disk, dir string, i int, next rows.DocID, get getter) (_ *version.Segment,
	err error) {
	g := &m.Segments[i]
	// Open the file of the segment, and compare it with the manifest.
	var s *segment.Segment
	f, err := g.open(dir, store.KindSegment, m.Generation, get, func(f *store.File) (err error) {
		if s, err = segment.Open(f); err == nil && (s.Design().K != m.K || s.Documents() != g.Documents) {
			err = f.Corrupt("k = %d and %d documents, where the manifest has k = %d and %d", s.Design().K, s.Documents(), m.K,
				g.Documents)
			s.Close()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	result := &version.Segment{Segment: s, File: f, Free: f.Close}
	defer func() {
		if err != nil {
			result.Close()
		}
	}()
	// Open the files with its documents and sketches.
	var docs *documents
	if g.DocsFile != nil {
		if docs, err = openDocuments(d, dir, m, i); err != nil {
			return nil, err
		}
	}
	number(result, next, docs)
	if g.Sketches == nil {
		return result, nil
	}
	result.SketchFile, err = g.Sketches.open(dir, store.KindSketches, m.Generation, onDisk(d), func(f *store.File) (err error) {
		f.AdviseRandom()
		result.Sketches, err = parseSketches(f, g)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// place copies the tables of a segment to memory nodes, with workers to search them (package worker). The file stays
// open for the other sections.
func place(ctx context.Context, nodes *worker.Set, s *version.Segment) error {
	placed, err := nodes.Add(ctx, s.File, s.Segment)
	if err != nil {
		return err
	}
	s.Segment.Close()
	if s.Segment = placed.Segment; !nodes.Direct() {
		s.Workers = placed
	}
	free := s.Free
	s.Free = func() error {
		placed.Close()
		return free()
	}
	return nil
}

// Create creates the folder of an empty index, which must not exist.
func Create(dir string, c Config) error {
	if err := c.Design.Validate(); err != nil {
		return err
	}
	if err := disk.CheckParent(dir); err != nil {
		return err
	}
	var d *disk.Disk
	f, err := d.CreateFolder(dir)
	if err != nil {
		return err
	}
	defer f.Abort()
	m := &Manifest{K: c.Design.K, Recipe: c.Recipe, NoSketches: c.Recipe != nil && !c.Sketches}
	m.grow(c, 0)
	if err := writeManifest(f.Dir(), 1, store.Options{}, m); err != nil {
		return err
	}
	return f.Commit()
}

// grow adds the fields of an index that is open for writing.
func (m *Manifest) grow(c Config, next rows.DocID) {
	digits := func() string {
		var id [16]byte
		rand.Read(id[:]) // never fails
		return hex.EncodeToString(id[:])
	}
	m.Live = &ManifestLive{
		Log: digits(), Key: digits(), Next: uint64(next), Files: uint64(len(m.Segments)) + 1,
		Design: c.Design, Layout: cmp.Or(c.Table.Layout, table.LayoutHuffman), IDs: c.IDs, Sketches: c.Sketches,
	}
	for _, g := range m.Segments {
		var number uint64
		if _, err := fmt.Sscanf(g.File, "%d.segment", &number); err == nil {
			m.Live.Files = max(m.Live.Files, number+1)
		}
	}
}

// log returns the options of the index's log.
func (l *ManifestLive) log(noSync bool) wal.Options {
	id, _ := parseID(l.Log)
	return wal.Options{ID: id, Start: wal.Mark{File: l.FirstLog, Last: wal.Position(l.Last)},
		Holds: wal.Mark{File: l.File, Last: wal.Position(l.Held)}, NoSync: noSync}
}
