package segment

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// A Plan describes how [Write] builds a segment, and the memory that it needs in addition to the input.
type Plan struct {
	Bytes    uint64 // upper limit of the memory
	External bool   // sorted keys are stored in a temporary file, 8 bytes per document

	pairs, keys int // number of elements that are sorted at a time
}

const (
	pairBytes, keyBytes = 16, 8
	// threadBytes is the memory of a thread: counters, buffers of the writer and the encoder, and two copies of a
	// bucket of 2^16 pairs.
	threadBytes = 4 << 20
	// roomMin is the minimum number of elements that are sorted at a time.
	roomMin = 1 << 18
	// rangesBest is the number of ranges in which the fastest plan sorts the pairs: 4 bytes per row in addition to the
	// keys of a table.
	rangesBest = 4
	// rangesFew is the maximum number of ranges for which memory is faster than the temporary file. 100 M documents
	// took 188 ns each in 32 ranges with 9 bytes, and 165 ns through the file with 2 bytes (BenchmarkWrite).
	rangesFew = 12
	// spillBytes is the size of the writes to the temporary file.
	spillBytes = 1 << 20
)

// NeedBytes returns the peak memory of [Write] for n documents, without its input, if it uses the fastest method:
//
//	8      bytes a document: the sorted keys of one table
//	4      bytes a document while the ids are sorted: the rows
//	1/8    byte: which documents are the first of their fingerprint
//	5/16   byte at most: a bucket for each thread, and its copies
//	3/8    byte while a planar table is packed, instead of the rows
//
// The peak is the keys of one table and less than 5 bytes per document, because the keys of a planar table are packed
// in place.
//
// Without documents, it is the keys and the memory for packing a planar table.
func NeedBytes(docs uint64, o Options) uint64 {
	if o.NoDocs {
		return smallBytes(docs, o) + packingBytes(docs) + keyBytes*docs
	}
	return smallBytes(docs, o) + max(packingBytes(docs)+keyBytes*docs, keyBytes*docs+pairBytes*docs/rangesBest)
}

// smallBytes returns the memory in addition to the keys, the pairs and the packed table.
func smallBytes(docs uint64, o Options) uint64 {
	return uint64(max(o.Threads, 1))*threadBytes + docs/2 + roomMin*pairBytes
}

// packingBytes returns the memory for packing a planar table in addition to its keys. It suffices for the pairs of 43
// ranges.
func packingBytes(docs uint64) uint64 { return docs * 3 / 8 }

// NewPlan returns how [Write] builds a segment of n documents in the free memory of o.Budget. With [NeedBytes] or more,
// it uses the fastest method. With less, down to 8.9 bytes per document, it sorts the documents in more and smaller
// ranges. With still less, it needs TempDir: the keys are stored in a temporary file, which table.Write reads in order
// through the page cache. That needs 0.9 bytes per document and some megabytes. For 100 M documents, two planar tables
// and one thread, it takes 114 ns per document with 12.6 bytes and 165 ns with 2 bytes (BenchmarkWrite). A method that
// could use any amount of memory leaves a sixteenth of the free memory to others, or uses o.MemoryTarget.
//
// It returns a [memory.TooLargeError] if there is less. NewPlan reserves nothing.
func NewPlan(docs uint64, o Options) (Plan, error) {
	if docs > 1<<48 {
		return Plan{}, fmt.Errorf("%d documents: a segment has at most %d", docs, uint64(1<<48))
	}
	smallest, free := smallBytes(docs, o), o.Budget.Free()
	minimum := min(docs, roomMin)
	sizes := func(bytes, size uint64) int { return int(max(min(bytes/size, docs), minimum)) }

	// With enough memory, use the fastest method.
	if fullBytes := NeedBytes(docs, o); free >= fullBytes && (o.MemoryTarget == 0 || o.MemoryTarget >= fullBytes) {
		return Plan{Bytes: fullBytes, pairs: sizes(pairBytes*docs/rangesBest, pairBytes), keys: int(docs)}, nil
	}
	limit := free - free/16
	if 0 < o.MemoryTarget && o.MemoryTarget <= free {
		free, limit = o.MemoryTarget, o.MemoryTarget
	}
	// With less, keep all keys in memory and sort smaller ranges of pairs.
	inMemory := smallest + keyBytes*docs + packingBytes(docs)
	if free >= inMemory {
		bytes := max(limit, inMemory)
		pairs := sizes(bytes-smallest-keyBytes*docs, pairBytes)
		if o.TempDir == "" || uint64(pairs)*rangesFew >= docs {
			return Plan{Bytes: bytes, pairs: pairs, keys: int(docs)}, nil
		}
	}
	if o.TempDir == "" {
		return Plan{}, o.Budget.Check(task(docs), inMemory)
	}
	// With still less, keep the keys in a temporary file.
	external := smallest + packingBytes(docs)
	if free < external {
		return Plan{}, o.Budget.Check(task(docs), external)
	}
	bytes := max(limit, external)
	return Plan{Bytes: bytes, External: true, pairs: sizes(bytes-smallest, pairBytes),
		keys: sizes(bytes-smallest, keyBytes)}, nil
}

// task describes the work in messages.
func task(docs uint64) string {
	return fmt.Sprintf("building a segment of %s documents", humanize.Comma(int64(docs)))
}
