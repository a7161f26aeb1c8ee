package dedup

import (
	"ndd/engine/corpus/ingest"
	"ndd/engine/near/cluster"
)

// reading returns cfg with less read ahead where there is little memory: a quarter of what the budget
// has left beside the rest, since reading takes twice that, and the documents, of which nothing is
// known yet, need some, too.
func (o *ReadOptions) reading(cfg ingest.Config) ingest.Config {
	least := cfg
	least.Budget = 1
	o.readingBytes = least.NeedBytes()
	left := o.Budget.Left()
	left -= min(left, NeedBytes(0, 0, true, *o))
	cfg.Budget = int64(min(max(left/4, 1), ingest.BudgetBytes))
	o.readingBytes = cfg.NeedBytes()
	return cfg
}

// NeedBytes returns the most memory that reading and comparing that many documents
// takes whose ids have idBytes in all; asDocuments tells whether they are read as
// texts. A column that grows as documents arrive takes more than twice its bytes
// for a moment; the clusters come when that is over.
func NeedBytes(documents int, idBytes uint64, asDocuments bool, o ReadOptions) uint64 {
	perDocument := uint64(8 + 4 + 8)
	if o.Prints > 1 {
		perDocument += 8
	}
	if asDocuments {
		perDocument += 4 // its place
	}
	if o.Keep.Policy == Newest || o.Keep.Policy == Largest {
		perDocument += 8
	}
	find := cluster.Options{Star: o.Find.Star, Threads: o.Threads}.NeedBytes(uint64(documents))
	if o.Prints > 1 {
		find += 24 * uint64(documents) // roots, sizes and both columns without what is known
	}
	bytes := idBytes + perDocument*uint64(documents)
	if asDocuments {
		find = max(find, o.readingBytes+perDocument*uint64(documents)*5/4)
	}
	bytes += find
	if known := o.Find.KnownBytes; known != nil {
		bytes += known(documents) // what the collector has not taken back while the rest is compared
	}
	if v := o.Find.Verify; v != nil {
		bytes += uint64(v.memory())
	}
	return bytes
}
