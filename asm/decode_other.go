//go:build purego || !(amd64 || arm64)

package asm

func decode(dst []uint64, half []byte, key uint64, w *Window) bool {
	return decodeGeneric(dst, half, key, w)
}
