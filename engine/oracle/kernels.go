package oracle

import (
	"testing"

	"example.org/ndd/asm"
)

// EachKernel runs f as a subtest for every backend of package asm that the machine supports. At the end it restores the
// previous backend. The backend is a setting of the process, so no other code may change it at the same time.
func EachKernel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	AllKernels(t, func(kernel string) { t.Run("kernel="+kernel, f) })
}

// AllKernels calls f for every backend, without subtests. It is for benchmarks and fuzz targets.
func AllKernels(t testing.TB, f func(kernel string)) {
	t.Helper()
	previous := asm.Backend()
	defer asm.Select(previous) // restore it
	for _, kernel := range asm.Backends() {
		if err := asm.Select(kernel); err != nil {
			t.Fatal(err)
		}
		f(kernel)
	}
}
