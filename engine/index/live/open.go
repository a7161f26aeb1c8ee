package live

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/wal"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// OpenOptions say how to open an index. The zero value maps its files and verifies them.
type OpenOptions struct {
	Verify   Verify
	Threads  int                   // for verification; default: as many as there are processors
	Progress func(done, of uint64) // bytes verified; may be nil; called from many goroutines

	// Load reads the files into huge pages outside the Go heap instead of
	// mapping them. Their bytes are reserved from Budget until the index is closed.
	Load bool

	// Memory, unless 0, is the most that the index's files may take when all
	// of them are in memory: a larger index is refused.
	Memory uint64

	// Budget is what Load and Spread take memory from; by default what this machine has left.
	Budget *memory.Budget

	// Write opens the index for inserts that last: an index made by building becomes live. What is
	// inserted stands in a log before the call returns, as Sync has it. Without Write inserts live in
	// memory and are gone with the process.
	Write      bool
	Sync       wal.Sync      // when inserts are durable; the zero value is wal.Always: before they return
	OnConflict OnConflict    // what becomes of a document whose ID is taken; 0 is Replace
	TTL        time.Duration // how long documents are kept that come from now on and say nothing else; 0 is forever
	Disk       *disk.Disk    // to write to; nil is the system's
	Random     io.Reader     // of file identities; nil is crypto/rand
	// MaxLengthRatio is that of [Config]; the error wraps [ErrNoLengths] where it is set and the index keeps no lengths.
	MaxLengthRatio float64
	// Planned, unless nil, is told before a segment is written to a file, by a merge or of what was inserted, how many documents it
	// will have and how much memory that takes beside mapped files. Several goroutines may call it.
	Planned   func(docs, memory uint64)
	flushDocs uint64 // for tests; see Config
	now       func() time.Time

	// Spread, unless nil, copies the tables to the memory nodes of its host
	// and has workers of each node search them.
	Spread *worker.Options
}

// An Opening says what [Open] did.
type Opening struct {
	Bytes     uint64        // of the segments
	Skipped   uint64        // of them, those that [VerifyFast] did not look at
	Loaded    bool          // into memory, or else mapped
	Reading   time.Duration // mapping and checking headers, or reading all
	Verifying time.Duration
}

// String returns a line: how large, how, how fast.
func (o Opening) String() string {
	rate := func(bytes uint64, d time.Duration) string {
		return fmt.Sprintf("%v, %.1f GB/s", d.Round(10*time.Microsecond), float64(bytes)/max(1, float64(d.Nanoseconds())))
	}
	how, verified := fmt.Sprintf("mapped in %v", o.Reading.Round(10*time.Microsecond)), rate(o.Bytes, o.Verifying)
	if o.Loaded {
		how = fmt.Sprintf("read into memory in %s", rate(o.Bytes, o.Reading))
	}
	if o.Skipped > 0 {
		verified = fmt.Sprintf("%v, but for %s in large sections", o.Verifying.Round(10*time.Microsecond), humanize.IBytes(o.Skipped))
	}
	return fmt.Sprintf("%s %s, verified in %s", humanize.IBytes(o.Bytes), how, verified)
}

// Open opens the index in folder dir and verifies it as o says. The error wraps
// [store.ErrCorrupt] when an index is there but is not sound, [ErrNoIndex] when none is there,
// [memory.ErrTooLarge] when it is larger than o.Memory, and [ErrLocked] when it is to be written to
// and another process does that.
//
// An index that another process writes to can be opened for reading. It is then as it was at some
// moment of the opening, with all that was acknowledged before.
func Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	if o.Write {
		return openForWriting(ctx, dir, o)
	}
	return openAsItIs(func() (*Manifest, error) { return ReadManifest(dir) },
		func(m *Manifest) (*Index, error) { return m.Open(ctx, dir, o) })
}

// openAsItIs opens what a manifest says that it reads, and does so again where that fails and there
// is another manifest: whoever writes may have merged what the first one named.
func openAsItIs(read func() (*Manifest, error), open func(*Manifest) (*Index, error)) (*Index, error) {
	for tries := 0; ; tries++ {
		m, err := read()
		if err != nil {
			return nil, err
		}
		x, err := open(m)
		if err == nil || m.Live == nil || tries == openTries {
			return x, err
		}
		if now, e := read(); e != nil || now.Generation == m.Generation {
			return nil, err
		}
	}
}

// openTries is how often an index that changes while it is opened is opened again.
const openTries = 10

func openForWriting(ctx context.Context, dir string, o OpenOptions) (_ *Index, err error) {
	if _, err := ReadManifest(dir); err != nil { // no lock is made where no index is
		return nil, err
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, disk: o.Disk, random: o.Random, lock: lock}
	defer func() {
		if err != nil {
			f.unlock()
		}
	}()
	if f.manifest, err = ReadManifest(dir); err != nil { // nobody changes it now
		return nil, err
	}
	return f.manifest.open(ctx, dir, o, f)
}

// Open opens the index that is in folder dir if that is what the manifest says, for reading.
func (m *Manifest) Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	return m.open(ctx, dir, o, nil)
}

func (m *Manifest) open(ctx context.Context, dir string, o OpenOptions, f *folder) (_ *Index, err error) {
	defer store.CatchFault(&err)()
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	reserved, err := m.reserve(dir, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			reserved.Release()
		}
	}()
	did := Opening{Bytes: m.bytes(), Loaded: o.Load}
	begun := time.Now()
	segments, err := m.openSegments(ctx, dir, o)
	defer func() {
		if err != nil {
			for _, s := range segments {
				s.close()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	if f != nil && slices.ContainsFunc(segments, func(s *Segment) bool { return !s.KeepsDocs() }) {
		return nil, fmt.Errorf("%s cannot be written to: %w", dir, ErrNoDocs)
	}
	did.Reading = time.Since(begun)
	begun = time.Now()
	files := filesOf(segments)
	if o.Verify == VerifyFast && !o.Load { // what is read is checked while it is in the cache
		for _, f := range files {
			did.Skipped += f.LargeBytes()
		}
		err = verifySmall(files)
	} else {
		err = verify(ctx, files, o.Threads, o.Progress)
	}
	if err != nil {
		return nil, err
	}
	did.Verifying = time.Since(begun)
	config := m.config(segments, o)
	if o.MaxLengthRatio != 0 && !config.Lengths {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoLengths)
	}
	x := newIndex(config)
	if x.opening, x.reserved = did, reserved; o.Spread != nil {
		spread := *o.Spread
		spread.Budget = cmp.Or(spread.Budget, o.Budget)
		if x.workers, err = placed(ctx, segments, spread); err != nil {
			return nil, err
		}
	}
	next := DocID(0)
	for _, s := range segments {
		next = max(next, s.end())
	}
	if m.Live != nil {
		next = max(next, DocID(m.Live.Next))
		x.key, _ = identity(m.Live.Key)
	}
	if err := x.begin(dir, m, f, segments, next, o); err != nil {
		return nil, err
	}
	return x, nil
}

// begin gives an index its segments and, where there is one, its log, and starts it. The segments are
// the caller's to close after an error.
func (x *Index) begin(dir string, m *Manifest, f *folder, segments []*Segment, next DocID, o OpenOptions) error {
	for _, s := range segments {
		s.versions++ // until the index is whole: what was opened is closed by its opener
	}
	x.recovering = f != nil || m.Live != nil
	err := x.fill(segments, next)
	if err == nil {
		x.applyTombstones(x.current.Load())
		if f != nil {
			err = x.beginWriting(f, o)
		} else if m.Live != nil {
			err = x.readLog(dir, m, o)
		}
	}
	if err != nil {
		x.publish(nil)
		return err
	}
	for _, s := range segments {
		s.versions--
	}
	x.background.start(x)
	x.wakeFlusher()
	x.wakeMerger()
	return nil
}

// config returns what the index is that the manifest describes.
func (m *Manifest) config(segments []*Segment, o OpenOptions) Config {
	c := Config{Recipe: m.Recipe, Choice: m.Choice, MaxLengthRatio: o.MaxLengthRatio, OnConflict: o.OnConflict, TTL: o.TTL, Budget: o.Budget, planned: o.Planned, flushDocs: o.flushDocs, now: o.now}
	if m.Live != nil {
		c.Design, c.Table, c.IDs, c.Lengths = m.Live.Design, table.Options{Layout: m.Live.Layout}, m.Live.IDs, m.Live.Lengths
		return c
	}
	first := segments[0].Segment
	c.Design, c.Table, c.IDs, c.Lengths = *first.Design(), table.Options{Layout: first.Layout()}, first.IDs() != nil, first.Lengths() != nil
	return c
}

// reserve refuses an index that is too large, and reserves the memory of one that is loaded.
func (m *Manifest) reserve(dir string, o OpenOptions) (*memory.Reservation, error) {
	what := "the index " + dir
	if o.Memory > 0 {
		if err := memory.NewBudget(memory.Set(o.Memory)).Check(what, m.bytes()); err != nil {
			return nil, err
		}
	}
	if !o.Load {
		return nil, nil
	}
	return o.Budget.Here().Reserve(what, m.bytes())
}

// A getter opens a file: one that maps it, or one that loads it.
type getter func(path string, kind store.Kind) (*store.File, error)

// mapper returns what maps the files. Where they are more than the memory there is, single pages of segments are read.
func (m *Manifest) mapper() getter {
	if m.bytes() <= (memory.Machine{}).Limit(0).Bytes {
		return store.Open
	}
	return func(path string, kind store.Kind) (*store.File, error) {
		f, err := store.Open(path, kind)
		if err == nil && kind == store.KindSegment {
			f.Scattered()
		}
		return f, err
	}
}

// openSegments opens the segments that the manifest names, and no others. It returns those that it
// opened with an error, too.
func (m *Manifest) openSegments(ctx context.Context, dir string, o OpenOptions) (segments []*Segment, err error) {
	get := m.mapper()
	if o.Load {
		get = func(path string, kind store.Kind) (*store.File, error) { return store.Load(ctx, path, kind, o.Threads) }
	}
	next := DocID(0)
	for i := range m.Segments {
		s, err := m.openSegment(dir, i, next, get)
		if err != nil {
			return segments, err
		}
		segments = append(segments, s)
		if s.numbers.n > 0 && s.numbers.first() < next {
			return segments, s.beside.file.Corrupt("its documents begin with number %d, where those of the segment before end with %d", s.numbers.first(), next)
		}
		next = s.end()
	}
	return segments, nil
}

// openSegment opens segment i, whose documents are numbered from next on unless a file beside it
// says more.
func (m *Manifest) openSegment(dir string, i int, next DocID, get getter) (_ *Segment, err error) {
	g := &m.Segments[i]
	f, err := g.open(dir, store.KindSegment, m.Generation, get)
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
		if beside, err = openDocuments(dir, m, i); err != nil {
			return nil, err
		}
	}
	opened := openNumbered(s, next, beside)
	opened.file, opened.free = f, f.Close
	return opened, nil
}

// open opens a file of the index if it is the one that a manifest of that generation names.
func (n *ManifestFile) open(dir string, kind store.Kind, generation uint64, get getter) (*store.File, error) {
	path := filepath.Join(dir, n.File)
	f, err := get(path, kind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, n.missing(path)
	}
	if err != nil {
		return nil, err
	}
	if id := f.Identity(); hex.EncodeToString(id.ID[:]) != n.ID || id.Generation > generation || f.Bytes() != n.Bytes {
		const identityOffset = 16
		f.Close()
		return nil, &store.CorruptError{File: f.Path(), Section: "header", Block: -1, Offset: identityOffset,
			Why: fmt.Sprintf("a sound %s, but not the one that the manifest names: copy that, or build the index again", kind)}
	}
	return f, nil
}

// named returns how a manifest names a file that was written.
func named(w *store.Writer, path string) (ManifestFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return ManifestFile{}, err
	}
	id := w.Identity()
	return ManifestFile{File: filepath.Base(path), ID: hex.EncodeToString(id.ID[:]), Bytes: uint64(info.Size())}, nil
}

// filesOf returns the files of segments.
func filesOf(segments []*Segment) (files []*store.File) {
	for _, s := range segments {
		if s.file != nil {
			files = append(files, s.file)
		}
		if s.beside != nil {
			files = append(files, s.beside.file)
		}
	}
	return files
}
