//go:build purego || !(amd64 || arm64)

package asm

func permute(dst, src []uint64, mask uint64, dir direction) { permuteGeneric(dst, src, mask, dir) }
