package cli

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/pflag"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
)

// LengthRatio is the value of --max-length-ratio: 0 for any.
type LengthRatio float64

// Register adds the flag of a command for hits in an index.
func (r *LengthRatio) Register(f *pflag.FlagSet) {
	f.Float64Var((*float64)(r), "max-length-ratio", 0,
		"maximum ratio of text lengths; requires build --lengths")
}

// Check returns wrong usage for a ratio below 1.
func (r LengthRatio) Check() error {
	if r != 0 && !(r >= 1) {
		return Usagef("--max-length-ratio %g: must be 1 or more, or 0 for any", float64(r))
	}
	return nil
}

// Apart reports whether two lengths differ by more than the ratio. A length of 0 is unknown.
func (r LengthRatio) Apart(a, b uint32) bool {
	return r != 0 && a != 0 && b != 0 && float64(max(a, b)) > float64(r)*float64(min(a, b))
}

// TextLengths returns the lengths of the texts of a fingerprint file, by row.
func TextLengths(f *ndf.File) ([]uint32, error) {
	if !f.HasLengths() {
		return nil, fmt.Errorf("--max-length-ratio: %s has fingerprints without the lengths of their texts, which .ndf "+
			"files have: %w", f.Path(), engine.ErrNoLengths)
	}
	return slices.Concat(slices.Collect(f.TextBytes)...), nil
}

// TextBytes returns the length of a text as the engine stores it, capped at 2^32 - 1.
func TextBytes(n int) uint32 { return uint32(min(uint64(n), math.MaxUint32)) }
