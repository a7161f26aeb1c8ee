package rows

import (
	"math"
	"time"

	"ndd/engine/corpus/simhash"
)

// A DocID is the ordinal number of a document in an index, from 0 in order of arrival.
type DocID uint64

// NoDoc stands for the documents of a fingerprint in an index that keeps none: a hit has it once.
// Its ID is empty.
const NoDoc DocID = math.MaxUint64

// Max is the largest number of a document, and of documents in an index.
const Max = 1 << 56

// A Doc is a document to insert.
type Doc struct {
	Fingerprint simhash.Fingerprint
	ID          string // empty for none, and where the index keeps no IDs
	TextBytes   uint32 // length of the text; 0 where it is not known, and where the index keeps no lengths

	TTL        time.Duration // how long it is kept, to the second above; 0 is as the index has it; see Forever
	OnConflict OnConflict    // what becomes of it when its ID is taken; 0 is as the index has it
}

// OnConflict says what becomes of a document whose ID another document has.
type OnConflict int

// What may become of it.
const (
	Replace OnConflict = 1 + iota // it takes the other's place, which is deleted
	Keep                          // it is not inserted
	Refuse                        // the call fails with ErrConflict and inserts nothing
)
