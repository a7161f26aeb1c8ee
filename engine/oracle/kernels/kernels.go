// Package kernels runs tests, fuzz targets and benchmarks on every backend of package asm that the
// machine serves, and puts back the one that was in use. The choice holds for the whole
// process: nothing that runs at the same time may make one.
package kernels

import (
	"testing"

	"ndd/asm"
)

// Each runs f as a test of its own on every backend.
func Each(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	All(t, func(kernel string) { t.Run("kernel="+kernel, f) })
}

// All calls f on every backend: for benchmarks, and for fuzz targets, which cannot have tests of their own.
func All(t testing.TB, f func(kernel string)) {
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
