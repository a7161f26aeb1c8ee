package live

import (
	"cmp"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/wal"
	"ndd/permute"
)

// A Config says what an index is.
type Config struct {
	Design permute.Design
	Table  table.Options   // of the segments that are made here
	Recipe *simhash.Recipe // of the fingerprints; nil for any
	IDs    bool            // documents have IDs

	// Sketches says that the documents' sketches are kept: with the documents in the log and in
	// memtables, and in files of segments, from which only those of candidates are read.
	// Threshold is the least estimated Jaccard similarity, 0 to 1, of a query and a document of an
	// answer, where both have sketches, and of a document that keeps another one from being
	// inserted. 0 is [rows.DefaultThreshold], and less verifies nothing.
	Sketches  bool
	Threshold float64

	Choice *Choice // why it has its tables; nil where that was not kept

	OnConflict rows.OnConflict // what becomes of a document whose ID is taken; 0 is Replace
	TTL        time.Duration   // how long documents are kept that say nothing else; 0 is forever
	Budget     *memory.Budget  // of memory and of merges; nil is what this machine has left

	Events
	simulation
}

// Events are called when an index does something by itself, unless nil; several goroutines may call
// them.
type Events struct {
	// Planned is told before a segment is written to a file, by a merge or of what was inserted, how
	// many documents it will have and how much memory that takes beside mapped files.
	Planned func(docs, memory uint64)

	// ClockJumped is told by how much when the system's clock begins to be wrong; see
	// [OpenOptions.AcceptClock].
	ClockJumped func(time.Duration)
}

// A simulation is what tests set.
type simulation struct {
	flushDocs uint64               // of a memtable; 0 is the default
	now       func() time.Time     // nil is time.Now
	monotonic func() time.Duration // nil is that of now
}

// neverFlush has nothing flushed by itself.
const neverFlush = 1 << 40

// memtableDocs returns how many documents fill a memtable: fewer where it is scanned.
func (c *Config) memtableDocs() uint64 {
	limit := memtable.MaxDocs(c.Design.K)
	return min(cmp.Or(c.flushDocs, limit), limit)
}

// shared is the state that the parts of an index share. Its fields are set before the index is
// used.
type shared struct {
	config   Config
	key      rows.IDKey // hashes IDs
	folder   *folder
	versions version.Set
	workers  *worker.Set // search the tables; nil when each caller does
	stop     chan struct{}
	flushes  chan struct{} // wakes the goroutine that flushes
	merges   chan struct{} // wakes the goroutine that merges
}

// wake lets a goroutine look for work, now or after what it is doing.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *shared) wakeFlusher() { wake(s.flushes) }
func (s *shared) wakeMerger()  { wake(s.merges) }

// OpenOptions say how to open an index. The zero value maps its files and verifies them.
type OpenOptions struct {
	Verify   Verify
	Threads  int                   // for verification; default: as many as there are processors
	Progress func(done, of uint64) // bytes verified; may be nil; called from many goroutines

	// Load reads the files into huge pages outside the Go heap instead of
	// mapping them. Their bytes are reserved from Budget until the index is closed.
	Load bool

	// Budget is what Load and Spread take memory from; by default what this machine has left.
	Budget *memory.Budget

	// Write opens the index for inserts that last: an index made by building becomes live. What is
	// inserted stands in a log before the call returns, as Sync has it. Without Write inserts live
	// in memory and are gone with the process.
	Write      bool
	Sync       wal.Sync        // when inserts are durable; the zero value is wal.Always: before they return
	OnConflict rows.OnConflict // what becomes of a document whose ID is taken; 0 is Replace
	TTL        time.Duration   // how long documents are kept that come from now on and say nothing else; 0 is forever
	Disk       *disk.Disk      // to write to; nil is the system's
	// Threshold is that of [Config].
	Threshold float64

	// AcceptClock confirms the system's clock where it is more than a day from the time when the
	// index was last open for writing. Without it nothing expires then, nor while the clock jumps
	// by more than a day.
	AcceptClock bool

	Events
	simulation

	// Spread, unless nil, copies the tables to the memory nodes of its host
	// and has workers of each node search them.
	Spread *worker.Options
}

// Verify says how much of an index [Open] holds against its checksums.
type Verify int

const (
	// VerifyFull checks every block of every file before the first answer,
	// at the speed of the checksum (package store): nothing damaged is used.
	VerifyFull Verify = iota

	// VerifyFast checks headers, trailers, footers, the digests of the block
	// checksums and the blocks of sections up to 1 MiB, in milliseconds
	// whatever the size. It does not check the blocks of larger sections,
	// which are the tables' planes, the ids and the names: a bit flipped there
	// may give a wrong answer, though never a crash, until [Index.Scrub]
	// finds it.
	VerifyFast
)
