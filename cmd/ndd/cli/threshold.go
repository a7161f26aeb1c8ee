package cli

import (
	"github.com/spf13/pflag"

	"example.org/ndd/engine/corpus/sketch"
)

// DefaultK is the default of -k for near-duplicates that sketches verify. With 7, a third more of the near pairs of
// short texts with templates are missed; see bench/record/2026-11-28-defaults.md.
const DefaultK = 8

// Threshold is the value of --threshold: the minimum estimated Jaccard similarity of a hit.
type Threshold float64

// Register adds the flag of a command that verifies hits by sketches.
func (t *Threshold) Register(f *pflag.FlagSet) {
	f.Float64Var((*float64)(t), "threshold", sketch.DefaultThreshold, "minimum estimated similarity; 0 = do not verify")
}

// Check returns wrong usage for a threshold that is not between 0 and 1.
func (t Threshold) Check() error {
	if !(t >= 0 && t <= 1) {
		return Usagef("--threshold %g: must be 0 to 1", float64(t))
	}
	return nil
}

// Option returns the threshold for the engine. A negative one means that hits are not verified.
func (t Threshold) Option() float64 {
	if t == 0 {
		return -1
	}
	return float64(t)
}

// SketchVar adds the flag --sketch, which sets none to true if its value is none.
func SketchVar(f *pflag.FlagSet, none *bool, usage string) {
	ValueVar(f, none, "sketch", usage, []string{"auto", "none"}, false, true)
}
