package live

import (
	"context"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/permute"
)

// A Config describes an index.
type Config struct {
	Design permute.Design
	Table  table.Options   // tables of new segments
	Recipe *simhash.Recipe // recipe of the fingerprints; nil means any
	IDs    bool            // documents have IDs

	// Sketches keeps the documents' sketches: in the log and in memtables with the documents, and in files of segments,
	// which are read only for candidates. Threshold is the minimum estimated Jaccard similarity, 0 to 1, of a query and
	// a document of its answer, if both have sketches. A document with a smaller similarity does not prevent an insert.
	// 0 means [sketch.DefaultThreshold]; a negative value turns verification off.
	Sketches  bool
	Threshold float64

	OnConflict rows.OnConflict // result of inserting a document whose ID is taken; 0 is Replace
	TTL        time.Duration   // default time to live of documents; 0 is forever
	Budget     *memory.Budget  // limit of the memory, including merges; nil is the free memory of the machine

	Events
	simulation
}

// Events are functions that an index calls in the background. They may be nil. Several goroutines may call them.
type Events struct {
	// Planned receives, before a flush or a merge writes a segment file, its number of documents and the memory for
	// writing, without mapped files.
	Planned func(docs, memory uint64)

	// ClockJumped receives the difference when the system's clock becomes wrong; see [OpenOptions.AcceptClock].
	ClockJumped func(time.Duration)
}

// A simulation holds settings of tests.
type simulation struct {
	flushDocs uint64               // capacity of a memtable; 0 is the default
	noFlushes bool                 // nothing flushes memtables in the background
	now       func() time.Time     // nil is time.Now
	monotonic func() time.Duration // nil uses now
}

// indexState is the common state of the parts of an index. Its fields are set before the index is used.
type indexState struct {
	config   Config
	key      rows.IDKey // key of the hash of IDs
	folder   *folder
	versions version.Set
	workers  *worker.Set // workers that search the tables; nil if callers do
	ctx      context.Context
	stop     context.CancelFunc // ends ctx, and so the work in the background
	flushes  chan struct{}      // wakes the goroutine that flushes
	merges   chan struct{}      // wakes the goroutine that merges
}

// wake makes a goroutine look for work, now or after its current work.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *indexState) wakeFlusher() { wake(s.flushes) }
func (s *indexState) wakeMerger()  { wake(s.merges) }

// OpenOptions configures [Open]. The zero value maps the files and verifies them.
type OpenOptions struct {
	Verify   Verify
	Threads  int                      // goroutines that verify; default: one per processor
	Progress func(done, total uint64) // receives bytes verified; may be nil; several goroutines call it

	// Load reads the files into huge pages outside the Go heap instead of mapping them. Their memory is reserved from
	// Budget until the index is closed.
	Load bool

	// Budget limits the memory of the index, including Load and Spread; nil is the free memory of the machine.
	Budget *memory.Budget

	// Write opens the index for durable inserts: they are in a log before the call returns. Without Write, inserts are
	// only in memory and are lost when the process ends.
	Write      bool
	NoSync     bool            // do not sync the log: only a power cut may lose inserts
	OnConflict rows.OnConflict // result of inserting a document whose ID is taken; 0 is Replace
	TTL        time.Duration   // default time to live of documents that are inserted from now on; 0 is forever
	Disk       *disk.Disk      // disk of the index; nil is the system's
	// Threshold: see [Config].
	Threshold float64

	// AcceptClock confirms the system's clock if it differs by more than a day from the time when the index was last
	// open for writing. Without it nothing expires then. Nothing expires either while the clock is more than a day
	// wrong.
	AcceptClock bool

	Events
	simulation

	// Spread, if not nil, copies the tables to the memory nodes of its host. Workers of each node search them.
	Spread *worker.Options
}

// Verify selects the checks of checksums in [Open].
type Verify int

const (
	// VerifyFull checks every block of every file before the first answer, at the speed of the checksum (package
	// store). No damaged block is used.
	VerifyFull Verify = iota

	// VerifyFast checks headers, trailers, footers, the digests of the block checksums and the blocks of sections up to
	// 1 MiB, in milliseconds whatever the size. It does not check larger sections: planes of tables, ordinals, IDs and
	// sketches. A flipped bit in them may cause a wrong answer, but never a crash, until [Index.Scrub] finds it.
	VerifyFast
)
