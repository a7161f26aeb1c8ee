package dedup

import (
	"fmt"

	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/storage/spill"
)

// reserve reserves the memory for a number of documents from the budget. Where there is less, what grows
// with their number goes to temporary files.
func (c *Corpus) reserve(what string, documents int) error {
	if c.reserved == nil {
		c.reserved, _ = c.o.Budget.Reserve(what, 0) // nothing always fits
	}
	err := c.reserved.Resize(what, c.needBytes(documents))
	if err == nil || c.spilled || documents == 0 || !memory.CanMapFile {
		return err
	}
	if err := c.spillColumns(); err != nil {
		return err
	}
	return c.reserved.Resize(what, c.needBytes(documents))
}

// mapping returns what makes memory that grows with the number of documents: nil for that of the system.
func (c *Corpus) mapping() func(bytes uint64) ([]byte, error) {
	if !c.spilled {
		return nil
	}
	return spill.Memory(c.o.Disk, c.o.TempDir, "clusters")
}

// expect reserves and reports the memory for a number of documents; 0 is an unknown number.
func (c *Corpus) expect(documents int) error {
	what := fmt.Sprintf("comparing %d documents", documents)
	if documents == 0 {
		what = "reading"
	}
	err := c.reserve(what, documents)
	if c.o.Say != nil {
		c.o.Say(documents, c.needBytes(documents), c.spilled)
	}
	return err
}

// checkFirst is the number of documents from which on memory is reserved anew, each time that
// there are twice as many.
const checkFirst = 1 << 18

// grown reserves memory anew where there are twice as many documents as when that was done last.
func (c *Corpus) grown() error {
	if c.prints.len()+c.rows.shorts < c.next {
		return nil
	}
	c.next *= 2
	return c.reserve(fmt.Sprintf("comparing %d documents, and there are more,", c.prints.len()), c.prints.len())
}

// reading returns cfg with less read ahead where there is little memory: a quarter of what the
// budget has left beside the rest, since reading takes twice that, and the documents, of which
// nothing is known yet, need some, too.
func (o *ReadOptions) reading(cfg ingest.Config) ingest.Config {
	least := cfg
	least.Budget = 1
	o.readingBytes = least.NeedBytes()
	left := o.Budget.Left()
	left -= min(left, (&Corpus{o: *o, from: origin{inputs: []string{}}}).needBytes(0))
	cfg.Budget = int64(min(max(left/4, 1), ingest.BudgetBytes))
	o.readingBytes = cfg.NeedBytes()
	return cfg
}

// needBytes returns the memory that reading, comparing and copying that many documents takes. If more
// than an eighth of them are near another these take more, which is reserved when they are known.
//
//	a document                          bytes
//	fingerprint, unless it is mapped    8
//	where its record is                 0.25
//	what --keep goes by                 0, 4 (length), 8 for each value
//	its source, if a field names it     2
//	its URL, while these are compared   16
//	while it is compared                5.5
func (c *Corpus) needBytes(documents int) uint64 {
	o := cluster.Options{Star: !c.o.Find.Chains, Threads: c.o.Threads}
	beside := c.besideBytes(documents)
	find := o.NeedBytes(uint64(documents))
	if c.spilled {
		find = o.NeedBytes(0) + spilledStars
	}
	if c.from.inputs != nil {
		find = max(find, c.o.readingBytes+c.columnBytes(documents)*5/4)
	}
	if c.o.Copies {
		find = max(find, copyBytes(threads(c.o.Find)))
	}
	return beside + find
}

// columnBytes returns the memory of the columns of all documents. A column that grows as documents
// arrive takes more than twice its bytes for a moment; the clusters come when that is over.
func (c *Corpus) columnBytes(documents int) uint64 {
	each := uint64(0)
	if c.spilled {
		return uint64(documents) / 2
	}
	if c.held {
		each = 8
	}
	if c.o.Keep.byLength() {
		each += 4
	}
	each += 8 * uint64(len(c.values))
	if c.o.Source.Field != "" {
		each += 2
	}
	if len(c.o.SameURL) > 0 {
		each += 16
	}
	return each*uint64(documents) + uint64(documents)/4
}

// besideBytes returns the memory beside that of the search for clusters.
func (c *Corpus) besideBytes(documents int) uint64 {
	bytes := c.columnBytes(documents)
	if known := c.o.Find.KnownBytes; known != nil {
		bytes += known(documents) // what the collector has not taken back while the rest is compared
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
