//go:build purego || !(amd64 || arm64)

package asm

func within32(s *scan32) { within32Generic(s) }
