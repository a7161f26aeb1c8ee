// Package long has the flag of tests that have a longer form, which .ci/run long runs, and tells
// those that have a shorter one whether the race detector is on.
package long

import "flag"

var asked = flag.Bool("long", false, "run the long form of the tests: larger inputs, more rounds, every case")

// Form reports whether the tests run in their long form.
func Form() bool { return *asked }

// Or returns the size of a test: long for the long form of the tests, else usual.
func Or[T any](usual, long T) T {
	if *asked {
		return long
	}
	return usual
}

// Race reports whether the race detector is on. It makes code slower by ten times, has memory of its
// own, and looks at accesses and locks: other values of the data show it nothing new.
func Race() bool { return race }

// Raced returns the size of a test: usual, or that under the race detector.
func Raced[T any](usual, raced T) T {
	if race {
		return raced
	}
	return usual
}
