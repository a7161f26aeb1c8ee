//go:build purego || !(amd64 || arm64)

package asm

func decode(dst []uint64, block []byte, w *Window) bool { return decodeGeneric(dst, block, w) }
