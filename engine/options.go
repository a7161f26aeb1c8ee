package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/permute"
)

// Options configures the index that [New] makes. The zero value is for fingerprints of any recipe and
// documents with IDs.
type Options struct {
	Design *permute.Design // the tables; nil chooses a design for a million fingerprints, with a random seed
	Recipe *simhash.Recipe // recipe of the fingerprints; nil for any
	NoIDs  bool            // documents have numbers but no IDs

	// NoSketches stores no sketches of documents. Without it, an index with a recipe stores them, to verify
	// answers. Threshold is described at [OpenOptions].
	NoSketches bool
	Threshold  float64

	OnConflict OnConflict     // what happens to a document whose ID is taken; 0 is [Replace]
	TTL        time.Duration  // default time to live of documents; 0 is forever
	Budget     *memory.Budget // memory of the index and of merges; nil is the memory that is free when New is called
}

// designFingerprints is the number of fingerprints that New expects when it chooses tables.
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

// designFor returns a design for distance k and an unknown number of fingerprints. Its seed is random.
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
	Design permute.Design // the tables
	Layout string         // layout of the tables: "planar" (default) or "huffman"

	Threads  int                                 // default: one for each processor
	Progress func(stage string, part, total int) // may be nil
	Budget   *memory.Budget                      // memory of the build without its input; nil: the free memory of the machine

	Replace  bool // replace an existing index when the new one is complete
	Sketches bool // store the sketches of documents; all files must have them
	NoIDs    bool // store no IDs: documents have only numbers
	NoDocs   bool // store only fingerprints, and no documents

	OnConflict OnConflict        // what happens to documents with the same ID; 0 keeps all of them
	OnDrop     func(docs uint64) // receives the number of documents that OnConflict drops; may be nil
}

// Verify says which parts of an index [Open] compares with their checksums.
type Verify int

// The values of Verify.
const (
	VerifyFull = Verify(live.VerifyFull) // every block of every file, before the first answer
	VerifyFast = Verify(live.VerifyFast) // only the descriptions of large sections; takes milliseconds
)

// OpenOptions configures how [Open] opens an index. The zero value maps its files and verifies them.
type OpenOptions struct {
	Verify   Verify
	Threads  int                      // goroutines that verify; default: one for each processor
	Progress func(done, total uint64) // bytes verified; may be nil; several goroutines call it

	Load   bool           // read the files into memory outside the Go heap, instead of mapping them
	Budget *memory.Budget // memory of the index; nil is the free memory of the machine

	// Write opens the index for durable inserts. Without it, inserts are only in memory and are lost when the
	// process ends.
	Write      bool
	NoSync     bool          // do not sync the log: a power cut may lose inserts, but the end of the process may not
	OnConflict OnConflict    // what happens to a document whose ID is taken; 0 is Replace
	TTL        time.Duration // default time to live of documents that are inserted from now on; 0 is forever

	// Threshold is the minimum estimated Jaccard similarity, 0 to 1, of a query and a document of its answer, if
	// both have sketches. A document with a smaller similarity does not prevent an insert. 0 means 0.74. A negative
	// value turns verification off.
	Threshold float64

	// AcceptClock confirms the system's clock if it differs by more than a day from the time when the index was last
	// open for writing. Without it, nothing expires then.
	AcceptClock bool
	ClockJumped func(time.Duration) // receives the difference when the clock becomes wrong; may be nil
}

// inner returns the options of the implementation.
func (o *OpenOptions) inner() live.OpenOptions {
	return live.OpenOptions{Verify: live.Verify(o.Verify), Threads: o.Threads, Progress: o.Progress, Load: o.Load,
		Budget: o.Budget, Write: o.Write, NoSync: o.NoSync, OnConflict: rows.OnConflict(o.OnConflict), TTL: o.TTL,
		Threshold: o.Threshold, AcceptClock: o.AcceptClock, Events: live.Events{ClockJumped: o.ClockJumped}}
}

// inner returns the options of the implementation.
func (o *BuildOptions) inner() live.BuildOptions {
	return live.BuildOptions{Options: segment.Options{Design: o.Design,
		Table: table.Options{Layout: cmp.Or(table.Layout(o.Layout), table.LayoutPlanar)}, NoDocs: o.NoDocs, Threads: o.Threads,
		Progress: o.Progress, Budget: o.Budget.OrMachine()}, Replace: o.Replace, Sketches: o.Sketches, NoIDs: o.NoIDs,
		OnConflict: rows.OnConflict(o.OnConflict), OnDrop: o.OnDrop}
}
