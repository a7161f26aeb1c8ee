package engine

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// TestFormatPage reads segments as a reader in another language would, following FORMAT.md.
func TestFormatPage(t *testing.T) {
	for _, layout := range []string{"planar", "huffman"} {
		if wide := readAsTold(t, filepath.Join(golden, layout), filepath.Join(golden, "pages.ndf")); wide != 0 {
			t.Errorf("%s: %d wide lines", layout, wide)
		}
	}

	// Half of these share their leading bits, some are equal.
	r := rand.New(rand.NewPCG(3, 1))
	var fingerprints []uint64
	for range 2000 {
		fingerprints = append(fingerprints, r.Uint64(), 0x8421<<48|r.Uint64N(1<<24))
	}
	fingerprints = append(fingerprints, fingerprints[:100]...)
	many := sets.Uniform(66_000, 2) // documents whose rows are in blocks
	for name, c := range map[string]struct {
		fingerprints []uint64
		layout       table.Layout
		wide         bool
	}{
		"skewed, planar":  {fingerprints, table.LayoutPlanar, true},
		"skewed, huffman": {fingerprints, table.LayoutHuffman, false},
		"many":            {append(many, many[:100]...), table.LayoutHuffman, false},
	} {
		file := writeRaw(t, c.fingerprints)
		dir := built(t, c.fingerprints, segment.Options{Design: halves(t), Table: table.Options{Layout: c.layout}})
		if wide := readAsTold(t, dir, file); (wide > 0) != c.wide {
			t.Errorf("%s: %d wide lines", name, wide)
		}
	}
}

// readAsTold reads the fingerprints of all documents of an index from the bytes of table 0 and of the ids, without our
// other code. It compares them with the fingerprints of the file, and returns the number of wide lines of the table.
func readAsTold(t *testing.T, index, file string) (wideLines uint64) {
	t.Helper()
	f, err := store.Open(filepath.Join(index, "00000001.segment"), store.KindSegment)
	must.Do(t, err)
	defer f.Close()
	section := func(name string) []byte {
		s, err := f.Section(name)
		must.Do(t, err)
		return s.Data
	}
	var meta struct {
		Design struct {
			Tables []struct{ Mask string }
		}
		Layout    string
		Documents uint64
	}
	must.Do(t, json.Unmarshal(section("segment"), &meta))
	mask, err := strconv.ParseUint(meta.Design.Tables[0].Mask, 0, 64)
	must.Do(t, err)

	var keys []uint64
	if meta.Layout == "huffman" {
		keys = huffmanAsTold(t, section)
	} else {
		keys, wideLines = planarAsTold(t, section)
	}
	var fingerprints []uint64
	for _, key := range keys {
		print, next := uint64(0), 63 // from the key's leading bit
		for _, part := range []uint64{mask, ^mask} {
			for b := 63; b >= 0; b-- {
				if part>>b&1 != 0 {
					print |= key >> next & 1 << b
					next--
				}
			}
		}
		fingerprints = append(fingerprints, print)
	}

	ordinals, firsts := section("ids.ordinals"), section("ids.firsts")
	width := uint64(bits.Len64(meta.Documents - 1))
	rows := make([]uint64, meta.Documents)
	rank := -1
	for i := range meta.Documents {
		rank += int(bit(firsts, i))
		rows[field(ordinals, i, width)] = fingerprints[rank]
	}
	if !slices.Equal(rows, openFile(t, file).Fingerprints()) {
		t.Error("read otherwise than written")
	}
	return wideLines
}

func bit(b []byte, i uint64) uint64 { return uint64(b[i/8]>>(i%8)) & 1 }

// word returns the integer of the given number of bits that begins at a bit.
func word(b []byte, offset, width uint64) (v uint64) {
	for j := range width {
		v |= bit(b, offset+j) << j
	}
	return v
}

// field is integer i of packed ones.
func field(b []byte, i, width uint64) uint64 { return word(b, i*width, width) }

// planarAsTold reads the keys of table 0.
func planarAsTold(t *testing.T, section func(string) []byte) (keys []uint64, wideLines uint64) {
	head, lines, wide, low, tail := section("t0.head"), section("t0.lines"), section("t0.wide"), section("t0.low"),
		section("t0.rest")
	n, bucketBits, wideBits := binary.LittleEndian.Uint64(head), uint64(head[16]), uint64(head[17])
	perLine := uint64(binary.LittleEndian.Uint16(head[18:]))
	run := func(bucket uint64) (start, end uint64) {
		line, j := bucket/perLine, bucket%perLine
		base := field(lines, 8*line, 64) & (1<<40 - 1)
		if field(lines, 8*line, 64)>>40&1 != 0 { // wide
			i := field(lines, 8*line+1, 64)*perLine + j
			start, end = base+field(wide, i, wideBits), field(lines, 8*line+8, 64)&(1<<40-1)
			if j < perLine-1 {
				end = base + field(wide, i+1, wideBits)
			}
			return start, end
		}
		zeros, length := uint64(0), uint64(0)
		for pos := uint64(0); ; pos++ {
			switch {
			case bit(lines, 512*line+64+pos) != 0:
				length++
			case zeros == j:
				return base + pos - j - length, base + pos - j
			default:
				zeros, length = zeros+1, 0
			}
		}
	}
	bucket := uint64(0)
	for i := uint64(0); i < n; i++ {
		for _, end := run(bucket); end <= i; _, end = run(bucket) {
			bucket++
		}
		if start, end := run(bucket); i < start || i >= end {
			t.Fatalf("bucket %d has keys %d to %d, not key %d", bucket, start, end, i)
		}
		keys = append(keys, bucket<<(64-bucketBits)|field(tail, i,
			48-bucketBits)<<16|uint64(binary.LittleEndian.Uint16(low[2*i:])))
	}
	return keys, binary.LittleEndian.Uint64(head[8:])
}

// huffmanAsTold reads the keys of table 0.
func huffmanAsTold(t *testing.T, section func(string) []byte) (keys []uint64) {
	head, blocks, last, ranks := section("t0.head"), section("t0.blocks"), section("t0.last"), section("t0.ranks")
	n, blockBytes, before := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:]),
		binary.LittleEndian.Uint64(head[16:])

	type code struct{ length, word uint64 } // the word's highest bit is the first
	positions := make(map[code]uint64)
	next := code{1, 0}
	for ; next.length <= 12; next = (code{next.length + 1, next.word << 1}) {
		for h, length := range head[24:] {
			if uint64(length) == next.length {
				positions[next] = uint64(h)
				next.word++
			}
		}
	}
	// walk reads the steps of half a block from a key.
	walk := func(half []byte, key uint64) (walked []uint64) {
		pos, end := uint64(16), 8*uint64(len(half))
		for range binary.LittleEndian.Uint16(half) {
			var c code
			h, ok := uint64(0), false
			for ; !ok; h, ok = positions[c] {
				c = code{c.length + 1, c.word<<1 | bit(half, pos)}
				pos++
			}
			step := uint64(1) << h
			for i := range h {
				step |= bit(half, end-h+i) << i
			}
			end -= h
			key ^= step
			walked = append(walked, key)
		}
		return walked
	}
	keys = append(keys, before)
	for b := uint64(0); b < uint64(len(last))/8; b++ {
		if b%8 == 0 {
			rank := uint64(len(keys))
			if b == 0 {
				rank = 0
			}
			if expected := binary.LittleEndian.Uint64(ranks[b:]); expected != rank {
				t.Fatalf("%d keys before block %d, its rank is %d", rank, b, expected)
			}
		}
		block, end := blocks[b*blockBytes:(b+1)*blockBytes], binary.LittleEndian.Uint64(last[8*b:])
		keys = append(keys, walk(block[:blockBytes/2], keys[len(keys)-1])...)
		down := append([]uint64{end}, walk(block[blockBytes/2:], end)...)
		slices.Reverse(down)
		keys = append(keys, down...)
	}
	if uint64(len(keys)) != n || !slices.IsSorted(keys) {
		t.Fatalf("%d keys where %d are told, or out of order", len(keys), n)
	}
	return keys
}
