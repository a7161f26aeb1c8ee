//go:build !purego

package asm

// assembly names the assembly compiled into this build.
const assembly = "arm64"

// False means the generic backend.
var useNEON bool

// use puts a backend that the machine serves to use.
func use(name string) {
	inUse, useNEON = name, name == NEON
}
