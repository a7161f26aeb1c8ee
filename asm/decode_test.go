package asm

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
	"example.org/ndd/engine/oracle/long"
)

// testCode is a prefix code and its window.
type testCode struct {
	words   [64]uint16 // LSB first
	lengths [64]uint8
	window  Window
}

// newTestCode makes a complete random code of n >= 2 symbols below 64-skip. It splits leaves until there are n, so that
// some codes are long.
func newTestCode(rng *rand.Rand, n, skip int) *testCode {
	type leaf struct {
		word   uint16
		length uint8
	}
	leaves := []leaf{{}}
	for len(leaves) < n {
		i := rng.IntN(len(leaves))
		if rng.IntN(2) == 0 {
			i = len(leaves) - 1
		}
		l := leaves[i]
		if l.length == WindowBits {
			continue
		}
		leaves[i] = leaf{l.word, l.length + 1}
		leaves = append(leaves, leaf{l.word | 1<<l.length, l.length + 1})
	}
	c := new(testCode)
	for i, h := range rng.Perm(64 - skip)[:n] {
		c.words[h], c.lengths[h] = leaves[i].word, leaves[i].length
	}
	c.window.Fill(&c.words, &c.lengths)
	return c
}

// symbolAt returns the symbol whose code begins at a bit of the block. After the end of the block it reads zeros.
func (c *testCode) symbolAt(block []byte, bit int) int {
	var v uint16
	for i := range WindowBits {
		if b := bit + i; b < 8*len(block) {
			v |= uint16(block[b/8]>>(b%8)&1) << i
		}
	}
	for h, length := range c.lengths {
		if length > 0 && v&(1<<length-1) == c.words[h] {
			return h
		}
	}
	panic("an incomplete code")
}

// decodeOracle is Decode bit by bit.
func decodeOracle(c *testCode, block []byte, key uint64, n int) (keys []uint64, ok bool) {
	keys = append(keys, key)
	code, raw := headBits, 8*len(block)
	for range n - 1 {
		h := c.symbolAt(block, code)
		code += int(c.lengths[h])
		if raw -= h; raw < code {
			return nil, false
		}
		x := uint64(1) << h
		for i := range h {
			x |= uint64(block[(raw+i)/8]>>((raw+i)%8)&1) << i
		}
		if key^x <= key {
			return nil, false
		}
		key ^= x
		keys = append(keys, key)
	}
	return keys, true
}

// encode writes as many keys of a random ascending sequence as fit. It draws each h, as long as bit h of the key is 0.
func (c *testCode) encode(rng *rand.Rand, blockBytes, maxKeys int) (block []byte, key uint64, n int) {
	block = make([]byte, blockBytes)
	first := rng.Uint64() >> rng.IntN(64)
	key = first
	code, raw := headBits, 8*blockBytes
	set := func(bit int, v uint64) { block[bit/8] |= byte(v&1) << (bit % 8) }
	for n = 1; n < maxKeys; n++ {
		h := c.symbolAt(block, rng.IntN(8*blockBytes)) // the distribution need not be uniform
		for tries := 0; c.lengths[h] == 0 || key>>h&1 != 0; tries++ {
			if h = rng.IntN(64); tries == 300 {
				return block, first, n
			}
		}
		length := int(c.lengths[h])
		if code+length > raw-h {
			break
		}
		x := rng.Uint64() & (1<<h - 1)
		for i := range length {
			set(code+i, uint64(c.words[h])>>i)
		}
		code += length
		raw -= h
		for i := range h {
			set(raw+i, x>>i)
		}
		key ^= 1<<h | x
	}
	return block, first, n
}

// compareDecode compares the backend in use with the oracle on one block.
func compareDecode(t *testing.T, kernel string, c *testCode, block []byte, key uint64, dst []uint64, name string) {
	t.Helper()
	want, wantOK := decodeOracle(c, block, key, len(dst))
	ok := Decode(dst, block, key, &c.window)
	if ok != wantOK {
		t.Fatalf("%s, %s: %d keys of %d bytes: Decode says %v, want %v", kernel, name, len(dst), len(block), ok, wantOK)
	}
	if ok && !slices.Equal(dst, want) {
		t.Fatalf("%s, %s: %d keys of %d bytes: wrong keys", kernel, name, len(dst), len(block))
	}
}

// TestDecode decodes blocks of random codes and keys between guard pages: every number of keys, complete and damaged.
func TestDecode(t *testing.T) {
	const maximum = 4096
	src, out := guard.New(t, maximum), guard.New(t, 8*(4*maximum+40))
	eachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		rounds, valid := long.Or(600, 60_000), 0
		for round := range rounds {
			// Positions above 57 in one round of four: the AVX forms leave those to the generic one.
			skip := 6
			if round%4 == 0 {
				skip = 0
			}
			c := newTestCode(rng, 2+rng.IntN(57), skip)
			size := []int{32, 33, 64, 65, 72, 127, 128, 500, 1024, maximum}[rng.IntN(10)]
			block, key, n := c.encode(rng, size, 1+rng.IntN(4*size))
			for _, place := range []func(*guard.Region, int) []byte{guard.Head[byte], guard.Tail[byte]} {
				in := place(src, size)
				copy(in, block)
				dst := guard.Tail[uint64](out, n)
				if !Decode(dst, in, key, &c.window) {
					t.Fatalf("round %d: %d keys of %d bytes do not decode", round, n, size)
				}
				valid++
				compareDecode(t, Backend(), c, in, key, dst, "whole")
				compareDecode(t, Backend(), c, in, key, guard.Head[uint64](out, n), "whole")
				for m := 1; m <= n+40; m += 1 + m/20 {
					compareDecode(t, Backend(), c, in, key, guard.Tail[uint64](out, m), "another length")
				}
				for range 10 {
					bit := rng.IntN(8 * size)
					in[bit/8] ^= 1 << (bit % 8)
					compareDecode(t, Backend(), c, in, key, guard.Head[uint64](out, n), "bits flipped")
				}
				for i := range in {
					in[i] = byte(rng.Uint32()) & byte(rng.Uint32()>>rng.IntN(9))
				}
				compareDecode(t, Backend(), c, in, key, guard.Tail[uint64](out, n), "noise")
			}
		}
		if valid != 2*rounds {
			t.Errorf("%d whole blocks decoded, want %d", valid, 2*rounds)
		}
	})
}

// TestDecodeDense decodes blocks with consecutive keys and with the ruler sequence, up to and past each chunk and each
// call. It also flips each bit of a block that takes several calls.
func TestDecodeDense(t *testing.T) {
	w, rng := rulerWindow(), rand.New(rand.NewPCG(5, 5))
	sizes := []int{16_384, 16_385, 16_386, 32_769, 32_770, 40_001, 65_535}
	for n := 1; n < 2000; n += 1 + n/64 {
		sizes = append(sizes, n)
	}
	eachKernel(t, func(t *testing.T) {
		for _, n := range sizes {
			block := rulerBlock(n, max(1024, n/2))
			dst := make([]uint64, n)
			if !Decode(dst, block, 0, w) {
				t.Fatalf("%d consecutive keys do not decode", n)
			}
			for i, key := range dst {
				if key != uint64(i) {
					t.Fatalf("key %d of %d is %d", i, n, key)
				}
			}
		}
		const n = 50_000
		dst, want, refused := make([]uint64, n), make([]uint64, n), 0
		for range 100 {
			block := rulerBlock(n, n/2)
			bit := headBits + rng.IntN(8*len(block)-headBits)
			block[bit/8] ^= 1 << (bit % 8)
			wantOK := decodeGeneric(want, block, 0, w)
			if ok := Decode(dst, block, 0, w); ok != wantOK || ok && !slices.Equal(dst, want) {
				t.Fatalf("bit %d flipped: Decode says %v, the specification %v, or other keys", bit, ok, wantOK)
			}
			if !wantOK {
				refused++
			}
		}
		if refused < 20 {
			t.Errorf("%d of 100 damaged blocks are refused", refused)
		}
	})
}

// TestWindow checks that every entry lists the symbols that its twelve bits begin with, as many as fit.
func TestWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		c := newTestCode(rng, 2+rng.IntN(63), 0)
		for v, entry := range c.window.entries {
			block := binary.LittleEndian.AppendUint16(nil, uint16(v))
			used, count := 0, 0
			for count < windowSymbols {
				h := c.symbolAt(block, used)
				if used+int(c.lengths[h]) > WindowBits {
					break
				}
				used += int(c.lengths[h])
				count++
				if got := int(entry >> (8 * count) & 0xff); got != h {
					t.Fatalf("window %#03x: symbol %d is %d, want %d", v, count, got, h)
				}
			}
			if int(entry&0xff) != used || int(entry>>56) != count {
				t.Fatalf("window %#03x: %d bits, %d symbols, want %d and %d", v, entry&0xff, entry>>56, used, count)
			}
		}
	}
}

// FuzzDecode compares every backend with the oracle, for any bytes, code and number of keys.
func FuzzDecode(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 3))
	for seed := range uint64(4) {
		c := newTestCode(rand.New(rand.NewPCG(seed, 0)), 2+int(seed), 0)
		block, key, n := c.encode(rng, 200, 1000)
		f.Add(seed, uint16(n), key, block)
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, key uint64, block []byte) {
		if len(block) < halfMin || n == 0 {
			return
		}
		c := newTestCode(rand.New(rand.NewPCG(seed, 0)), 2+int(seed%63), 0)
		dst := make([]uint64, n)
		eachFuzzKernel(t, func(kernel string) {
			compareDecode(t, kernel, c, block, key, dst, fmt.Sprintf("seed %d", seed))
		})
	})
}
