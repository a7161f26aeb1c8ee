//go:build !purego

package asm

func decodeServed() bool { return useAVX512 || useAVX2 }

func decodeKeys(dst []uint64, half []byte, w *Window, at *cursor) (answer int) {
	if useAVX512 {
		return decodeAVX512(&dst[0], len(dst), &half[0], len(half), w, at)
	}
	return decodeAVX2(&dst[0], len(dst), &half[0], len(half), w, at)
}

// decodeAVX512 makes the next n keys of a half, 1 to decodeCall, and moves the cursor behind them
// if n is a multiple of decodeChunk. It answers decodeOther, having written anything to dst, when an
// h is above 57, whose raw bits may need nine bytes, when raw bits come within 57 of the beginning, or
// codes within 15 bytes of the end. None happens in more than a few halves of a table: sorted keys
// change one of their top six bits at most 63 times.
//
//go:noescape
func decodeAVX512(dst *uint64, n int, half *byte, halfBytes int, w *Window, at *cursor) int

// decodeAVX2 is decodeAVX512, four keys at a time.
//
//go:noescape
func decodeAVX2(dst *uint64, n int, half *byte, halfBytes int, w *Window, at *cursor) int
