package live

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
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
// [store.ErrCorrupt] when an index is there but is not sound, [ErrNoIndex] when none is there, and
// [memory.ErrTooLarge] when it is larger than o.Memory.
func Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	return m.Open(ctx, dir, o)
}

// Open opens the index that is in folder dir if that is what the manifest says.
func (m *Manifest) Open(ctx context.Context, dir string, o OpenOptions) (_ *Index, err error) {
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
	var segments []*Segment
	defer func() {
		if err != nil {
			for _, s := range segments {
				s.close()
			}
		}
	}()
	begun := time.Now()
	files, err := m.openFiles(ctx, dir, o)
	defer func() {
		if err != nil {
			for _, f := range files[len(segments):] { // the others are the segments'
				f.Close()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	did.Reading = time.Since(begun)
	begun = time.Now()
	if o.Verify == VerifyFast {
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
	for i, f := range files {
		s, err := m.openSegment(i, f)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			s.first = segments[i-1].end()
		}
		segments = append(segments, s)
	}
	var workers *worker.Set
	if o.Spread != nil {
		spread := *o.Spread
		spread.Budget = cmp.Or(spread.Budget, o.Budget)
		if workers, err = placed(ctx, segments, spread); err != nil {
			return nil, err
		}
	}
	first := segments[0].Segment
	x, err := newIndex(Config{
		Design: *first.Design(), Table: table.Options{Layout: first.Layout()}, Recipe: m.Recipe, IDs: first.IDs() != nil, Choice: m.Choice,
	}, segments)
	if err != nil {
		return nil, err
	}
	x.workers, x.opening, x.reserved = workers, did, reserved
	return x, nil
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

// openFiles opens the files that the manifest names, and no others. It returns those that it opened
// with an error, too.
func (m *Manifest) openFiles(ctx context.Context, dir string, o OpenOptions) (files []*store.File, err error) {
	get := store.Open
	if o.Load {
		get = func(path string, kind store.Kind) (*store.File, error) { return store.Load(ctx, path, kind, o.Threads) }
	}
	for _, g := range m.Segments {
		path := filepath.Join(dir, g.File)
		f, err := get(path, store.KindSegment)
		if errors.Is(err, fs.ErrNotExist) {
			return files, g.missing(path)
		}
		if err != nil {
			return files, err
		}
		files = append(files, f)
		if id := f.Identity(); hex.EncodeToString(id.ID[:]) != g.ID || id.Generation > m.Generation || f.Bytes() != g.Bytes {
			const identityOffset = 16
			return files, &store.CorruptError{File: f.Path(), Section: "header", Block: -1, Offset: identityOffset,
				Why: "a sound segment, but not the one that the manifest names: copy that, or build the index again"}
		}
	}
	return files, nil
}

// openSegment opens segment i in its file, which is then the segment's to close.
func (m *Manifest) openSegment(i int, f *store.File) (*Segment, error) {
	s, err := segment.Open(f)
	if err != nil {
		return nil, err
	}
	if s.Design().K != m.K || s.Documents() != m.Segments[i].Documents {
		s.Close()
		return nil, f.Corrupt("k = %d and %d documents, where the manifest has k = %d and %d",
			s.Design().K, s.Documents(), m.K, m.Segments[i].Documents)
	}
	return &Segment{Segment: s, file: f, free: f.Close}, nil
}
