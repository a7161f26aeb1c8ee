package asm

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
	"example.org/ndd/engine/oracle/long"
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
	// Prefix of eight ones: 16 codes of 12 bits.
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

// A seekProbe is a probe of one half. It has the keys of the half, beginning with the fence, and says whether the bits
// of the half are sound.
type seekProbe struct {
	start, end  int
	keys        []uint64
	sound       bool
	query, high uint64
}

// A seekAnswer has the hits of a probe. It also says whether the probe was left to the caller, and whether the reason
// is that its half ends earlier.
type seekAnswer struct {
	hits              []uint64
	unfinished, ended bool
}

// oracle returns the hits that Seek must find.
func (p *seekProbe) oracle(k int) (a seekAnswer) {
	if p.keys[0] >= p.high {
		return a
	}
	for _, key := range p.keys[1:] {
		if key <= p.high && bits.OnesCount64(key^p.query) <= k {
			a.hits = append(a.hits, key)
		}
		if key >= p.high {
			return a
		}
	}
	a.unfinished, a.ended = true, true
	return a
}

// seekHalves fills data, from offset seekFirst, with halves of the given size. The function damage may change each
// half. It returns one probe for each half.
func seekHalves(rng *rand.Rand, c *testCode, data []byte, size int, damage func(half []byte)) (halves []seekProbe) {
	for from := seekFirst; from < len(data); from += size {
		half, key, n := c.encode(rng, size, 1+rng.IntN(4*size))
		binary.LittleEndian.PutUint16(half, uint16(n-1))
		damage(half)
		copy(data[from:], half)
		p := seekProbe{start: from, end: from + size, keys: make([]uint64, int(binary.LittleEndian.Uint16(half))+1)}
		p.sound = decodeGeneric(p.keys, half, key, &c.window)
		p.keys[0] = key
		halves = append(halves, p)
	}
	return halves
}

// seekProbes returns n probes of halves: near one of their keys, up to one after it, or anywhere.
func seekProbes(rng *rand.Rand, halves []seekProbe, n int) []seekProbe {
	probes := make([]seekProbe, n)
	for i := range probes {
		p := halves[rng.IntN(len(halves))]
		p.query = p.keys[rng.IntN(len(p.keys))]
		p.high = p.query | 1<<rng.IntN(40)
		for range rng.IntN(5) {
			p.query ^= 1 << rng.IntN(64)
		}
		if rng.IntN(10) == 0 {
			p.high = rng.Uint64()
		}
		probes[i] = p
	}
	return probes
}

// runSeek returns the answer to each probe on the backend in use.
func runSeek(t *testing.T, data []byte, probes []seekProbe, k int, w *Window, lines []uint64) []seekAnswer {
	var s Seek
	s.Prefetch(data, lines)
	s.Reset(data)
	for i, p := range probes {
		s.Add(i, p.start, p.end, p.keys[0], p.query, p.high)
	}
	s.Run(k, w)
	answers := make([]seekAnswer, len(probes))
	for i := range s.Pending() {
		i, ended := s.PendingAt(i)
		if answers[i].unfinished {
			t.Fatalf("probe %d is left twice", i)
		}
		answers[i].unfinished, answers[i].ended = true, ended
	}
	for i := range s.Hits() {
		number, key := s.Hit(i)
		answers[number].hits = append(answers[number].hits, key)
	}
	for _, a := range answers {
		slices.Sort(a.hits)
	}
	return answers
}

// checkSeek compares the hits of every backend in sound halves with the hits of decoding. In damaged halves, it
// compares them with the generic form, if both finish. It returns the number of finished probes of sound halves, their
// hits, and the number of other probes.
func checkSeek(t *testing.T, data []byte, probes []seekProbe, k int, w *Window, lines []uint64) (done, found, unfinished int) {
	t.Helper()
	defer use(Backend())
	use(Generic)
	generic := runSeek(t, data, probes, k, w, lines)
	for _, kernel := range kernelsToTest() {
		use(kernel)
		for i, got := range runSeek(t, data, probes, k, w, lines) {
			p, want := probes[i], generic[i]
			if p.sound {
				want = p.oracle(k)
			}
			if got.unfinished && !got.ended || want.unfinished && !want.ended {
				unfinished++
				continue
			}
			if got.unfinished != want.unfinished || !slices.Equal(got.hits, want.hits) {
				t.Fatalf("%s, probe %d of %d keys, sound %v, k = %d, up to %#x: %v, want %v", kernel, i, len(p.keys), p.sound, k,
					p.high, got, want)
			}
			if p.sound {
				done, found = done+1, found+len(want.hits)
			}
		}
	}
	return done, found, unfinished
}

// TestSeek checks that a seek finds the same keys as decoding. The halves are blocks of uniform keys and of random
// codes, sound and damaged, between guard pages. A call has from one probe to the maximum number.
func TestSeek(t *testing.T) {
	const size, halves = 512, 24
	region := guard.New(t, seekFirst+size*halves)
	rng := rand.New(rand.NewPCG(7, 7))
	rounds := long.Or(60, 6000)
	done, found, ordinary := 0, 0, 0
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
		list := seekHalves(rng, c, data, size, func(half []byte) {
			if round%5 == 4 {
				bit := rng.IntN(8 * size)
				half[bit/8] ^= 1 << (bit % 8)
			}
		})
		for range 20 {
			probes := seekProbes(rng, list, 1+rng.IntN(SeekWidth))
			n, hits, remaining := checkSeek(t, data, probes, rng.IntN(9), &c.window, nil)
			done, found = done+n, found+hits
			if round%3 != 2 && round%5 != 4 {
				ordinary += remaining
			}
		}
	}
	if done < 200*rounds*len(kernelsToTest()) || found < done/4 || ordinary > done/20 {
		t.Errorf("%d probes done, %d hits, %d left that are ordinary", done, found, ordinary)
	}
}

// FuzzSeek seeks in halves of any code, size and content. Some probes are too near the beginning of data. It prefetches
// lines, too.
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
		halves := seekHalves(rng, c, data, size, func(half []byte) {
			for i, b := range damage[:min(size, len(damage))] {
				half[i] ^= b
			}
			damage = damage[min(size, len(damage)):]
		})
		probes := seekProbes(rng, halves, 1+int(shape%SeekWidth))
		for i := range probes {
			if rng.IntN(32) == 0 {
				probes[i].start = rng.IntN(seekFirst)
			}
		}
		lines := make([]uint64, rng.IntN(40))
		for i := range lines {
			lines[i] = uint64(rng.IntN(len(data)))
		}
		checkSeek(t, data, probes, k&63, &c.window, lines)
	})
}
