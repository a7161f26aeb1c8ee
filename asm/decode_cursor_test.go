//go:build !purego && (amd64 || arm64)

package asm

import (
	"math/bits"
	"testing"
)

// TestDecodeKernelAnswers checks that the kernels decode ordinary blocks without the generic form, and move the cursor
// to the last key of the block.
func TestDecodeKernelAnswers(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		if Backend() == Generic {
			return
		}
		for n := 2; n < 500; n++ {
			block := rulerBlock(n, 1024)
			dst := make([]uint64, n-1)
			pos := cursor{headBits, 8 * len(block), 0}
			if answer := decodeKeys(dst, block, rulerWindow(), &pos); answer != decodeDone {
				t.Fatalf("%d keys: the kernel answers %d", n, answer)
			}
			want := cursor{headBits, 8 * len(block), dst[n-2]}
			for i := 1; i < n; i++ {
				h := bits.TrailingZeros(uint(i))
				_, length := rulerCode(h)
				want.codeBit += int(length)
				want.rawBit -= h
			}
			if n%decodeChunk != 1 {
				pos.key, pos.codeBit = want.key, want.codeBit // the vector kernels do not set these at the end of a half
			}
			if pos != want {
				t.Fatalf("%d keys: the cursor is at %v, want %v", n, pos, want)
			}
		}
	})
}
