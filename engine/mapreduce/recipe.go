package mapreduce

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"ndd/engine/corpus/simhash"
)

// recipeName returns a recipe in 8 hexadecimal digits, which end records carry; "" for none.
func recipeName(r *simhash.Recipe) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%08x", uint32(xxhash.Sum64String(r.String())))
}

// onePrint refuses recipes that make two fingerprints of a document: the lines of these jobs have one. The error wraps [ErrRecipe].
func onePrint(r *simhash.Recipe) error {
	if r.PrintsEach() > 1 {
		return fmt.Errorf("%w: two for each document, and these jobs take one", ErrRecipe)
	}
	return nil
}
