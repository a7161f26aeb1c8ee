package asm

import (
	"fmt"
	"slices"
)

// scatterKeysGeneric is the specification of scatterKeys: every partition has room for a word when it
// begins, and it ends behind the word that fills one.
func scatterKeysGeneric(p *KeyPartitions, src []uint64, row uint64) (done, full int) {
	var keys [256]uint64
	drop := 64 - p.Bits - p.Keep
	kept, filled := uint64(1)<<p.Keep-1, uint32(1)<<p.Room-1
	for done < len(src) {
		n := min(len(keys), len(src)-done)
		Permute(keys[:n], src[done:done+n], p.Mask)
		for _, key := range keys[:n] {
			partition := key >> (64 - p.Bits)
			at := p.Next[partition]
			p.Words[at] = key>>drop&kept | row<<p.Keep
			p.Next[partition] = at + 1
			row++
			done++
			if (at+1)&filled == 0 {
				return done, int(partition)
			}
		}
	}
	return done, -1
}

// checkScatterKeys compares the kernel in use with a known answer: the middle byte leads, and the second partition fills.
func checkScatterKeys() error {
	p := KeyPartitions{Words: make([]uint64, 8), Next: []uint32{0, 2, 5, 6}, Mask: 0xff << 32, Bits: 2, Room: 1, Keep: 30}
	src := []uint64{0x1111_40_22222222, 0x3333_80_44444444, 0x5555_7f_66666666, 0x0123_00_89abcdef}
	for i, want := range []struct {
		from, done, full int
	}{{0, 2, 2}, {2, 1, 1}, {3, 1, -1}} {
		if done, full := ScatterKeys(&p, src[want.from:want.from+want.done], uint64(want.from+7)); done != want.done || full != want.full {
			return fmt.Errorf("call %d: done %d, full %d, want %d", i, done, full, want)
		}
	}
	// The leading byte's other 6 bits, the upper 24 bits of the source in theirs.
	want := []uint64{10<<30 | 0x000123, 0, 7<<30 | 0x001111, 9<<30 | 0x3f<<24 | 0x005555, 0, 8<<30 | 0x003333, 0, 0}
	if !slices.Equal(p.Words, want) {
		return fmt.Errorf("got %#x, want %#x", p.Words, want)
	}
	return nil
}
