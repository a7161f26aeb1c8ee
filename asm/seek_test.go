package asm

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
	"ndd/engine/oracle/long"
)

// uniformCode is the code of keys as dense as 2^log2 uniform ones: of positions near 64-log2.
func uniformCode(log2 int) *testCode {
	c := new(testCode)
	// Lengths 1 2 3 ... 11 12 12 around the middle, the long ones shared by all others.
	near := []int{0, 1, -1, 2, -2, 3, -3, 4}
	word, length := uint16(0), uint8(1)
	used := map[int]bool{}
	for _, d := range near {
		h := 64 - log2 + d
		used[h] = true
		c.words[h], c.lengths[h] = word, length
		word |= 1 << (length - 1)
		length++
	}
	// What begins with eight ones: 16 codes of 12 bits.
	n := 0
	for h := 50; n < 16; h = (h + 63) % 64 {
		if !used[h] {
			c.words[h], c.lengths[h] = word|uint16(n)<<8, 12
			n++
		}
	}
	c.window.Fill(&c.words, &c.lengths)
	return c
}

type seekProbe struct {
	from, to           int
	fence, query, high uint64
}

// seekOracle is what Seek must find, from keys that were decoded before, and whether the half ends too early.
func (p *seekProbe) oracle(keys []uint64, k int) (hits []uint64, ended bool) {
	if p.fence >= p.high {
		return nil, false
	}
	for _, key := range keys[1:] {
		if key <= p.high && bits.OnesCount64(key^p.query) <= k {
			hits = append(hits, key)
		}
		if key >= p.high {
			return hits, false
		}
	}
	return hits, true
}

// seekHalves fills data, from seekFirst on, with halves of so many bytes, which it lets damage change. It returns the
// keys that each then has, and whether it is sound.
func seekHalves(rng *rand.Rand, c *testCode, data []byte, size int, damage func(half []byte)) (keys [][]uint64,
	sound []bool) {
	for rest := range slices.Chunk(data[seekFirst:], size) {
		half, key, n := c.encode(rng, size, 1+rng.IntN(4*size))
		binary.LittleEndian.PutUint16(half, uint16(n-1))
		damage(half)
		copy(rest, half)
		list := make([]uint64, int(binary.LittleEndian.Uint16(half))+1)
		sound = append(sound, decodeGeneric(list, half, key, &c.window))
		list[0] = key
		keys = append(keys, list)
	}
	return keys, sound
}

// seekProbeOf is a probe of half number i of so many bytes: near one of its keys, up to one behind that, or anywhere.
func seekProbeOf(rng *rand.Rand, i, size int, keys []uint64) seekProbe {
	at, from := keys[rng.IntN(len(keys))], seekFirst+i*size
	p := seekProbe{from: from, to: from + size, fence: keys[0], query: at, high: at | 1<<rng.IntN(40)}
	for range rng.IntN(5) {
		p.query ^= 1 << rng.IntN(64)
	}
	if rng.IntN(10) == 0 {
		p.high = rng.Uint64()
	}
	return p
}

// runSeek returns the hits of each probe, whether it was left, and whether it was because its half ends before it.
func runSeek(t *testing.T, s *Seek, data []byte, probes []seekProbe, k int, w *Window) (hits [][]uint64, left,
	ended []bool) {
	s.Reset(data)
	for i, p := range probes {
		s.Add(i, p.from, p.to, p.fence, p.query, p.high)
	}
	s.Run(k, w)
	hits, left, ended = make([][]uint64, len(probes)), make([]bool, len(probes)), make([]bool, len(probes))
	for i := range s.Left() {
		i, end := s.LeftAt(i)
		if left[i] {
			t.Fatalf("probe %d is left twice", i)
		}
		left[i], ended[i] = true, end
	}
	for i := range s.Hits() {
		number, key := s.Hit(i)
		hits[number] = append(hits[number], key)
	}
	return hits, left, ended
}

// TestSeek: halves of blocks of uniform keys and of random codes, sound and damaged, between guard
// pages, from one probe to as many as there may be: what is found is what decoding finds.
func TestSeek(t *testing.T) {
	const size, halves = 512, 24
	region := guard.New(t, seekFirst+size*halves)
	eachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 7))
		rounds := long.Or(60, 6000)
		done, found, must := 0, 0, 0
		for round := range rounds {
			c := uniformCode(20 + round%12)
			if round%3 == 2 {
				c = newTestCode(rng, 2+rng.IntN(57), 6*(round%2))
			}
			place := guard.Tail[byte]
			if round%2 == 0 {
				place = guard.Head[byte]
			}
			data := place(region, seekFirst+size*halves)
			keys, sound := seekHalves(rng, c, data, size, func(half []byte) {
				if round%5 == 4 {
					bit := rng.IntN(8 * size)
					half[bit/8] ^= 1 << (bit % 8)
				}
			})
			var s Seek
			for range 20 {
				probes := make([]seekProbe, 1+rng.IntN(SeekWidth))
				which := make([]int, len(probes))
				k := rng.IntN(9)
				for i := range probes {
					which[i] = rng.IntN(halves)
					probes[i] = seekProbeOf(rng, which[i], size, keys[which[i]])
				}
				hits, left, reached := runSeek(t, &s, data, probes, k, &c.window)
				for i, p := range probes {
					what := fmt.Sprintf("%s, round %d, probe %d of half %d, %d keys, k = %d", Backend(), round, i, which[i],
						len(keys[which[i]]), k)
					if !sound[which[i]] {
						continue // it may be sound as far as the probe goes
					}
					want, ended := p.oracle(keys[which[i]], k)
					switch {
					case left[i] && !reached[i]:
						if round%3 != 2 && round%5 != 4 {
							must++
						}
						continue
					case left[i] != ended:
						t.Fatalf("%s: the half ends before %#x: %v; the probe is left: %v", what, p.high, ended, left[i])
					}
					slices.SortFunc(hits[i], cmp.Compare[uint64])
					if !slices.Equal(hits[i], want) {
						t.Fatalf("%s: hits %x, want %x", what, hits[i], want)
					}
					done++
					found += len(want)
				}
			}
		}
		if done < 400*rounds/2 || found < done/4 || must > done/20 {
			t.Errorf("%d probes done, %d hits, %d left that are ordinary", done, found, must)
		}
	})
}

// FuzzSeek: halves of any code and size, of any bytes; probes of them, some from too near the
// beginning of data; lines to prefetch. What two backends both finish is the same on both, whatever
// damage there is.
func FuzzSeek(f *testing.F) {
	f.Add(uint64(1), uint16(480), 3, uint16(24), []byte{})
	f.Add(uint64(2), uint16(0), 0, uint16(3), []byte{1, 0, 0, 0, 2})
	f.Add(uint64(3), uint16(97), 64, uint16(64), []byte{0, 255})
	f.Fuzz(func(t *testing.T, seed uint64, bytes uint16, k int, shape uint16, damage []byte) {
		rng := rand.New(rand.NewPCG(seed, 11))
		c := uniformCode(int(8 + seed%40))
		if shape>>15 != 0 {
			c = newTestCode(rng, 2+rng.IntN(57), int(seed%7))
		}
		size := halfMin + int(bytes%1025)
		length := seekFirst + (1+int(shape>>6%8))*size
		data := guard.Tail[byte](guard.New(t, length), length)
		at := 0
		keys, _ := seekHalves(rng, c, data, size, func(half []byte) {
			for i, b := range damage[min(at, len(damage)):min(at+size, len(damage))] {
				half[i] ^= b
			}
			at += size
		})
		probes := make([]seekProbe, 1+shape%SeekWidth)
		for i := range probes {
			h := rng.IntN(len(keys))
			if probes[i] = seekProbeOf(rng, h, size, keys[h]); rng.IntN(32) == 0 {
				probes[i].from = rng.IntN(seekFirst)
			}
		}
		lines := make([]uint64, rng.IntN(40))
		for i := range lines {
			lines[i] = uint64(rng.IntN(len(data)))
		}
		before := Backend()
		defer use(before)
		run := func(kernel string) (hits [][]uint64, left, ended []bool) {
			use(kernel)
			var s Seek
			s.Prefetch(data, lines)
			hits, left, ended = runSeek(t, &s, data, probes, k&63, &c.window)
			for _, list := range hits {
				slices.Sort(list)
			}
			return hits, left, ended
		}
		want, wantLeft, wantEnded := run(Generic)
		for _, kernel := range kernelsToTest() {
			hits, left, ended := run(kernel)
			for i, p := range probes {
				if left[i] && !ended[i] || wantLeft[i] && !wantEnded[i] {
					continue
				}
				if left[i] != wantLeft[i] || !slices.Equal(hits[i], want[i]) {
					t.Fatalf("%s, probe %d, %+v: left %v, hits %x; want left %v, hits %x", kernel, i, p, left[i], hits[i],
						wantLeft[i], want[i])
				}
			}
		}
	})
}
