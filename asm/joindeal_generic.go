package asm

import (
	"fmt"
	"slices"
)

// dealGeneric is the specification of deal: every pile has room for a word when it
// begins, and it ends behind the word that fills one.
func dealGeneric(p *Piles, src []uint64, row uint64) (done, full int) {
	var keys [256]uint64
	kept, filled := uint64(1)<<p.keep-1, uint32(1)<<p.room-1
	for done < len(src) {
		n := min(len(keys), len(src)-done)
		Permute(keys[:n], src[done:done+n], p.mask)
		for _, key := range keys[:n] {
			pile := key >> (64 - p.bits)
			at := p.next[pile]
			p.words[at] = key>>p.drop&kept | row<<p.keep
			p.next[pile] = at + 1
			row++
			done++
			if (at+1)&filled == 0 {
				return done, int(pile)
			}
		}
	}
	return done, -1
}

// checkDeal is the known answer: the middle byte leads, and the second pile fills.
func checkDeal() error {
	p := NewPiles(make([]uint64, 8), PilesOptions{Mask: 0xff << 32, Bits: 2, Keep: 30})
	p.next[2]++ // one word lies there
	src := []uint64{0x1111_40_22222222, 0x3333_80_44444444, 0x5555_7f_66666666, 0x0123_00_89abcdef}
	for i, want := range []struct {
		from, done, full int
	}{{0, 2, 2}, {2, 1, 1}, {3, 1, -1}} {
		if done, full := p.Deal(src[want.from:want.from+want.done], uint64(want.from+7)); done != want.done || full != want.full {
			return fmt.Errorf("call %d: done %d, full %d, want %d", i, done, full, want)
		}
	}
	// The leading byte's other 6 bits, the upper 24 bits of the source in theirs.
	want := []uint64{10<<30 | 0x000123, 0, 7<<30 | 0x001111, 9<<30 | 0x3f<<24 | 0x005555, 0, 8<<30 | 0x003333, 0, 0}
	if !slices.Equal(p.words, want) {
		return fmt.Errorf("got %#x, want %#x", p.words, want)
	}
	return nil
}
