//go:build !race

package asm

// raceRead tells the race detector that assembly reads all of s.
func raceRead[T any]([]T) {}

// raceWrite tells the race detector that assembly writes all of s.
func raceWrite[T any]([]T) {}
