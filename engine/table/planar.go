package table

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"ndd/asm"
	"ndd/engine/store"
	"ndd/engine/succinct"
)

// planarTable cuts each key into three planes, so that a probe reads only the
// bits that tell most keys apart:
//
//	      key, 64 bits, keys in ascending order
//	+-----------------------+---------------------+---------------+
//	| bucket                | rest                | low           |
//	| bucketBits            | 48 - bucketBits     | 16            |
//	+-----------------------+---------------------+---------------+
//	  unary, Elias-Fano       packed               uint16
//
//	low     |..|..|..|..|        2 bytes a key: what every probe scans
//	rest    |...|...|...|        read where low passed: 1 probe in 40 by chance
//	unary   0110001011..         bit bucket(i) + i is set for key i: read where rest passed too
//	groups  a line of 64 bytes for each block of 64 groups: its first rank, its number of
//	        keys, and by group where it begins, less where interpolation says ([asm.Planar])
//	wide    the same for the blocks whose corrections do not fit: 64 packed offsets a block
//	fences  every 1024th key whole: 1/16 bit a key
//	head    number of keys, widths
//
// A group is the keys that share their top groupBits bits, groupBits <=
// bucketBits; 8 to 16 keys on average. Group g's unary bits begin at g <<
// (bucketBits - groupBits) + start(g), so that a rebuild needs no select.
//
// Bytes, for n uniform keys: 16 + (48 - B) + 1 + 2^B/n + 8 2^G/n + 1/16 bits
// a key with B = ceil(log2 n), G = floor(log2 n) - 3. n = 1e8: 40.1 bits, two
// tables 10.02 bytes a fingerprint; n = 1e9: 36.7 and 9.2; n = 2^33: 34.1 bits, 4.26
// bytes a table, where the bound is 32.44 bits.
//
// Cost of a probe: a run of 12 words lies on 1.34 lines, and 0.025 of its keys
// pass by chance, each of which reads one line of rest. A query of two tables and
// radius 1 at 1e8 makes 48 probes: 64 lines of low, 1.4 of rest, and for each
// answer one of rest and one of unary: 67 misses. The directory is 2 x 8 MiB, of
// which flips of a group's low six bits share a line: 36 lines. Measured where an
// independent miss took 18 to 20 ns: 2.0 to 2.1 us a query in batches, 2.5 alone.
//
// Skew: a long run is narrowed to the leading bits that a probe fixes by
// the fences, and scanned at memory speed otherwise; blocks become wide, at 2 to
// 6 bytes a group. A rebuild starts at the last fence of its group.
type planarTable struct {
	directory  asm.Planar
	head       store.Section
	bucketBits uint
	wideBlocks uint64
	wide       succinct.Packed
	rest       succinct.Packed
	unary      []uint64
	fences     []uint64
	leading    int // bits that a probe should fix
	parts      []Part
}

const (
	planarHeadBytes = 32
	lowBits         = 16
	groupBitsMin    = 6 // one block
	groupBitsMax    = 40
	fenceKeys       = 1024
	groupsPerBlock  = 64
	lineWords       = 8 // of a block; the first is the number of a wide block
)

// planarWidths chooses the bits of a group and of a bucket for n keys. Another
// bucket bit saves a bit of rest and costs 2^B/n unary bits.
func planarWidths(n uint64) (groupBits, bucketBits uint) {
	bucketBits = uint(min(max(bits.Len64(max(n, 1)-1), groupBitsMin), 64-lowBits))
	groupBits = uint(min(max(bits.Len64(n)-1-3, groupBitsMin), int(bucketBits), groupBitsMax))
	return groupBits, bucketBits
}

// planarHead is the section "head".
//
//	 0  keys          8
//	 8  wide blocks   8
//	16  group bits    1
//	17  bucket bits   1
//	18  wide bits     1
//	19  zeros        13
type planarHead struct {
	keys, wideBlocks                uint64
	groupBits, bucketBits, wideBits uint
}

func (h *planarHead) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, h.keys)
	dst = binary.LittleEndian.AppendUint64(dst, h.wideBlocks)
	dst = append(dst, byte(h.groupBits), byte(h.bucketBits), byte(h.wideBits))
	return append(dst, make([]byte, planarHeadBytes-19)...)
}

// parse reports what is wrong, or "".
func (h *planarHead) parse(b []byte) (why string) {
	if len(b) != planarHeadBytes {
		return "it has not 32 bytes"
	}
	h.keys = binary.LittleEndian.Uint64(b)
	h.wideBlocks = binary.LittleEndian.Uint64(b[8:])
	h.groupBits, h.bucketBits, h.wideBits = uint(b[16]), uint(b[17]), uint(b[18])
	switch {
	case h.keys > asm.PlanarKeysMax:
		return "more keys than 2^40"
	case h.groupBits < groupBitsMin || h.groupBits > groupBitsMax || h.bucketBits < h.groupBits || h.bucketBits > 64-lowBits:
		return "widths that no table has"
	case h.bucketBits > groupBitsMin && h.keys <= 1<<(h.bucketBits-1):
		return "more bucket bits than the keys need"
	case h.wideBlocks > h.blocks() || h.wideBits > 48:
		return "more wide blocks than blocks, or wider ones than possible"
	}
	for _, zero := range b[19:] {
		if zero != 0 {
			return "bytes behind the widths that are not zero"
		}
	}
	return ""
}

func (h *planarHead) blocks() uint64     { return 1 << h.groupBits / groupsPerBlock }
func (h *planarHead) restBits() uint     { return 64 - lowBits - h.bucketBits }
func (h *planarHead) unaryWords() uint64 { return (1<<h.bucketBits + h.keys + 63) / 64 }
func (h *planarHead) fences() uint64     { return (h.keys + fenceKeys - 1) / fenceKeys }

// groupsWords is one line more than there are blocks.
func (h *planarHead) groupsWords() uint64 { return lineWords * (h.blocks() + 1) }

// openPlanar checks every length; what the arrays say is checked where it is used.
func openPlanar(source store.Source, prefix string) (Table, error) {
	t := &planarTable{}
	var err error
	if t.head, err = source.Section(prefix + "head"); err != nil {
		return nil, err
	}
	var h planarHead
	if why := h.parse(t.head.Data); why != "" {
		return nil, t.head.Corrupt(0, "planar table: %s", why)
	}
	var groups, wide, low, rest, unary, fences store.Section
	for _, part := range []struct {
		name    string
		section *store.Section
		bytes   uint64
	}{
		{"low", &low, 2 * (h.keys + asm.PlanarPad)},
		{"rest", &rest, 8 * succinct.WordsFor(h.keys, int(h.restBits()))},
		{"unary", &unary, 8 * h.unaryWords()},
		{"groups", &groups, 8 * h.groupsWords()},
		{"wide", &wide, 8 * succinct.WordsFor(h.wideBlocks*groupsPerBlock, int(h.wideBits))},
		{"fences", &fences, 8 * h.fences()},
	} {
		if *part.section, err = source.Section(prefix + part.name); err != nil {
			return nil, err
		}
		if uint64(len(part.section.Data)) != part.bytes {
			return nil, part.section.Corrupt(0, "%d bytes where %d are due", len(part.section.Data), part.bytes)
		}
		t.parts = append(t.parts, Part{part.name, part.bytes})
	}
	t.parts = append(t.parts, Part{"head", planarHeadBytes})
	t.directory = asm.Planar{
		Groups:    store.Uint64s(groups.Data),
		Low:       uint16s(low.Data),
		Keys:      h.keys,
		GroupBits: h.groupBits,
	}
	t.bucketBits = h.bucketBits
	t.wideBlocks = h.wideBlocks
	t.wide = succinct.Packed{Words: store.Uint64s(wide.Data), Width: int(h.wideBits)}
	t.rest = succinct.Packed{Words: store.Uint64s(rest.Data), Width: int(h.restBits())}
	t.unary = store.Uint64s(unary.Data)
	t.fences = store.Uint64s(fences.Data)
	t.leading = leadingFor(t.fences, int(h.groupBits))
	if first, last := t.directory.Base(0), t.directory.Base(h.blocks()); first != 0 || last != h.keys {
		return nil, groups.Corrupt(0, "blocks begin at rank %d and end at %d of %d keys", first, last, h.keys)
	}
	if behind := t.directory.Groups[lineWords*h.blocks():]; [lineWords]uint64(behind) != [lineWords]uint64{lineWords - 1: h.keys << 8} {
		return nil, groups.Corrupt(64*h.blocks(), "the line behind the last block holds more than the number of keys")
	}
	return t, nil
}

func (t *planarTable) Layout() Layout { return LayoutPlanar }
func (t *planarTable) Len() uint64    { return t.directory.Keys }
func (t *planarTable) Parts() []Part  { return t.parts }

// Leading fixes the bits of a group, and more of a table so skewed that this leaves
// long runs to scan: see [leadingFor].
func (t *planarTable) Leading(p int) int { return min(p, t.leading) }

const (
	fencesLooked = 1 << 14 // of how many fences leadingFor makes its estimate
	probeNs      = 20.0    // what a flip of one more bit costs a query,
	scanNs       = 0.1     // and a key of a long run
)

// leadingFor is how many leading bits, groupBits or more, cost a query least: each
// one more is one more probe of radius 1, and shortens the runs that are too long
// for the directory. The run that a query meets, if queries are like keys, has
// the squares of the runs' lengths over the number of keys, and the lengths show
// in the fences: r neighbours that share the leading bits are r*1024 keys.
func leadingFor(fences []uint64, groupBits int) int {
	step := max(1, len(fences)/fencesLooked)
	best, least := groupBits, math.Inf(1)
	for leading := groupBits; leading <= 64; leading++ {
		mask := leadingMask(leading)
		squares, run, looked := 0.0, 0.0, 0.0
		for i := 0; i < len(fences); i += step {
			looked++
			if i > 0 && (fences[i]^fences[i-step])&mask == 0 {
				run++
				squares += 2 * run // (run+1)*run in all
			} else {
				run = 0
			}
		}
		cost := float64(leading)*probeNs + squares/max(looked, 1)*float64(step)*fenceKeys*scanNs
		if cost < least {
			best, least = leading, cost
		}
		if squares == 0 {
			break
		}
	}
	return best
}

// hostLittleEndian says whether a view of a file's integers needs no copy.
var hostLittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// uint16s views little-endian bytes, whose number is even, as integers.
func uint16s(b []byte) []uint16 {
	n := len(b) / 2
	p := unsafe.Pointer(unsafe.SliceData(b))
	if hostLittleEndian && uintptr(p)%2 == 0 {
		return unsafe.Slice((*uint16)(p), n)
	}
	out := make([]uint16, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return out
}
