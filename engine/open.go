package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// Verify says how much of an index [Open] holds against its checksums. It is a
// flag's value (flag.Value, pflag.Value).
type Verify int

const (
	// VerifyFull checks every block of every file before the first answer,
	// at the speed of the checksum (package store): nothing damaged is used.
	VerifyFull Verify = iota

	// VerifyFast checks headers, trailers, footers, the digests of the block
	// checksums and the blocks of sections up to 1 MiB, in milliseconds
	// whatever the size. It does not check the blocks of larger sections,
	// which are the tables' planes, the ids and the names: a bit flipped there
	// may give a wrong answer, though never a crash, until [Index.Verify]
	// finds it.
	VerifyFast
)

var verifyNames = []string{"full", "fast"}

func (v Verify) String() string { return verifyNames[v] }

// Set is the inverse of String.
func (v *Verify) Set(name string) error {
	for i, n := range verifyNames {
		if n == name {
			*v = Verify(i)
			return nil
		}
	}
	return fmt.Errorf("must be full or fast")
}

// Type is what a command's help calls it.
func (v *Verify) Type() string { return "full|fast" }

// OpenOptions say how to open an index.
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

	// Budget is what Load takes memory from; by default what this machine has left.
	Budget *memory.Budget

	// Spread, unless nil, copies the tables to the memory nodes of its host
	// and has workers of each node search them.
	Spread *worker.Options
}

// An Opening is what [Open] did.
type Opening struct {
	Bytes     uint64        // of the segments
	Skipped   uint64        // of them, those that [VerifyFast] did not look at
	Loaded    bool          // into memory, or else mapped
	Reading   time.Duration // mapping and checking headers, or reading all
	Verifying time.Duration
}

// String is a line: how large, how, how fast.
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

// Opening says how the index was opened; it is zero for a new one.
func (x *Index) Opening() Opening { return x.opening }

// Open opens the index in folder dir and verifies it as o says. The error
// wraps [store.ErrCorrupt] when an index is there but is not sound, [ErrNoIndex]
// when none is there, and [memory.ErrTooLarge] when it is larger than o.Memory.
func Open(ctx context.Context, dir string, o OpenOptions) (*Index, error) {
	m, f, err := openManifest(dir)
	if err != nil {
		return nil, err
	}
	generation := f.Identity().Generation
	f.Close()
	x := &opening{dir: dir, manifest: m, generation: generation}
	index, err := x.open(ctx, o)
	if err != nil {
		x.close()
		return nil, err
	}
	return index, nil
}

// opening is an index that is not one yet.
type opening struct {
	dir        string
	manifest   *manifest
	generation uint64
	files      []*store.File
	segments   []*placed
	workers    *worker.Set
	reserved   *memory.Reservation // of files that are loaded
}

// reserve refuses an index that is too large, and reserves the memory of one that is loaded.
func (x *opening) reserve(o OpenOptions) (err error) {
	what, bytes := "the index "+x.dir, x.manifest.bytes()
	if o.Memory > 0 {
		if err := memory.NewBudget(memory.Set(o.Memory)).Check(what, bytes); err != nil {
			return err
		}
	}
	if o.Load {
		x.reserved, err = o.Budget.Here().Reserve(what, bytes)
	}
	return err
}

func (x *opening) close() {
	defer x.reserved.Release()
	for _, s := range x.segments {
		s.Segment.Close()
		if s.workers != nil {
			s.workers.Close()
		}
	}
	for _, f := range x.files {
		f.Close()
	}
}

func (x *opening) open(ctx context.Context, o OpenOptions) (index *Index, err error) {
	defer store.CatchFault(&err)()
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if err := x.reserve(o); err != nil {
		return nil, err
	}
	did := Opening{Bytes: x.manifest.bytes(), Loaded: o.Load}
	begun := time.Now()
	if err := x.openFiles(ctx, o); err != nil {
		return nil, err
	}
	did.Reading = time.Since(begun)
	begun = time.Now()
	if o.Verify == VerifyFast {
		for _, f := range x.files {
			did.Skipped += f.LargeBytes()
		}
		err = verifySmall(x.files)
	} else {
		err = verify(ctx, x.files, o.Threads, o.Progress)
	}
	if err != nil {
		return nil, err
	}
	did.Verifying = time.Since(begun)
	if err := x.openSegments(); err != nil {
		return nil, err
	}
	if o.Spread != nil {
		if err := x.spread(ctx, *o.Spread); err != nil {
			return nil, err
		}
	}
	first := x.segments[0].Segment
	index = newIndex(*first.Design(), x.manifest.Recipe, first.IDs() != nil, x.segments, x.files)
	index.workers, index.reserved = x.workers, x.reserved
	index.choice, index.opening = x.manifest.Choice, did
	return index, nil
}

// openFiles opens the files that the manifest names, and no others.
func (x *opening) openFiles(ctx context.Context, o OpenOptions) error {
	get := store.Open
	if o.Load {
		get = func(path string, kind store.Kind) (*store.File, error) { return store.Load(ctx, path, kind, o.Threads) }
	}
	for _, g := range x.manifest.Segments {
		path := filepath.Join(x.dir, g.File)
		f, err := get(path, store.KindSegment)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: the manifest names this file, of %s, and it is missing: copy it from where it is, or build the index again",
				path, store.ErrCorrupt, humanize.IBytes(g.Bytes))
		}
		if err != nil {
			return err
		}
		x.files = append(x.files, f)
		if id := f.Identity(); hex.EncodeToString(id.ID[:]) != g.ID || id.Generation > x.generation || f.Bytes() != g.Bytes {
			const identityOffset = 16
			return &store.CorruptError{File: f.Path(), Section: "header", Block: -1, Offset: identityOffset,
				Why: "a sound segment, but not the one that the manifest names: copy that, or build the index again"}
		}
	}
	return nil
}

func (x *opening) openSegments() error {
	next := DocID(0)
	for i, f := range x.files {
		s, err := segment.Open(f)
		if err != nil {
			return err
		}
		x.segments = append(x.segments, &placed{Segment: s, first: next, free: f.Close})
		if s.Design().K != x.manifest.K || s.Documents() != x.manifest.Segments[i].Documents {
			return f.Corrupt("k = %d and %d documents, where the manifest has k = %d and %d",
				s.Design().K, s.Documents(), x.manifest.K, x.manifest.Segments[i].Documents)
		}
		next += DocID(s.Documents())
	}
	return nil
}

// A Part is one segment of an index with the file that it is in.
type Part struct {
	File    *store.File
	Segment *segment.Segment
}

// Parts are those with which the index was opened. They are valid until it is
// closed: unlike calls of the index, who reads them must see to that.
func (x *Index) Parts() []Part {
	place := x.place()
	v, err := x.hold(place)
	if err != nil {
		return nil
	}
	defer x.release(v, place)
	parts := make([]Part, len(x.files))
	for i, s := range v.segments[:len(x.files)] {
		parts[i] = Part{x.files[i], s.Segment}
	}
	return parts
}

// Verify holds every block of the index's files against its checksum, for an
// index that was opened with [VerifyFast]; queries may go on meanwhile. The
// error wraps [store.ErrCorrupt]: answers given since may be wrong, and no
// more should be. progress may be nil.
func (x *Index) Verify(ctx context.Context, threads int, progress func(done, of uint64)) error {
	place := x.place()
	v, err := x.hold(place)
	if err != nil {
		return err
	}
	defer x.release(v, place)
	return verify(ctx, x.files, threads, progress)
}

func verifySmall(files []*store.File) error {
	for _, f := range files {
		if err := f.VerifySmall(); err != nil {
			return err
		}
	}
	return nil
}

func verify(ctx context.Context, files []*store.File, threads int, progress func(done, of uint64)) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
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
