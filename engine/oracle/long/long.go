// Package long has the flag of tests that have a longer form, which .ci/run long runs.
package long

import "flag"

var asked = flag.Bool("long", false, "run the long form of the tests: larger inputs, more rounds, every case")

// Form reports whether the tests run in their long form.
func Form() bool { return *asked }

// Or returns the size of a test: usual, or that of the long form.
func Or[T any](usual, long T) T {
	if *asked {
		return long
	}
	return usual
}
