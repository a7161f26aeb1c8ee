package segment

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// A Plan is how [Write] will build a segment, and the memory that it will take for that beside
// its input.
type Plan struct {
	Bytes    uint64 // at most
	External bool   // sorted keys stand in a temporary file of 8 bytes a document

	pairs, keys int // elements that are sorted at a time
}

const (
	pairBytes, keyBytes = 16, 8
	// threadBytes are a thread's counters, its buffers of the writer and the encoder, and a
	// bucket of 2^16 pairs and as many in its copy.
	threadBytes = 4 << 20
	// roomLeast elements are sorted at a time however little memory there is.
	roomLeast = 1 << 18
	// rangesBest is in how many ranges the pairs would be sorted in the memory in which all
	// documents are sorted at once: 4 bytes a row beside a table's keys.
	rangesBest = 4
	// rangesFew is how often before the temporary file is faster: 100 M
	// documents with 9 bytes each took 188 ns in 32 ranges, and with 2 bytes
	// each 165 ns through the file (BenchmarkWrite).
	rangesFew = 12
	// spillBytes are written to the temporary file at a time.
	spillBytes = 1 << 20
)

// NeedBytes returns the most memory that [Write] takes for n documents beside its input, where
// it may choose the fastest way:
//
//	8      bytes a document: the sorted keys of one table
//	4      bytes a document while the ids are sorted: the rows
//	1/8    byte: which documents are the first of their fingerprint
//	5/16   byte at most: a bucket for each thread, and its copies
//	3/8    byte while a planar table is packed, instead of the rows
//
// so the most is one table's keys and less than 5 bytes a document: the keys of a planar table are
// packed where they lie.
//
// Where no documents are kept, it is the keys and what a planar table is packed in.
func NeedBytes(docs uint64, o Options) uint64 {
	if o.NoDocs {
		return smallBytes(docs, o) + packingBytes(docs) + keyBytes*docs
	}
	return smallBytes(docs, o) + max(packingBytes(docs)+keyBytes*docs, keyBytes*docs+pairBytes*docs/rangesBest)
}

// smallBytes returns the memory taken beside the keys, the pairs and the packed table.
func smallBytes(docs uint64, o Options) uint64 {
	return uint64(max(o.Threads, 1))*threadBytes + docs/2 + roomLeast*pairBytes
}

// packingBytes returns what a planar table takes while it is packed, beside its keys. It has room for the pairs of 43
// ranges.
func packingBytes(docs uint64) uint64 { return docs * 3 / 8 }

// NewPlan returns how [Write] builds a segment of n documents in the memory that o.Budget has
// left: with [NeedBytes] if they are left. With fewer, down to 8.9 bytes a document, the ids
// are sorted in more and smaller ranges. Below that, and with a TempDir, the keys go to a
// temporary file, from where table.Write reads them in order through the page cache; 0.9 bytes a
// document and some megabytes do. For 100 M documents and two planar tables, one thread, that is
// 114 ns a document with 12.6 bytes, 165 ns with 2 (BenchmarkWrite). What could
// use any amount leaves a sixteenth of what there is to others, or takes o.Most.
//
// The error is a [memory.TooLargeError] when there is less. NewPlan reserves nothing.
func NewPlan(docs uint64, o Options) (Plan, error) {
	if docs > 1<<48 {
		return Plan{}, fmt.Errorf("%d documents are more than a segment can have", docs)
	}
	small, left := smallBytes(docs, o), o.Budget.Left()
	least := min(docs, roomLeast)
	rooms := func(bytes, size uint64) int { return int(max(min(bytes/size, docs), least)) }

	if best := NeedBytes(docs, o); left >= best && (o.Most == 0 || o.Most >= best) {
		return Plan{Bytes: best, pairs: rooms(pairBytes*docs/rangesBest, pairBytes), keys: int(docs)}, nil
	}
	most := left - left/16
	if 0 < o.Most && o.Most <= left {
		left, most = o.Most, o.Most
	}
	inMemory := small + keyBytes*docs + packingBytes(docs)
	if left >= inMemory {
		bytes := max(most, inMemory)
		pairs := rooms(bytes-small-keyBytes*docs, pairBytes)
		if o.TempDir == "" || uint64(pairs)*rangesFew >= docs {
			return Plan{Bytes: bytes, pairs: pairs, keys: int(docs)}, nil
		}
	}
	if o.TempDir == "" {
		return Plan{}, o.Budget.Check(task(docs), inMemory)
	}
	external := small + packingBytes(docs)
	if left < external {
		return Plan{}, o.Budget.Check(task(docs), external)
	}
	bytes := max(most, external)
	return Plan{Bytes: bytes, External: true, pairs: rooms(bytes-small, pairBytes),
		keys: rooms(bytes-small, keyBytes)}, nil
}

// task names the building of a segment in messages.
func task(docs uint64) string {
	return fmt.Sprintf("building a segment of %s documents", humanize.Comma(int64(docs)))
}
