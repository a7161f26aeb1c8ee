package engine

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"ndd/engine/ndf"
	"ndd/engine/store"
)

// TestFormatPage reads a segment as FORMAT.md tells a reader in another
// language to, with nothing of ours but the sections' bytes: the fingerprints
// of all documents, from table 0 and the ids.
func TestFormatPage(t *testing.T) {
	f, err := store.Open(filepath.Join(golden, "planar", "00000001.segment"), store.KindSegment)
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

	head, low, rest, unary := section("t0.head"), section("t0.low"), section("t0.rest"), section("t0.unary")
	keys, bucketBits := binary.LittleEndian.Uint64(head), uint64(head[17])
	var prints []uint64
	for i, at := uint64(0), uint64(0); i < keys; at++ {
		if bit(unary, at) == 0 {
			continue
		}
		key := (at-i)<<(64-bucketBits) | field(rest, i, 48-bucketBits)<<16 | uint64(binary.LittleEndian.Uint16(low[2*i:]))
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
		i++
	}

	ordinals, firsts := section("ids.ordinals"), section("ids.firsts")
	width := uint64(bits.Len64(meta.Documents - 1))
	rows := make([]uint64, meta.Documents)
	rank := -1
	for i := range meta.Documents {
		rank += int(bit(firsts, i))
		rows[field(ordinals, i, width)] = prints[rank]
	}
	pages, err := ndf.Open(filepath.Join(golden, "pages.ndf"))
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	if !slices.Equal(rows, pages.Fingerprints()) {
		t.Error("read otherwise than written")
	}
}
