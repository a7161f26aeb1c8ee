package huffman

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/guard"
)

// randomCounts returns counts of used positions. They range from equal counts to Fibonacci numbers and powers, which
// need the longest codes.
func randomCounts(rng *rand.Rand, used int) (counts [Positions]uint64) {
	a, b := uint64(1), uint64(1)
	kind := rng.IntN(4)
	for i, h := range rng.Perm(Positions)[:used] {
		switch kind {
		case 0:
			counts[h] = 1 + rng.Uint64N(1000)
		case 1:
			counts[h] = a
			if a < 1<<50 {
				a, b = b, a+b
			}
		case 2:
			counts[h] = 1 << (i % 50)
		case 3:
			counts[h] = 1
		}
	}
	return counts
}

// TestCodeIsComplete checks that for any counts, lengths are within the limit, every counted position has a code, the
// Kraft sum is 1, and no code is a prefix of another.
func TestCodeIsComplete(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for used := 0; used <= Positions; used++ {
		for range 20 {
			counts := randomCounts(rng, used)
			code := NewCode(&counts)
			kraft := 0.0
			for h, length := range code.Lengths() {
				if length > lengthMax || length == 0 && counts[h] > 0 {
					t.Fatalf("counts %v: position %d has length %d", counts, h, length)
				}
				if length > 0 {
					kraft += math.Ldexp(1, -int(length))
				}
				for g, l := range code.Lengths() {
					if g != h && length > 0 && l >= length && code.words[g]&(1<<length-1) == code.words[h] {
						t.Fatalf("the code of %d is a prefix of the code of %d", h, g)
					}
				}
			}
			if kraft != 1 {
				t.Fatalf("counts %v: Kraft sum %v", counts, kraft)
			}
		}
	}
}

// TestCodeIsShortest checks that no complete code of six positions within a tight length limit writes the counts in
// fewer bits.
func TestCodeIsShortest(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		counts := randomCounts(rng, 6)
		got, lengths := uint64(0), NewCode(&counts).Lengths()
		for h, n := range counts {
			got += n * uint64(lengths[h])
		}
		used := slices.DeleteFunc(slices.Clone(counts[:]), func(n uint64) bool { return n == 0 })
		if best := shortest(used, 0); got != best {
			t.Fatalf("counts %v: %d bits, the best is %d", used, got, best)
		}
	}
}

// shortest returns the minimum number of bits for the counts in any complete code, if other positions have the given
// part of the Kraft sum. It tries all sets of lengths. It returns 1<<62 or more if there is no code.
func shortest(counts []uint64, kraft int) uint64 {
	if len(counts) == 0 && kraft == 1<<lengthMax {
		return 0
	}
	best := uint64(1 << 62)
	for l := 1; l <= lengthMax && len(counts) > 0; l++ {
		if sum := kraft + 1<<(lengthMax-l); sum <= 1<<lengthMax {
			best = min(best, counts[0]*uint64(l)+shortest(counts[1:], sum))
		}
	}
	return best
}

// TestLengthsMakeTheCode checks that lengths that are written and read give the same code. Hostile lengths give an
// error, never a panic.
func TestLengthsMakeTheCode(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for used := 0; used <= Positions; used++ {
		counts := randomCounts(rng, used)
		code := NewCode(&counts)
		lengths := code.Lengths()
		repeated, err := NewCodeFromLengths(&lengths)
		if err != nil || repeated.words != code.words || repeated.lengths != code.lengths || repeated.window != code.window {
			t.Fatalf("lengths %v do not give their code back: %v", lengths, err)
		}
	}
	hostile := map[string][Positions]uint8{
		"none":       {},
		"one":        {5: 1},
		"incomplete": {1: 1, 2: 2, 3: 3},
		"too many":   {1: 1, 2: 1, 3: 1},
		"too long":   {1: 1, 2: 2, 3: 13, 4: 13},
		"huge":       {0: 255},
	}
	for name, lengths := range hostile {
		if code, err := NewCodeFromLengths(&lengths); !errors.Is(err, ErrCode) || code != nil {
			t.Errorf("%s: %v, want ErrCode", name, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var lengths [Positions]uint8
		copy(lengths[:], rapid.SliceOfN(rapid.Uint8Range(0, 14), Positions, Positions).Draw(t, "lengths"))
		if code, err := NewCodeFromLengths(&lengths); (code == nil) != (err != nil) {
			t.Fatalf("%v, %v", code, err)
		}
	})
}

// TestCountInParts checks that the sum of the counts of parts that share a key equals the count of the whole.
func TestCountInParts(t *testing.T) {
	keys := slice(rand.New(rand.NewPCG(5, 5)), 1000, 33)
	var whole, parts [Positions]uint64
	Count(&whole, keys)
	for pos := 0; pos < len(keys)-1; pos += 100 {
		Count(&parts, keys[pos:min(pos+101, len(keys))])
	}
	if whole != parts {
		t.Errorf("parts %v, whole %v", parts, whole)
	}
	Count(&whole, nil)
	Count(&whole, keys[:1])
	if whole != parts {
		t.Error("fewer than two keys changed the counts")
	}
}

// FuzzHostileBlock checks that any bytes and any code give ascending keys or ErrCorrupt, the same on every backend,
// and no access outside the buffers.
func FuzzHostileBlock(f *testing.F) {
	keys := slice(rand.New(rand.NewPCG(6, 6)), 300, 30)
	code := codeOf(keys)
	for _, size := range []int{64, 200, 1024} {
		block, n := AppendBlock(nil, code, keys, size)
		lengths := code.Lengths()
		f.Add(block, lengths[:], keys[0], keys[n])
	}
	f.Add(make([]byte, 64), []byte{1, 1}, uint64(0), uint64(1))
	f.Fuzz(func(t *testing.T, block, lengthBytes []byte, before, last uint64) {
		var lengths [Positions]uint8
		copy(lengths[:], lengthBytes)
		code, err := NewCodeFromLengths(&lengths)
		if err != nil || len(block) == 0 || len(block) > BlockBytesMax {
			return
		}
		_, in := guard.Copies(t, block)
		room := MaxKeys(len(block)) + 1
		out := guard.Tail[uint64](guard.New(t, 8*room), room)
		var first []uint64
		var firstErr error
		oracle.AllKernels(t, func(kernel string) {
			n, err := code.DecodeBlock(out, in, before, last)
			if err != nil && (!errors.Is(err, ErrCorrupt) || n != 0) || err == nil && n != Keys(block) {
				t.Fatalf("%s: %d, %v", kernel, n, err)
			}
			got := out[:n+1]
			if err == nil && (got[0] != before || got[n] != last) {
				t.Fatalf("%s: from %#x to %#x, want %#x to %#x", kernel, got[0], got[n], before, last)
			}
			for i := 1; i <= n; i++ {
				if got[i] <= got[i-1] {
					t.Fatalf("%s: key %d does not ascend", kernel, i)
				}
			}
			if first == nil {
				first, firstErr = slices.Clone(got), err
			}
			if (err == nil) != (firstErr == nil) || err == nil && !slices.Equal(got, first) {
				t.Fatalf("%s: %d, %v or its keys; before it %d, %v", kernel, n, err, len(first)-1, firstErr)
			}
		})
	})
}
