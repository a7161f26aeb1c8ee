//go:build !purego

package asm

// assembly names the assembly compiled into this build.
const assembly = "amd64"

// At most one is true; none means the generic backend.
var useAVX512, useAVX2 bool

// use puts a backend that the machine serves to use.
func use(name string) {
	inUse, useAVX512, useAVX2 = name, name == AVX512, name == AVX2
}
