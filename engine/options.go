package engine

import (
	"context"
	"fmt"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/plan"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/permute"
)

// Options configures the index that [New] makes. The zero value is for fingerprints of any origin,
// whose documents have IDs.
type Options struct {
	Design *permute.Design // which tables; nil chooses those that a million fingerprints should have, by a random seed
	Recipe *simhash.Recipe // how the fingerprints are made; nil for any
	NoIDs  bool            // documents are known by their numbers only

	OnConflict rows.OnConflict // what becomes of a document whose ID is taken: [Replace], which is 0, [Keep] or [Refuse]
	TTL        time.Duration   // how long documents are kept that say nothing else; 0 is forever
	Budget     *memory.Budget  // of what is in memory and of merges; nil is what this machine has left when New is called
}

// designFingerprints are how many New expects when it chooses tables.
const designFingerprints = 1 << 20

func (o Options) config(k int) (c live.Config, err error) {
	c = live.Config{Table: table.Options{Layout: table.LayoutPlanar}, Recipe: o.Recipe, IDs: !o.NoIDs,
		OnConflict: o.OnConflict, TTL: o.TTL, Budget: o.Budget}
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

// Values that options, queries and documents take.
const (
	// AllDocs asks for every document of a hit. An empty page's fingerprint may have millions.
	AllDocs = search.AllDocs

	// FirstDoc asks for the first document of each hit alone, and for no count of the others: Hit.Documents is 1.
	FirstDoc = search.FirstDoc
	// NoDoc stands for the documents of a fingerprint in an index that keeps none, such as one built with
	// BuildOptions.NoDocs: its hits have it once. Its ID is empty.
	NoDoc = rows.NoDoc

	// What becomes of a document whose ID another document has:
	Replace = rows.Replace // it takes the other's place, which is deleted
	Keep    = rows.Keep    // it is not inserted
	Refuse  = rows.Refuse  // the call fails with ErrConflict and inserts nothing

	// Forever is the time to live of a document that never expires, whatever the index's own is.
	Forever = rows.Forever

	// What Open holds against checksums:
	VerifyFull = live.VerifyFull // every block of every file, before the first answer
	VerifyFast = live.VerifyFast // what says how large sections are to be read, in milliseconds
)

// BuildOptions configures how [Build] makes an index folder; see [live.BuildOptions].
type BuildOptions = live.BuildOptions

// OpenOptions configures how [Open] opens one; see [live.OpenOptions]. The zero value maps its files and
// verifies them.
type OpenOptions = live.OpenOptions

// BatchOptions configures a batch of queries.
type BatchOptions struct {
	K int // largest distance, at most the index's
	// of the queries' texts, by query, for an index that was opened with a MaxLengthRatio; nil or
	// 0: not known
	TextBytes  []uint32
	Docs       int            // how many documents of each hit to look up; see AllDocs and FirstDoc
	Threads    int            // default: as many as there are processors; fewer where Budget has not the memory for them
	MatchBytes uint64         // for the matches of a sweep; default: a quarter of what Budget has left, 1 GiB at most
	Budget     *memory.Budget // of which the memory is taken; nil: no limit
}
