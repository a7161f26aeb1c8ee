package oracle

import (
	"testing"

	"ndd/asm"
)

// EachKernel runs f as a test of its own on every backend of package asm that the machine serves,
// and puts back the one that was in use. The choice holds for the whole process: nothing that runs
// at the same time may make one.
func EachKernel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	AllKernels(t, func(kernel string) { t.Run("kernel="+kernel, f) })
}

// AllKernels calls f on every backend, as [EachKernel] does: for benchmarks, and for fuzz targets,
// which cannot have tests of their own.
func AllKernels(t testing.TB, f func(kernel string)) {
	t.Helper()
	before := asm.Backend()
	defer asm.Select(before) // it was in use
	for _, kernel := range asm.Backends() {
		if err := asm.Select(kernel); err != nil {
			t.Fatal(err)
		}
		f(kernel)
	}
}
