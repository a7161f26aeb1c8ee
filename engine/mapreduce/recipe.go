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
