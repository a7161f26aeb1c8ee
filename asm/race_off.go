//go:build !race

package asm

// raceEnabled reports whether the race detector is compiled in.
const raceEnabled = false

// raceRead tells the race detector that assembly reads all of s.
func raceRead[T any]([]T) {}

// raceWrite tells the race detector that assembly writes all of s.
func raceWrite[T any]([]T) {}
