//go:build !purego

package asm

func seekServed() bool { return useAVX512 }

func seek(s *Seek, k int, w *Window) {
	if useAVX512 {
		seekAVX512(s, &s.data[0], k, w)
		return
	}
	seekGeneric(s, k, w)
}

//go:noescape
func seekAVX512(s *Seek, data *byte, k int, w *Window)
