package asm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// blockOracle is DecodeBlock bit by bit.
func blockOracle(c *testCode, block []byte, before, last uint64, ups, downs int) (keys []uint64, ok bool) {
	middle := len(block) / 2
	keys, ok = decodeOracle(c, block[:middle], before, ups+1)
	if !ok {
		return nil, false
	}
	down, ok := decodeOracle(c, block[middle:], ^last, downs+1)
	if !ok || ^down[downs] <= keys[ups] {
		return nil, false
	}
	for _, key := range slices.Backward(down) {
		keys = append(keys, ^key)
	}
	return keys, true
}

// encodeBlock packs two halves whose keys ascend from one to the other; fewer keys if it is not so by chance.
func (c *testCode) encodeBlock(rng *rand.Rand, blockBytes, most int) (block []byte, before, last uint64, ups, downs int) {
	for ; ; most = max(1, most*3/4) {
		half, key, n := c.encode(rng, blockBytes/2, most)
		keys, _ := decodeOracle(c, half, key, n)
		rest, flipped, m := c.encode(rng, blockBytes-blockBytes/2, most)
		down, _ := decodeOracle(c, rest, flipped, m)
		if ^down[m-1] > keys[n-1] {
			return append(half, rest...), key, ^flipped, n - 1, m - 1
		}
	}
}

// compareBlock compares the backend in use with the oracle on one block.
func compareBlock(t *testing.T, kernel string, c *testCode, block []byte, before, last uint64, dst []uint64, ups int, what string) (ok bool) {
	t.Helper()
	downs := len(dst) - 2 - ups
	want, wantOK := blockOracle(c, block, before, last, ups, downs)
	ok = DecodeBlock(dst, ups, block, before, last, &c.window)
	if ok != wantOK {
		t.Fatalf("%s, %s: %d and %d keys of %d bytes: DecodeBlock says %v, want %v", kernel, what, ups, downs, len(block), ok, wantOK)
	}
	if ok && !slices.Equal(dst, want) {
		t.Fatalf("%s, %s: %d and %d keys of %d bytes: wrong keys", kernel, what, ups, downs, len(block))
	}
	return ok
}

// TestDecodeBlock: blocks of random codes and keys, other numbers of keys, whole and damaged, between guard pages.
func TestDecodeBlock(t *testing.T) {
	const most = 4096
	src, out := guard.New(t, most), guard.New(t, 8*(4*most+100))
	eachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		rounds := 100
		if *long {
			rounds = 20_000
		}
		for round := range rounds {
			// Positions above 57 in one round of four: those are left to the generic form.
			skip := 6
			if round%4 == 0 {
				skip = 0
			}
			c := newTestCode(rng, 2+rng.IntN(57), skip)
			size := []int{64, 65, 66, 72, 127, 128, 500, 1024, 1025, most}[rng.IntN(10)]
			block, before, last, ups, downs := c.encodeBlock(rng, size, 1+rng.IntN(2*size))
			for _, place := range []func(*guard.Region, int) []byte{guard.Head[byte], guard.Tail[byte]} {
				in := place(src, size)
				copy(in, block)
				for _, dst := range [][]uint64{guard.Head[uint64](out, ups+downs+2), guard.Tail[uint64](out, ups+downs+2)} {
					if !compareBlock(t, Backend(), c, in, before, last, dst, ups, "whole") {
						t.Fatalf("round %d: %d and %d keys of %d bytes do not decode", round, ups, downs, size)
					}
				}
				for range 10 {
					up, down := rng.IntN(ups+20), rng.IntN(downs+20)
					compareBlock(t, Backend(), c, in, before, last, guard.Tail[uint64](out, up+down+2), up, "other lengths")
				}
				for range 10 {
					bit := rng.IntN(8 * size)
					in[bit/8] ^= 1 << (bit % 8)
					compareBlock(t, Backend(), c, in, before, last, guard.Head[uint64](out, ups+downs+2), ups, "bits flipped")
				}
				for i := range in {
					in[i] = byte(rng.Uint32()) & byte(rng.Uint32()>>rng.IntN(9))
				}
				compareBlock(t, Backend(), c, in, before, last, guard.Tail[uint64](out, ups+downs+2), ups, "noise")
			}
		}
	})
}

// TestDecodeBlockCounts: as many keys in each half as there may be, in blocks of two ruler halves.
func TestDecodeBlockCounts(t *testing.T) {
	w := fullRulerWindow()
	eachKernel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300, 511, 512, 513, 704, 705, 2000, 65_534} {
			for _, m := range []int{0, 1, 8, 9, 64, 65, 300, 704, 705, 65_534} {
				half := max(512, max(n, m)/2+64)
				block := append(rulerBlock(n+1, half), rulerBlock(m+1, half)...)
				dst := make([]uint64, n+m+2)
				last := ^uint64(0) // the ruler counts up from ^last, which is 0
				if !DecodeBlock(dst, n, block, 0, last, w) {
					t.Fatalf("%d and %d keys do not decode", n, m)
				}
				for i, key := range dst {
					want := uint64(i)
					if i > n {
						want = last - uint64(len(dst)-1-i)
					}
					if key != want {
						t.Fatalf("key %d of %d and %d is %d, want %d", i, n, m, key, want)
					}
				}
			}
		}
	})
}

// TestDecodeBlockPanics: what no block has.
func TestDecodeBlockPanics(t *testing.T) {
	w := new(Window)
	for name, f := range map[string]func(){
		"less than none": func() { DecodeBlock(make([]uint64, 3), -1, make([]byte, 64), 0, 1, w) },
		"too many":       func() { DecodeBlock(make([]uint64, 3), 2, make([]byte, 64), 0, 1, w) },
		"very many":      func() { DecodeBlock(make([]uint64, 1<<16+1), 1<<16-1, make([]byte, 64), 0, 1, w) },
		"short":          func() { DecodeBlock(make([]uint64, 3), 1, make([]byte, 63), 0, 1, w) },
	} {
		wantPanic(t, name, f)
	}
}

// FuzzDecodeBlock: any bytes, any code, any numbers of keys: every backend answers as the oracle does.
func FuzzDecodeBlock(f *testing.F) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 0))
		c := newTestCode(rng, 2+int(seed), 0)
		block, before, last, ups, downs := c.encodeBlock(rng, 200, 1000)
		f.Add(seed, uint16(ups), uint16(downs), before, last, block)
	}
	f.Fuzz(func(t *testing.T, seed uint64, ups, downs uint16, before, last uint64, block []byte) {
		if len(block) < 2*halfMin || max(ups, downs) > 1<<16-2 {
			return
		}
		c := newTestCode(rand.New(rand.NewPCG(seed, 0)), 2+int(seed%63), 0)
		dst := make([]uint64, int(ups)+int(downs)+2)
		eachFuzzKernel(t, func(kernel string) {
			compareBlock(t, kernel, c, block, before, last, dst, int(ups), fmt.Sprintf("seed %d", seed))
		})
	})
}
