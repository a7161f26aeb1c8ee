package engine

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"ndd/engine/ndf"
	"ndd/engine/segment"
	"ndd/engine/store"
	"ndd/engine/table"
)

// TestFormatPage reads segments as FORMAT.md tells a reader in another
// language to.
func TestFormatPage(t *testing.T) {
	if wide := readAsTold(t, filepath.Join(golden, "planar"), filepath.Join(golden, "pages.ndf")); wide != 0 {
		t.Errorf("%d wide lines", wide)
	}

	// Half of these share their leading bits, some are equal.
	r := rand.New(rand.NewPCG(3, 1))
	var prints []uint64
	for range 2000 {
		prints = append(prints, r.Uint64(), 0x8421<<48|r.Uint64N(1<<24))
	}
	prints = append(prints, prints[:100]...)
	dir := t.TempDir()
	file, index := filepath.Join(dir, "skewed.bin"), filepath.Join(dir, "index")
	if err := os.WriteFile(file, store.Bytes64(prints), 0o644); err != nil {
		t.Fatal(err)
	}
	pages, err := ndf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	o := segment.Options{Design: goldenDesign(t), Table: table.Options{Layout: table.LayoutPlanar}}
	if err := Build(t.Context(), index, []*ndf.File{pages}, o); err != nil {
		t.Fatal(err)
	}
	if wide := readAsTold(t, index, file); wide == 0 {
		t.Error("no wide lines")
	}
}

// readAsTold reads, with nothing of ours but the sections' bytes, the fingerprints
// of all documents of an index, from table 0 and the ids, and holds them against
// those of the file. It returns how many wide lines the table has.
func readAsTold(t *testing.T, index, file string) (wideLines uint64) {
	t.Helper()
	f, err := store.Open(filepath.Join(index, "00000001.segment"), store.KindSegment)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := func(name string) []byte {
		s, err := f.Section(name)
		if err != nil {
			t.Fatal(err)
		}
		return s.Data
	}
	bit := func(b []byte, i uint64) uint64 { return uint64(b[i/8]>>(i%8)) & 1 }
	field := func(b []byte, i, width uint64) (v uint64) {
		for j := range width {
			v |= bit(b, i*width+j) << j
		}
		return v
	}
	var meta struct {
		Design struct {
			Tables []struct{ Mask string }
		}
		Documents uint64
	}
	if err := json.Unmarshal(section("segment"), &meta); err != nil {
		t.Fatal(err)
	}
	mask, err := strconv.ParseUint(meta.Design.Tables[0].Mask, 0, 64)
	if err != nil {
		t.Fatal(err)
	}

	head, lines, wide, low, rest := section("t0.head"), section("t0.lines"), section("t0.wide"), section("t0.low"), section("t0.rest")
	keys, bucketBits, wideBits := binary.LittleEndian.Uint64(head), uint64(head[16]), uint64(head[17])
	perLine := uint64(binary.LittleEndian.Uint16(head[18:]))
	word := func(i uint64) uint64 { return binary.LittleEndian.Uint64(lines[8*i:]) }
	run := func(bucket uint64) (start, end uint64) {
		line, j := bucket/perLine, bucket%perLine
		base := word(8*line) & (1<<40 - 1)
		if word(8*line)>>40&1 != 0 { // wide
			i := word(8*line+1)*perLine + j
			start, end = base+field(wide, i, wideBits), word(8*line+8)&(1<<40-1)
			if j < perLine-1 {
				end = base + field(wide, i+1, wideBits)
			}
			return start, end
		}
		zeros, length := uint64(0), uint64(0)
		for at := uint64(0); ; at++ {
			switch {
			case bit(lines, 512*line+64+at) != 0:
				length++
			case zeros == j:
				return base + at - j - length, base + at - j
			default:
				zeros, length = zeros+1, 0
			}
		}
	}
	bucket := uint64(0)
	var prints []uint64
	for i := uint64(0); i < keys; i++ {
		for _, end := run(bucket); end <= i; _, end = run(bucket) {
			bucket++
		}
		if start, end := run(bucket); i < start || i >= end {
			t.Fatalf("bucket %d has keys %d to %d, not key %d", bucket, start, end, i)
		}
		key := bucket<<(64-bucketBits) | field(rest, i, 48-bucketBits)<<16 | uint64(binary.LittleEndian.Uint16(low[2*i:]))
		print, next := uint64(0), 63 // from the key's leading bit
		for _, part := range []uint64{mask, ^mask} {
			for b := 63; b >= 0; b-- {
				if part>>b&1 != 0 {
					print |= key >> next & 1 << b
					next--
				}
			}
		}
		prints = append(prints, print)
	}

	ordinals, firsts := section("ids.ordinals"), section("ids.firsts")
	width := uint64(bits.Len64(meta.Documents - 1))
	rows := make([]uint64, meta.Documents)
	rank := -1
	for i := range meta.Documents {
		rank += int(bit(firsts, i))
		rows[field(ordinals, i, width)] = prints[rank]
	}
	pages, err := ndf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	if !slices.Equal(rows, pages.Fingerprints()) {
		t.Error("read otherwise than written")
	}
	return binary.LittleEndian.Uint64(head[8:])
}
