//go:build race

package asm

import (
	"runtime"
	"unsafe"
)

// raceEnabled reports whether the race detector is compiled in.
const raceEnabled = true

// raceRead tells the race detector that assembly reads all of s.
func raceRead[T any](s []T) {
	if len(s) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// raceWrite tells the race detector that assembly writes all of s.
func raceWrite[T any](s []T) {
	if len(s) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}
