package engine

import (
	"unsafe"

	"ndd/engine/index/live"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
)

// The types of this package have the fields of those inside, in the same order, so that lists of them
// cross the border as they are. TestBorder compares them field by field.

// recast returns a list as one of a type with the same memory.
func recast[To, From any](list []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

func inner(docs []Doc) []rows.Doc                { return recast[rows.Doc](docs) }
func hitsOf(hits []search.Hit) []Hit             { return recast[Hit](hits) }
func outcomes(outcomes []live.Outcome) []Outcome { return recast[Outcome](outcomes) }
