package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/wal"
	"ndd/permute"
)

// Options configures the index that [New] makes. The zero value is for fingerprints of any origin,
// whose documents have IDs.
type Options struct {
	Design *permute.Design // which tables; nil chooses those that a million fingerprints should have, by a random seed
	Recipe *simhash.Recipe // how the fingerprints are made; nil for any
	NoIDs  bool            // documents are known by their numbers only

	// NoSketches keeps no sketches of documents. Without it an index with a recipe keeps them, to
	// verify answers. Threshold is that of [OpenOptions].
	NoSketches bool
	Threshold  float64

	OnConflict OnConflict     // what becomes of a document whose ID is taken; 0 is [Replace]
	TTL        time.Duration  // how long documents are kept that say nothing else; 0 is forever
	Budget     *memory.Budget // of what is in memory and of merges; nil is what this machine has left when New is called
}

// designFingerprints are how many New expects when it chooses tables.
const designFingerprints = 1 << 20

func (o Options) config(k int) (c live.Config, err error) {
	c = live.Config{Table: table.Options{Layout: table.LayoutPlanar}, Recipe: o.Recipe, IDs: !o.NoIDs,
		Sketches: o.Recipe != nil && !o.NoSketches, Threshold: o.Threshold, OnConflict: rows.OnConflict(o.OnConflict),
		TTL: o.TTL, Budget: o.Budget}
	if o.Design != nil {
		c.Design = *o.Design
		return c, checkDistance(k, c.Design.K)
	}
	c.Design, err = designFor(k)
	return c, err
}

// designFor returns the tables of an index that nothing is known of but k. Their seed is random.
func designFor(k int) (d permute.Design, err error) {
	if k < 0 || k > permute.MaxK {
		return d, fmt.Errorf("k = %d: there are tables for 0 to %d", k, permute.MaxK)
	}
	p, err := plan.New(context.Background(), plan.Request{Fingerprints: designFingerprints, K: k,
		Layout: table.LayoutPlanar, Seed: permute.RandomSeed()})
	if err != nil {
		return d, err
	}
	return p.Choice.Design, nil
}

// BuildOptions configures how [Build] makes an index folder.
type BuildOptions struct {
	Design permute.Design // which tables
	Layout string         // of the tables: "planar", the default, or "huffman"

	Threads  int                              // default: as many as there are processors
	Progress func(stage string, part, of int) // may be nil
	Budget   *memory.Budget                   // source of the memory, the input aside; nil: what this machine has left

	Replace  bool // an index that exists, when the new one is complete
	Sketches bool // keep the documents' sketches, which all files must have
	NoIDs    bool // keep the documents' numbers, and not the IDs that files have
	NoDocs   bool // keep the fingerprints alone, and no documents

	OnConflict OnConflict        // of documents with one ID; 0 keeps all
	Dropped    func(docs uint64) // receives how many documents that drops; may be nil
}

// Verify says how much of an index [Open] compares with its checksums.
type Verify int

// What Open verifies.
const (
	VerifyFull = Verify(live.VerifyFull) // every block of every file, before the first answer
	VerifyFast = Verify(live.VerifyFast) // what says how large sections are to be read, in milliseconds
)

// Sync says when an insert is durable against a power cut: a positive value is the longest time after the
// call has returned. The end of the process never undoes an insert.
type Sync time.Duration

// The values of Sync that are not an interval.
const (
	SyncAlways = Sync(wal.Always) // before the call returns
	SyncNever  = Sync(wal.Never)  // when the system writes by itself
)

// OpenOptions configures how [Open] opens an index. The zero value maps its files and verifies them.
type OpenOptions struct {
	Verify   Verify
	Threads  int                   // for verification; default: as many as there are processors
	Progress func(done, of uint64) // bytes verified; may be nil; called from many goroutines

	Load   bool           // read the files into memory outside the Go heap, reserved from Budget, instead of mapping them
	Budget *memory.Budget // source of the memory; nil is what this machine has left

	// Write opens the index for inserts that last. Without it inserts are in memory and end with the
	// process.
	Write      bool
	Sync       Sync          // when inserts are durable
	OnConflict OnConflict    // what becomes of a document whose ID is taken; 0 is Replace
	TTL        time.Duration // how long documents are kept that come from now on and say nothing else; 0 is forever

	// Threshold is the least estimated Jaccard similarity of a query and a document of an answer, where both
	// have sketches, and of a document that keeps another one from being inserted: 0 to 1. 0 is 0.7, and a
	// negative value verifies nothing.
	Threshold float64

	// AcceptClock confirms the system's clock where it is more than a day from the time when the
	// index was last open for writing. Without it nothing expires then.
	AcceptClock bool
	ClockJumped func(time.Duration) // is told by how much when the clock begins to be wrong; may be nil
}

// inner returns the options of the implementation.
func (o *OpenOptions) inner() live.OpenOptions {
	return live.OpenOptions{Verify: live.Verify(o.Verify), Threads: o.Threads, Progress: o.Progress, Load: o.Load,
		Budget: o.Budget, Write: o.Write, Sync: wal.Sync(o.Sync), OnConflict: rows.OnConflict(o.OnConflict), TTL: o.TTL,
		Threshold: o.Threshold, AcceptClock: o.AcceptClock, Events: live.Events{ClockJumped: o.ClockJumped}}
}

// inner returns the options of the implementation.
func (o *BuildOptions) inner() live.BuildOptions {
	return live.BuildOptions{Options: segment.Options{Design: o.Design,
		Table: table.Options{Layout: cmp.Or(table.Layout(o.Layout), table.LayoutPlanar)}, NoDocs: o.NoDocs, Threads: o.Threads,
		Progress: o.Progress, Budget: o.Budget.OrMachine()}, Replace: o.Replace, Sketches: o.Sketches, NoIDs: o.NoIDs,
		OnConflict: rows.OnConflict(o.OnConflict), Dropped: o.Dropped}
}
