package dedup

import (
	"fmt"

	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/rewrite"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/storage/spill"
)

// reserve reserves and reports the memory for a number of documents; 0 is an unknown number, of documents that
// are read. Where there is too little to compare them, clusters go to temporary files.
func (c *Corpus) reserve(documents int) error {
	what := fmt.Sprintf("comparing %d documents", documents)
	if documents == 0 {
		what = "reading"
	}
	if c.reserved == nil {
		c.reserved, _ = c.o.Budget.Reserve(what, 0) // nothing always fits
	}
	err := c.reserved.Resize(what, c.needBytes(documents))
	if err != nil && documents > 0 && memory.CanMapFile {
		c.spilled = true
		err = c.reserved.Resize(what, c.needBytes(documents))
	}
	if c.o.Say != nil {
		c.o.Say(documents, c.needBytes(documents), c.spilled)
	}
	return err
}

// mapping returns what makes memory that grows with the number of documents: nil for that of the system.
func (c *Corpus) mapping() func(bytes uint64) ([]byte, error) {
	if !c.spilled {
		return nil
	}
	return spill.Memory(c.o.Disk, c.o.TempDir, "clusters")
}

// reading returns cfg with less read ahead where there is little memory: a quarter of what the
// budget has left beside the rest, since reading takes twice that.
func (c *Corpus) reading(cfg ingest.Config) ingest.Config {
	least := cfg
	least.Budget = 1
	c.o.readingBytes = least.NeedBytes()
	left := c.o.Budget.Left()
	left -= min(left, c.needBytes(0))
	cfg.Budget = int64(min(max(left/4, 1), ingest.BudgetBytes))
	c.o.readingBytes = cfg.NeedBytes()
	return cfg
}

// needBytes returns the memory that reading, comparing and copying that many documents takes: whichever takes
// the most, and what stays beside it. If more than an eighth of them are near another these take more, which
// is reserved when they are known. Columns are in temporary files.
func (c *Corpus) needBytes(documents int) uint64 {
	o := cluster.Options{Star: !c.o.Find.Chains, Threads: c.o.Threads}
	find := o.NeedBytes(uint64(documents))
	if c.spilled {
		find = o.NeedBytes(0) + spilledStars
	}
	find = max(find, c.o.readingBytes)
	if c.o.Copies {
		find = max(find, rewrite.NeedBytes(c.o.Threads))
	}
	return c.besideBytes(documents) + find
}

// besideBytes returns the memory beside that of the search for clusters.
func (c *Corpus) besideBytes(documents int) (bytes uint64) {
	if known := c.o.Find.KnownBytes; known != nil {
		bytes = known(documents) // what the collector has not taken back while the rest is compared
	}
	if v := c.o.Find.Verify; v != nil {
		bytes += uint64(v.memory())
	}
	return bytes
}

// forClusters sets the memory of a search for clusters: the reserved bytes, and more when it turns out
// that many documents have a near one.
func (c *Corpus) forClusters(o *cluster.Options) {
	beside := c.besideBytes(c.Len())
	if c.reserved == nil || c.reserved.Bytes() < beside {
		return
	}
	o.Memory, o.Results = c.reserved.Bytes()-beside, &c.results
	if c.results.Map = c.mapping(); c.spilled {
		o.Memory, o.StarBytes = 1, spilledStars // nothing is done without Room
	}
	o.Room = func(bytes uint64) (a memory.Arena, err error) {
		if beside+bytes > c.reserved.Bytes() && !c.spilled {
			err = c.reserved.Resize("comparing documents of which very many are near others", beside+bytes)
			if err != nil && memory.CanMapFile {
				c.spilled, err = true, nil
			}
			if c.spilled {
				bytes = c.needBytes(c.Len()) - beside
			}
			if c.o.Say != nil {
				c.o.Say(c.Len(), beside+bytes, c.spilled)
			}
		}
		a.Map = c.mapping()
		c.results.Map = a.Map
		return a, err
	}
}

// spilledStars is the memory for stars, as of [cluster.Options.StarBytes], where there is less than by
// default.
const spilledStars = 4 << 20
