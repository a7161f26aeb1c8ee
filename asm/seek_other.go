//go:build purego || !amd64

package asm

func seekServed() bool { return false }

func seek(s *Seek, k int, w *Window) { seekGeneric(s, k, w) }
