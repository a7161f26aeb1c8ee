package engine

import (
	"unsafe"

	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
)

// The types of this package have the same fields as the types of the implementation, in the same order. So lists are
// converted without a copy. TestBorder compares the types field by field.

// recast converts a list to a type with the same memory layout.
func recast[To, From any](list []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

func inner(docs []Doc) []rows.Doc                { return recast[rows.Doc](docs) }
func hitsOf(hits []search.Hit) []Hit             { return recast[Hit](hits) }
func outcomes(outcomes []live.Outcome) []Outcome { return recast[Outcome](outcomes) }
