package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/generations"
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
	return generations.Open(func() (*Manifest, error) { return ReadManifest(dir) },
		func(m *Manifest) (*Index, error) { return m.Open(ctx, dir, o) }, sameGeneration)
}

func sameGeneration(a, b *Manifest) bool { return a.Generation == b.Generation }

func openForWriting(ctx context.Context, dir string, o OpenOptions) (_ *Index, err error) {
	m, lock, err := generations.Lock(o.Disk, dir, func(d *disk.Disk) (*Manifest, error) { return readManifest(d, dir) })
	if err != nil {
		return nil, err
	}
	o.Disk = lock.Disk(o.Disk)
	f := &folder{dir: dir, disk: o.Disk, lock: lock, manifest: m}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	return f.manifest.open(ctx, dir, o, f)
}

// open opens the index with this manifest in folder dir for reading.
func (m *Manifest) Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	return m.open(ctx, dir, o, nil)
}

func (m *Manifest) open(ctx context.Context, dir string, o OpenOptions, f *folder) (_ *Index, err error) {
	defer store.CatchFault(&err)()
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	var reserved *memory.Reservation
	if o.Load {
		if reserved, err = o.Budget.OrMachine().Reserve("the index "+dir, m.bytes()); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			reserved.Release()
		}
	}()
	did := OpenReport{Bytes: m.bytes(), Loaded: o.Load}
	begun := time.Now()
	segments, err := m.openSegments(ctx, dir, o)
	given := false // the index closes the segments
	defer func() {
		for _, s := range segments {
			if err != nil && !given {
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
	did.Reading = time.Since(begun)
	begun = time.Now()
	files := filesOf(segments)
	if o.Verify == VerifyFast && !o.Load { // what is read is checked while it is in the cache
		for _, f := range files {
			did.Skipped += f.LargeBytes()
			err = cmp.Or(err, f.VerifySmall())
		}
	} else {
		err = verify(ctx, files, o.Threads, o.Progress)
	}
	if err != nil {
		return nil, err
	}
	did.Verifying = time.Since(begun)
	config := m.config(segments, o)
	x := newIndex(config)
	if m.Live != nil && !o.AcceptClock {
		x.versions.Clock.Begin(m.Live.Time, f != nil)
	}
	if x.opening, x.loaded = did, reserved; o.Spread != nil {
		spread := *o.Spread
		spread.Budget = cmp.Or(spread.Budget, o.Budget)
		x.workers = worker.New(spread)
		for _, s := range segments {
			if err := place(ctx, x.workers, s); err != nil {
				return nil, err
			}
		}
	}
	next := rows.DocID(0)
	for _, s := range segments {
		next = max(next, s.End())
	}
	if m.Live != nil {
		next = max(next, rows.DocID(m.Live.Next))
		x.key, _ = generations.ParseID(m.Live.Key)
	}
	given = true
	if err := x.begin(dir, m, f, segments, next, o); err != nil {
		return nil, err
	}
	return x, nil
}

// begin sets the segments and the log of an index, if it has one, and starts it. After an error the segments are
// closed.
func (x *Index) begin(dir string, m *Manifest, f *folder, segments []*version.Segment, next rows.DocID,
	o OpenOptions) error {
	x.writer.recovering = f != nil || m.Live != nil
	err := x.writer.fill(segments, next)
	if err == nil {
		x.writer.applyTombstones(x.versions.Current())
		if f != nil {
			err = x.beginWriting(f, o)
		} else if m.Live != nil {
			err = x.readLog(dir, m, o)
		}
	}
	if err != nil {
		x.versions.Publish(nil)
		return err
	}
	x.upkeep.start()
	x.wakeFlusher()
	x.wakeMerger()
	return nil
}

// config returns the description of the index.
func (m *Manifest) config(segments []*version.Segment, o OpenOptions) Config {
	c := Config{Recipe: m.Recipe, Choice: m.Choice, Threshold: o.Threshold, OnConflict: o.OnConflict,
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
			return segments, s.Beside.Corrupt("its documents begin with number %d, where those of the segment before end with "+
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
	f, err := g.Open(dir, store.KindSegment, m.Generation, get)
	if err != nil {
		return nil, err
	}
	s, err := segment.Open(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
			f.Close()
		}
	}()
	if s.Design().K != m.K || s.Documents() != g.Documents {
		return nil, f.Corrupt("k = %d and %d documents, where the manifest has k = %d and %d",
			s.Design().K, s.Documents(), m.K, g.Documents)
	}
	var beside *documents
	if g.Beside != nil {
		if beside, err = openDocuments(d, dir, m, i); err != nil {
			return nil, err
		}
	}
	opened := numbered(s, next, beside)
	if g.Sketches != nil {
		if err = openSketches(d, dir, m, i, opened); err != nil {
			if beside != nil {
				beside.file.Close()
			}
			return nil, err
		}
	}
	opened.File, opened.Free = f, f.Close
	return opened, nil
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
	m := &Manifest{K: c.Design.K, Recipe: c.Recipe, Choice: c.Choice, NoSketches: c.Recipe != nil && !c.Sketches}
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
func (l *ManifestLive) log(sync wal.Sync) wal.Options {
	id, _ := generations.ParseID(l.Log)
	return wal.Options{ID: id, From: wal.Mark{File: l.From, Last: wal.Position(l.Last)},
		Holds: wal.Mark{File: l.File, Last: wal.Position(l.Held)}, Sync: sync}
}

// beginWriting opens an index with segments for writing: it becomes live if it was not, the files of unfinished work
// are removed, and the log is read.
func (x *Index) beginWriting(f *folder, o OpenOptions) (err error) {
	begun := time.Now()
	x.folder, f.clock = f, &x.versions.Clock
	if x.recovery.Removed, err = f.removeOrphans(); err != nil && !disk.IsUnwritable(err) {
		return err
	}
	if err := x.becomeLive(); err != nil {
		return err
	}
	for _, s := range x.versions.Current().Segments {
		f.owns(s)
	}
	f.files = f.manifest.Live.Files
	x.writer.log, x.recovery.Log, err = wal.Open(f.disk, f.dir, f.manifest.Live.log(o.Sync), x.replay)
	x.finishReplay()
	if err == nil {
		err = x.upkeep.nameLog(func(*Manifest) {})
	}
	x.recovery.Took = time.Since(begun)
	if x.writer.log != nil && disk.IsUnwritable(err) { // as when the disk becomes full later: the log goes on when it can
		x.recovery.Refusing, err = err, nil
	}
	return err
}

// becomeLive makes a built index live: its manifest names the beginning of the log, and each segment gets a file with
// the index of its IDs.
func (x *Index) becomeLive() error {
	f := x.folder
	if f.manifest.Live != nil {
		f.manifest.Live.Sketches = x.config.Sketches // the next manifest says so
		x.key, _ = generations.ParseID(f.manifest.Live.Key)
		return nil
	}
	next := *f.manifest
	next.Segments = slices.Clone(next.Segments)
	next.grow(x.config, x.versions.Current().End())
	next.Generation++
	x.key, _ = generations.ParseID(next.Live.Key)
	for i, s := range x.versions.Current().Segments {
		if !x.config.IDs || s.Segment.IDs() == nil {
			continue
		}
		name := strings.TrimSuffix(next.Segments[i].File, ".segment") + ".documents"
		reserved, err := x.writer.config.reserveIDs(s)
		if err != nil {
			return err
		}
		w, err := writeDocuments(filepath.Join(f.dir, name), next.Generation, f.options(), next.Segments[i].ID,
			documents{numbers: s.Numbers}, &x.key, s.Segment.IDs().All())
		reserved.Release()
		if err != nil {
			return err
		}
		file := generations.EntryOf(w, name)
		next.Segments[i].Beside = &file
		d, err := openDocuments(f.disk, f.dir, &next, i)
		if err != nil {
			return err
		}
		d.attach(s)
	}
	if err := writeManifest(f.dir, next.Generation, f.options(), &next); err != nil {
		return err
	}
	f.manifest = &next
	return nil
}

// readLog inserts the documents of the log into an index that is opened for reading. It changes nothing on the disk.
func (x *Index) readLog(dir string, m *Manifest, o OpenOptions) (err error) {
	begun := time.Now()
	x.recovery.Log, err = wal.Check(dir, m.Live.log(o.Sync), x.replay)
	x.finishReplay()
	x.recovery.Took = time.Since(begun)
	return err
}

// replay applies a record of the log. The index is not in use yet.
func (x *Index) replay(at wal.Position, record []byte) error {
	c, err := parseChange(record)
	next := x.versions.Current().End()
	if err == nil && (len(c.docs) > 0 || c.gap) && c.first < next {
		err = fmt.Errorf("%w: it begins with document %d, where %d is the next", errRecord, c.first, next)
	}
	if err != nil {
		return fmt.Errorf("%w: log record %d: %w", store.ErrCorrupt, at, err)
	}
	if len(c.docs) > 0 && c.first > next {
		x.writer.skipTo(c.first)
	}
	if len(c.expires) > 0 {
		x.versions.Clock.Expiring.Store(true)
	}
	x.writer.logged.Store(uint64(at))
	x.recovery.Inserted += uint64(len(c.docs))
	x.recovery.Deleted += uint64(len(c.delete))
	defer x.writer.publish()
	return x.writer.apply(&c)
}

// finishReplay makes the blocks of the memtables, several concurrently.
func (x *Index) finishReplay() {
	x.writer.recovering = false
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, m := range x.versions.Current().Memtables {
		group.Go(func() error {
			m.IndexAll()
			return nil
		})
	}
	group.Wait()
	x.writer.grown()
}

// removeOrphans removes files that the manifest does not name: the results of an unfinished flush, merge or build, and
// files that a merge was about to remove. The log removes its own files.
func (f *folder) removeOrphans() (removed []string, err error) {
	named := []string{manifestName, disk.LockName}
	for g := range f.manifest.files {
		named = append(named, g.File)
	}
	return generations.RemoveOrphans(f.disk, f.dir, named, func(name string) bool {
		return segmentName.MatchString(name) || documentsName.MatchString(name) || sketchesName.MatchString(name)
	})
}

// applyTombstones deletes the documents of earlier segments that the file beside each segment lists.
func (w *writer) applyTombstones(v *version.Version) {
	for _, s := range v.Segments {
		for _, doc := range s.Older {
			if of := v.SegmentOf(doc); of != nil {
				if _, ok := of.Numbers.Row(doc); ok {
					of.Dead.Add(doc, rows.DeletedBy(0))
				}
			}
		}
	}
}
