//go:build !purego

package asm

func within32(s *scan32) { within32Generic(s) }
