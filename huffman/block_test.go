package huffman

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/guard"
	"example.org/ndd/engine/oracle/must"
)

// slice draws n consecutive keys of a set of 2^dense uniform keys: the gaps are exponential with mean 2^(64-dense).
func slice(rng *rand.Rand, n int, dense float64) []uint64 {
	mean := 1.0
	for range int(64 - dense) {
		mean *= 2
	}
	keys := make([]uint64, 0, n)
	key := rng.Uint64() >> 2
	for range n {
		keys = append(keys, key)
		key += 1 + uint64(rng.ExpFloat64()*mean)
	}
	return keys
}

// sets are keys of every kind that a table may meet, each ascending.
func sets(rng *rand.Rand) map[string][]uint64 {
	uniform := func(n int) []uint64 {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = rng.Uint64()
		}
		slices.Sort(keys)
		return slices.Compact(keys)
	}
	run := make([]uint64, 100_000) // h is the ruler sequence: the smallest raw bits there are
	for i := range run {
		run[i] = 1<<40 + uint64(i)
	}
	clusters := uniform(500)
	for _, c := range clusters[:300] {
		for range 40 {
			clusters = append(clusters, c^1<<rng.IntN(64)^1<<rng.IntN(64))
		}
	}
	slices.Sort(clusters)
	powers := []uint64{0} // every h once, 63 last
	for h := range 64 {
		powers = append(powers, 1<<h)
	}
	return map[string][]uint64{
		"one":        {7},
		"zero":       {0},
		"ends":       {0, 1<<64 - 1},
		"two":        {1<<63 - 1, 1 << 63},
		"powers":     powers,
		"run":        run,
		"uniform10":  uniform(10),
		"uniform100": uniform(100),
		"uniform20k": uniform(20_000),
		"dense30":    slice(rng, 20_000, 30),
		"dense33":    slice(rng, 20_000, 33),
		"dense60":    slice(rng, 20_000, 60),
		"clusters":   slices.Compact(clusters),
	}
}

func codeOf(keys []uint64) *Code {
	var counts [Positions]uint64
	Count(&counts, keys)
	return NewCode(&counts)
}

// naiveBlock is AppendBlock bit by bit, from the package comment.
func naiveBlock(code *Code, keys []uint64, blockBytes int) ([]byte, int) {
	block := make([]byte, blockBytes)
	// half writes steps[0] -> steps[1] -> ... as far as they fit.
	half := func(block []byte, steps []uint64) (n int) {
		set := func(bit int, v uint64) { block[bit/8] |= byte(v&1) << (bit % 8) }
		up, down := 16, 8*len(block)
		for ; n+1 < len(steps); n++ {
			x := steps[n] ^ steps[n+1]
			h := bits.Len64(x) - 1
			length := int(code.lengths[h])
			if length == 0 || up+length > down-h {
				break
			}
			for i := range length {
				set(up+i, uint64(code.words[h])>>i)
			}
			up += length
			down -= h
			for i := range h {
				set(down+i, x>>i)
			}
		}
		binary.LittleEndian.PutUint16(block, uint16(n))
		return n
	}
	ups := half(block[:blockBytes/2], keys[:len(keys)-1])
	// The steps down are counted up, and written from the last key down.
	last, free := ups+1, 8*(blockBytes-blockBytes/2-2)
	for ; last+1 < len(keys); last++ {
		h := bits.Len64(keys[last]^keys[last+1]) - 1
		if free -= int(code.lengths[h]) + h; code.lengths[h] == 0 || free < 0 {
			break
		}
	}
	down := slices.Clone(keys[ups+1 : last+1])
	slices.Reverse(down)
	half(block[blockBytes/2:], down)
	return block, last
}

// TestBlocks packs every kind of set into blocks of every size and compares each block with the naive packer. It
// decodes whole blocks and the beginning of each half on every backend, with sources and destinations that end at guard
// pages.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := sets(rng)
	oracle.EachKernel(t, func(t *testing.T) {
		for name, keys := range all {
			code := codeOf(keys)
			for _, size := range []int{64, 65, 71, 100, 128, 1000, 1024, 4096, 32768} {
				src := guard.New(t, size)
				dst := guard.New(t, 8*(MaxKeys(size)+1))
				remaining := keys
				for i := 0; len(remaining) > 1 && i < 300; i++ {
					block, n := AppendBlock(nil, code, remaining, size)
					if i%10 == 0 {
						if want, wantN := naiveBlock(code, remaining[:min(len(remaining), n+50)], size); n != wantN || !bytes.Equal(block, want) {
							t.Fatalf("%s, %d bytes: AppendBlock took %d, the naive one %d, or their bytes differ", name, size, n, wantN)
						}
					}
					for side, in := range [][]byte{guard.Head[byte](src, size), guard.Tail[byte](src, size)} {
						copy(in, block)
						for _, out := range [][]uint64{guard.Head[uint64](dst, n+1), guard.Tail[uint64](dst, n+1)} {
							got, err := code.DecodeBlock(out, in, remaining[0], remaining[n])
							if err != nil || got != n || !slices.Equal(out, remaining[:n+1]) {
								t.Fatalf("%s, %d bytes, block %d of %d keys, side %d: decoded %d, %v", name, size, i, n, side, got, err)
							}
						}
					}
					ups, downs := Steps(block, Up), Steps(block, Down)
					for m := 0; m <= ups; m += 1 + m/8 {
						out := guard.Tail[uint64](dst, m+1)
						if err := code.DecodeHalf(out, block, Up, remaining[0]); err != nil || !slices.Equal(out, remaining[:m+1]) {
							t.Fatalf("%s, %d bytes, block %d: %d keys up: %v", name, size, i, m, err)
						}
					}
					for m := 0; m <= downs; m += 1 + m/8 {
						out := guard.Tail[uint64](dst, m+1)
						err := code.DecodeHalf(out, block, Down, remaining[n])
						for j, flipped := range out {
							if err != nil || ^flipped != remaining[n-j] {
								t.Fatalf("%s, %d bytes, block %d: %d keys down: %#x, %v", name, size, i, m, ^flipped, err)
							}
						}
					}
					remaining = remaining[n:]
				}
			}
		}
	})
}

// TestRoundTrip is TestBlocks for random keys and codes.
func TestRoundTrip(t *testing.T) {
	oracle.EachKernel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			width := rapid.IntRange(1, 64).Draw(t, "width")
			keys := rapid.SliceOfN(rapid.Uint64Range(0, 1<<width-1), 1, 2000).Draw(t, "keys")
			slices.Sort(keys)
			keys = slices.Compact(keys)
			code := codeOf(keys[:rapid.IntRange(0, len(keys)).Draw(t, "counted")])
			size := rapid.IntRange(BlockBytesMin, 2048).Draw(t, "size")
			out := make([]uint64, MaxKeys(size)+1)
			for remaining := keys; len(remaining) > 1; {
				block, n := AppendBlock([]byte("head"), code, remaining, size)
				if n < 1 || len(block) != 4+size || string(block[:4]) != "head" || Keys(block[4:]) != n {
					t.Fatalf("AppendBlock took %d keys and returned %d bytes", n, len(block))
				}
				got, err := code.DecodeBlock(out, block[4:], remaining[0], remaining[n])
				if err != nil || !slices.Equal(out[:got+1], remaining[:n+1]) {
					t.Fatalf("decoded %d of %d: %v", got, n, err)
				}
				remaining = remaining[n:]
			}
		})
	})
}

// TestMaxKeys checks that no keys pack closer than consecutive ones, and those stay below the bound at every size.
func TestMaxKeys(t *testing.T) {
	keys := make([]uint64, 70_000)
	for i := range keys {
		keys[i] = uint64(i)
	}
	code := codeOf(keys)
	for size := BlockBytesMin; size <= BlockBytesMax; size += 1 + size/37 {
		if _, n := AppendBlock(nil, code, keys, size); n > MaxKeys(size) || n < MaxKeys(size)/2 {
			t.Errorf("%d bytes: %d consecutive keys, MaxKeys %d", size, n, MaxKeys(size))
		}
	}
	if got := MaxKeys(BlockBytesMax); got != 2*65534+1 {
		t.Errorf("MaxKeys(%d) = %d", BlockBytesMax, got)
	}
}

// TestUncodedPosition checks that a code built from other keys still packs any keys. Steps without a code are between
// halves, between blocks, or before a block's last key.
func TestUncodedPosition(t *testing.T) {
	code := codeOf([]uint64{0, 1, 2, 3})
	keys := []uint64{4, 5, 6, 1 << 20, 1<<20 + 1, 1 << 30, 1 << 40, 1 << 50}
	for _, want := range []int{4, 1, 1, 1} {
		block, n := AppendBlock(nil, code, keys, 64)
		if n != want {
			t.Fatalf("took %d keys of %v, want %d", n, keys, want)
		}
		out := make([]uint64, n+1)
		if _, err := code.DecodeBlock(out, block, keys[0], keys[n]); err != nil || !slices.Equal(out, keys[:n+1]) {
			t.Fatalf("got %v, %v", out, err)
		}
		keys = keys[n:]
	}
	for _, few := range [][]uint64{nil, {7}} {
		if out, n := AppendBlock([]byte{1}, code, few, 64); n != 0 || len(out) != 1 {
			t.Errorf("%d keys gave %d bytes, %d keys", len(few), len(out), n)
		}
	}
}

func TestAppendBlockPanics(t *testing.T) {
	code := codeOf([]uint64{0, 1})
	for name, f := range map[string]func(){
		"equal":      func() { AppendBlock(nil, code, []uint64{5, 5}, 64) },
		"descending": func() { AppendBlock(nil, code, []uint64{5, 4}, 64) },
		"up":         func() { AppendBlock(nil, code, []uint64{5, 6, 4, 7}, 64) },
		"down":       func() { AppendBlock(nil, code, []uint64{5, 6, 80, 81, 81}, 64) },
		"small":      func() { AppendBlock(nil, code, []uint64{5}, BlockBytesMin-1) },
		"large":      func() { AppendBlock(nil, code, []uint64{5}, BlockBytesMax+1) },
	} {
		must.Panic(t, name, f)
	}
}

// TestCorrupt corrupts blocks in every way that the format allows. The result is ErrCorrupt on every backend.
func TestCorrupt(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	keys := slice(rng, 300, 30)
	code := codeOf(keys)
	block, n := AppendBlock(nil, code, keys, 1024)
	ups, downs := Steps(block, Up), Steps(block, Down)
	before, last := keys[0], keys[n]
	counts := func(ups, downs int) []byte {
		b := slices.Clone(block)
		binary.LittleEndian.PutUint16(b, uint16(ups))
		binary.LittleEndian.PutUint16(b[512:], uint16(downs))
		return b
	}
	ones := bytes.Repeat([]byte{0xff}, 1024)
	type fences struct{ previous, last uint64 }
	sound := fences{before, last}
	cases := map[string]struct {
		block []byte
		fences
		room int
	}{
		"more than room":           {block, sound, n},
		"up, more than possible":   {counts(maxSteps(512)+1, downs), sound, 1 << 16},
		"down, more than possible": {counts(ups, maxSteps(512)+1), sound, 1 << 16},
		"up, codes run out":        {counts(maxSteps(512), downs), sound, 1 << 16},
		"down, codes run out":      {counts(ups, maxSteps(512)), sound, 1 << 16},
		"up, a few too many":       {counts(ups+40, downs), sound, 4096},
		"down, a few too many":     {counts(ups, downs+40), sound, 4096},
		"up does not ascend":       {block, fences{1<<64 - 1, last}, 4096},
		"down does not ascend":     {block, fences{before, 0}, 4096},
		"halves overlap":           {block, fences{before | 1<<62, last &^ (1 << 62)}, 4096},
		"short":                    {block[:BlockBytesMin-1], sound, 4096},
		"empty":                    {nil, sound, 4096},
		"long":                     {make([]byte, BlockBytesMax+1), sound, 4096},
		"all ones":                 {ones, sound, 1 << 18},
	}
	oracle.EachKernel(t, func(t *testing.T) {
		for name, c := range cases {
			if n, err := code.DecodeBlock(make([]uint64, c.room), c.block, c.previous, c.last); !errors.Is(err, ErrCorrupt) ||
				n != 0 {
				t.Errorf("%s: %d, %v, want 0, ErrCorrupt", name, n, err)
			}
		}
		for side, steps := range []int{Up: ups, Down: downs} {
			for _, n := range []int{0, steps + 2} {
				err := code.DecodeHalf(make([]uint64, n), block, Side(side), []uint64{before, last}[side])
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("side %d: %d of %d keys: %v", side, n-1, steps, err)
				}
			}
		}
	})
}

// Example is the worked example of the package comment.
func Example() {
	code := NewCode(&[Positions]uint64{1: 2, 3: 2})
	keys := []uint64{0x10, 0x13, 0x1c, 0x1000, 0x1002, 0x100b}
	block, n := AppendBlock(nil, code, keys, 64)
	fmt.Printf("%d keys: % x ... % x, % x ... % x\n", n, block[:4], block[30:32], block[32:36], block[62:])

	out := make([]uint64, MaxKeys(len(block))+1)
	n, err := code.DecodeBlock(out, block, 0x10, 0x100b)
	fmt.Printf("%#x %v\n", out[1:n+1], err)
	// Output:
	// 5 keys: 02 00 02 00 ... 00 f0, 02 00 01 00 ... 00 20
	// [0x13 0x1c 0x1000 0x1002 0x100b] <nil>
}
