package bench

import (
	"testing"

	"ndd/asm"
)

// eachKernel runs f on every backend that this machine serves.
func eachKernel(b *testing.B, f func(b *testing.B, kernel string)) {
	b.Helper()
	before := asm.Kernel()
	defer func() {
		if err := asm.Select(before); err != nil {
			b.Fatal(err)
		}
	}()
	for _, kernel := range asm.Kernels() {
		if err := asm.Select(kernel); err != nil {
			b.Fatal(err)
		}
		f(b, kernel)
	}
}
