//go:build purego || !(amd64 || arm64)

package asm

// assembly names the assembly compiled into this build: none.
const assembly = ""

// use puts a backend that the machine serves to use.
func use(name string) { inUse = name }
