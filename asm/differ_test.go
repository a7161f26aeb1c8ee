package asm

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// TestDiffer checks that every backend counts as the generic form does, in rows at both ends of guarded memory.
func TestDiffer(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 9))
	const maximum, longest = 9, 40
	lineRegion, queryRegion, dstRegion := guard.New(t, maximum*longest*8), guard.New(t, longest*8), guard.New(t, 8*maximum*4)
	eachKernel(t, func(t *testing.T) {
		for words := 8; words <= longest; words += 8 {
			for lines := range maximum {
				all, query := guard.Tail[uint64](lineRegion, lines*words), guard.Head[uint64](queryRegion, words)
				if lines%2 == 0 {
					all, query = guard.Head[uint64](lineRegion, lines*words), guard.Tail[uint64](queryRegion, words)
				}
				for i := range query {
					query[i] = random.Uint64()
				}
				for i := range all {
					if all[i] = random.Uint64(); lines == 3 {
						all[i] = ^query[i%words]
					}
				}
				var rows []uint32
				for range min(lines, 1) * (5*lines + lines%3) {
					rows = append(rows, random.Uint32N(uint32(lines)))
				}
				want := make([]uint32, len(rows))
				differGeneric(want, query, all, rows)
				got := guard.Tail[uint32](dstRegion, len(rows))
				if Differ(got, query, all, rows); !slices.Equal(got, want) {
					t.Fatalf("%d rows of %d words: %d, want %d", lines, words, got, want)
				}
			}
		}
	})
}

func FuzzDiffer(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), uint8(1), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, blocks, row uint8) {
		words := 8 * (int(blocks)%4 + 1)
		all := make([]uint64, 0, len(data)/8+words)
		for ; len(data) >= 8; data = data[8:] {
			all = append(all, binary.LittleEndian.Uint64(data))
		}
		for len(all)%words != 0 || len(all) == 0 {
			all = append(all, ^uint64(0))
		}
		rows := []uint32{uint32(int(row) % (len(all) / words)), 0}
		var want, got [2]uint32
		differGeneric(want[:], all[:words], all, rows)
		eachFuzzKernel(t, func(kernel string) {
			if Differ(got[:], all[:words], all, rows); got != want {
				t.Fatalf("%s: %d, want %d", kernel, got, want)
			}
		})
	})
}
