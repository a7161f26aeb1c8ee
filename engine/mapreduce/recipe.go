package mapreduce

import (
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"

	"ndd/engine/corpus/simhash"
)

// recipeName returns a recipe in short, which end records carry: its name, if it has one, and 8 hexadecimal digits; "" for none.
func recipeName(r *simhash.Recipe) string {
	if r == nil {
		return ""
	}
	code := fmt.Sprintf("%08x", uint32(xxhash.Sum64String(r.String())))
	if name := r.Name(); name != "" {
		return strings.ReplaceAll(name, " ", "-") + "-" + code
	}
	return code
}

// onePrint refuses recipes that make two fingerprints of a document: the lines of these jobs have one. The error wraps [ErrRecipe].
func onePrint(r *simhash.Recipe) error {
	if r.PrintsEach() > 1 {
		return fmt.Errorf("%w: two for each document, and these jobs take one", ErrRecipe)
	}
	return nil
}
