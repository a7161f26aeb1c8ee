package segment

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"ndd/engine/memory"
)

// A Space is the memory that [Write] will take beside its input.
type Space struct {
	Bytes    uint64 // at most
	External bool   // sorted keys stand in a temporary file of 8 bytes a document

	pairs, keys int // elements that are sorted at a time
}

const (
	pairBytes, keyBytes = 16, 8
	// fixedBytes are counters, buffers of the writer and the encoder, names.
	fixedBytes = 16 << 20
	// threadBytes are a thread's counters, and a bucket of 2^16 pairs and as
	// many in its copy.
	threadBytes = 4 << 20
	// roomLeast elements are sorted at a time however little memory there is.
	roomLeast = 1 << 18
	// rangesBest is how often the input is read for the ids while memory is
	// no matter: 4 ns a document instead of 12 bytes.
	rangesBest = 4
	// rangesFew is how often before the temporary file is faster: 100 M
	// documents with 9 bytes each took 188 ns in 32 ranges, and with 2 bytes
	// each 165 ns through the file (BenchmarkWrite).
	rangesFew = 12
	// rangesMost is how often before it is better to give up.
	rangesMost = 256
)

// Plan is how much memory [Write] will take for so many documents. In memory
// it is
//
//	8      bytes a document: the sorted keys of one table
//	4      bytes a document while the ids are sorted: a quarter of the pairs
//	1/8    byte: which documents are the first of their fingerprint
//	5/16   byte at most: a bucket for each thread, and its copies
//	3/8    byte while a planar table is packed, instead of the pairs
//
// so the most is the input, one table's keys and less than 5 bytes a document: the keys of a planar
// table are packed where they lie. With fewer bytes allowed, down to 8.9, the ids are sorted in more and smaller ranges. Below that, and
// with a TempDir, the keys go to a temporary file, from where table.Write reads
// them in order through the page cache; 0.6 bytes a document and some megabytes
// do. For 100 M documents and two planar tables, one thread, that is 114 ns a
// document with 12.6 bytes, 165 ns with 2, 358 ns with 0.75 (BenchmarkWrite).
// The error is an [memory.TooLargeError] when Options.Memory is less.
func Plan(docs uint64, o Options) (Space, error) {
	if docs > 1<<48 {
		return Space{}, fmt.Errorf("%d documents are more than a segment can have", docs)
	}
	fixed := fixedBytes + uint64(max(o.Threads, 1))*threadBytes + docs/2 + roomLeast*pairBytes
	packing := docs * 3 / 8
	least := min(docs, roomLeast)
	rooms := func(bytes, size uint64) int { return int(max(min(bytes/size, docs), least)) }

	best := fixed + max(packing+keyBytes*docs, keyBytes*docs+pairBytes*docs/rangesBest)
	if o.Memory == 0 || o.Memory >= best {
		return Space{Bytes: best, pairs: rooms(pairBytes*docs/rangesBest, pairBytes), keys: int(docs)}, nil
	}
	limit := memory.Limit{Bytes: o.Memory, Source: "the limit that was set"}
	what := fmt.Sprintf("building a segment of %s documents", humanize.Comma(int64(docs)))
	const spread = rangesMost // of the keys in one range of the external form
	inMemory := fixed + keyBytes*docs + max(packing, pairBytes*docs/spread)
	if o.Memory >= inMemory {
		pairs := rooms(o.Memory-fixed-keyBytes*docs, pairBytes)
		if o.TempDir == "" || uint64(pairs)*rangesFew >= docs {
			return Space{Bytes: o.Memory, pairs: pairs, keys: int(docs)}, nil
		}
	}
	if o.TempDir == "" {
		return Space{}, limit.Check(what, inMemory)
	}
	if external := fixed + pairBytes*docs/spread; o.Memory < external {
		return Space{}, limit.Check(what, external)
	}
	left := o.Memory - fixed
	return Space{Bytes: o.Memory, External: true, pairs: rooms(left, pairBytes), keys: rooms(left, keyBytes)}, nil
}

// ErrSpill is what an error wraps when the temporary file of sorted keys fails.
var ErrSpill = errors.New("temporary file of sorted keys")
