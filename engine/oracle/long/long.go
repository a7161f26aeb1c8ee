// Package long has the flag that selects the long form of tests, as .ci/run long does. It also reports whether the
// race detector is on, for tests with a shorter form.
package long

import "flag"

var asked = flag.Bool("long", false, "run the long form of the tests: larger inputs, more rounds, every case")

// Form reports whether the tests run in their long form.
func Form() bool { return *asked }

// Or returns the size of a test: long in the long form of the tests, otherwise usual.
func Or[T any](usual, long T) T {
	if *asked {
		return long
	}
	return usual
}

// Race reports whether the race detector is on. It makes code ten times slower, and needs additional memory. It
// checks accesses and locks, so more data shows it nothing new.
func Race() bool { return race }

// Raced returns the size of a test: raced under the race detector, otherwise usual.
func Raced[T any](usual, raced T) T {
	if race {
		return raced
	}
	return usual
}
