package table

import (
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/succinct"
	"example.org/ndd/engine/storage/store"
)

// A planarTable divides each key into three planes, so that a probe reads only the bits that distinguish most keys:
//
//	      key, 64 bits, keys in ascending order
//	+-----------------------+---------------------+---------------+
//	| bucket                | rest                | low           |
//	| bucketBits            | 48 - bucketBits     | 16            |
//	+-----------------------+---------------------+---------------+
//	  lines, unary            packed               uint16
//
//	lines   |110 0 10 0 ..|..   64 bytes for perLine buckets: the rank of the first key, a 1 for
//	                            each key, a 0 after each bucket ([asm.PlanarTable]); every probe reads one
//	low     |..|..|..|..|       2 bytes per key, read if the bucket is not empty
//	rest    |...|...|...|       read if low matched, for 1 key in 100 by chance
//	wide    for lines whose buckets and keys do not fit: perLine packed offsets per line
//	fences  every 1024th complete key: 1/16 bit per key
//	head    number of keys, widths
//
// The table has 1.4 to 2.9 buckets per key. The bucket number consists of the leading bits of the key, and a
// multiplication gives its line. So no directory is read before the line, and no key must be rebuilt after it.
//
// For n uniform keys, B bucket bits and L = perLine, a key takes 16 + (48 - B) + 512 2^B/(L n) + 1/16 bits. A line
// has space for 448 keys and buckets. The expected number is L(1 + n/2^B), and four standard deviations remain free. n
// = 1e8: B = 28, L = 294, 40.7 bits. n = 1e9: 37.1 bits. n = 8e9: 34.1 bits, where the bound is 32.5. One bucket bit
// less saves 0.6 bits per key at 1e8 and takes a tenth more time. At 1e8 the line takes 4.7 bits per key: 3.7 are
// ones and zeros, 0.5 is the head of the line, and 0.5 is free space. Without head and free space, two tables would
// take 9.94 bytes per key instead of 10.18.
//
// A probe at n = 1e8 reads one line of buckets. 31 % of the buckets have keys. The average is 0.37 keys, which are in
// one line of low. 1 % of these keys match by chance, and each reads one line of rest. A query of 11 tables with
// radius 0 reads 19 lines. A query of two tables with radius 1 makes 58 probes. They share 42 lines of buckets and
// read 18 lines of low. Two changes were tried and are no faster: tags of each key in its line, and locating eight
// probes at once.
//
// For skewed keys, the fences narrow a long extent to the leading bits that a probe fixes. Lines become wide, and
// take 2 to 6 bytes per bucket.
type planarTable struct {
	directory planarLines
	wideLines uint64
	wide      succinct.Array
	rest      succinct.Array
	fences    []uint64
	parts     []Part
	starts    atomic.Pointer[[]uint32] // see startsOf

	// Sections of the table, for errors about them.
	in struct{ head, lines, wide, low, rest, fences store.Section }
}

const (
	planarHeadBytes = 32
	lowBits         = 16
	bucketBitsMin   = 6
	fenceKeys       = 1024
	lineWords       = 8
	perLineMin      = 64
	perLineMax      = 440
	lineDeviations  = 4 // free space of a line, in standard deviations of its number of keys
)

// bucketBitsFor returns the minimum number of bits that gives n keys at least 1/0.7 buckets per key.
func bucketBitsFor(n uint64) uint {
	b := uint(bucketBitsMin)
	for b < 64-lowBits && n > 7*(1<<b)/10 {
		b++
	}
	return b
}

// PlanarWidths returns the number of bucket bits of the planar layout for n keys, and the number of buckets per line.
func PlanarWidths(n uint64) (bucketBits uint, perLine uint64) {
	bucketBits = bucketBitsFor(n)
	for perLine = perLineMax; ; perLine-- {
		keys := perLine*n>>bucketBits + 1
		if perLine+keys+uint64(lineDeviations*math.Sqrt(float64(keys))) <= asm.PlanarLineBits {
			return bucketBits, perLine
		}
	}
}

// planarHead is the section "head".
//
//	 0  keys              8
//	 8  wide lines        8
//	16  bucket bits       1
//	17  wide bits         1
//	18  buckets per line    2
//	20  zeros            12
type planarHead struct {
	keys, wideLines, perLine uint64
	bucketBits, wideBits     uint
}

func (h *planarHead) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, h.keys)
	dst = binary.LittleEndian.AppendUint64(dst, h.wideLines)
	dst = append(dst, byte(h.bucketBits), byte(h.wideBits))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.perLine))
	return append(dst, make([]byte, planarHeadBytes-20)...)
}

// parse reads planarHeadBytes. It returns a description of the damage, or "".
func (h *planarHead) parse(b []byte) (reason string) {
	h.keys = binary.LittleEndian.Uint64(b)
	h.wideLines = binary.LittleEndian.Uint64(b[8:])
	h.bucketBits, h.wideBits = uint(b[16]), uint(b[17])
	h.perLine = uint64(binary.LittleEndian.Uint16(b[18:]))
	switch {
	case h.keys > asm.PlanarKeysMax:
		return "more keys than 2^40"
	case h.bucketBits < bucketBitsMin || h.bucketBits > 64-lowBits || h.perLine < perLineMin || h.perLine > perLineMax:
		return "widths that no table has"
	case h.bucketBits != bucketBitsFor(h.keys):
		return "a wrong number of bucket bits for the number of keys"
	case h.wideLines > h.lines() || h.wideBits > 48:
		return "more wide lines than lines, or wider ones than possible"
	case [planarHeadBytes - 20]byte(b[20:]) != [planarHeadBytes - 20]byte{}:
		return "bytes after the widths that are not zero"
	}
	return ""
}

func (h *planarHead) lines() uint64  { return PlanarLines(h.bucketBits, h.perLine) }
func (h *planarHead) restBits() uint { return 64 - lowBits - h.bucketBits }

// unaryWords returns the number of words for the unary bits of all lines during a build.
func (h *planarHead) unaryWords() uint64 { return (1<<h.bucketBits + h.keys + 63) / 64 }
func (h *planarHead) fences() uint64     { return (h.keys + fenceKeys - 1) / fenceKeys }
func (h *planarHead) wideStarts() uint64 { return h.wideLines * h.perLine }

// lineWords returns the number of words of all lines, with the sentinel line at the end.
func (h *planarHead) lineWords() uint64 { return lineWords * (h.lines() + 1) }

// parts returns the sections of the table.
func (h *planarHead) parts() []Part {
	return []Part{
		{"low", 2 * (h.keys + asm.PlanarPad)},
		{"rest", 8 * succinct.WordsFor(h.keys, int(h.restBits()))},
		{"lines", 8 * h.lineWords()},
		{"wide", 8 * succinct.WordsFor(h.wideStarts(), int(h.wideBits))},
		{"fences", 8 * h.fences()},
		{"head", planarHeadBytes},
	}
}

// PlanarParts returns the parts of a planar table of n keys without "wide": of uniform keys, one line in ten thousand
// is wide.
func PlanarParts(n uint64) []Part {
	h := planarHead{keys: n}
	h.bucketBits, h.perLine = PlanarWidths(n)
	return slices.DeleteFunc(h.parts(), func(p Part) bool { return p.Name == "wide" })
}

// openPlanar checks all lengths. Later reads check the content of the arrays.
func openPlanar(source store.Source, prefix string) (Table, error) {
	// Read the head, which gives the sizes of all sections.
	t := &planarTable{}
	var err error
	if t.in.head, err = store.SectionOf(source, prefix+"head", planarHeadBytes); err != nil {
		return nil, err
	}
	var h planarHead
	if reason := h.parse(t.in.head.Data); reason != "" {
		return nil, t.in.head.Corrupt(0, "planar table: %s", reason)
	}
	t.parts = h.parts()
	// Open the sections.
	lines, wide, low, rest, fences := &t.in.lines, &t.in.wide, &t.in.low, &t.in.rest, &t.in.fences
	for i, section := range []*store.Section{low, rest, lines, wide, fences} {
		if *section, err = store.SectionOf(source, prefix+t.parts[i].Name, t.parts[i].Bytes); err != nil {
			return nil, err
		}
	}
	t.directory = newPlanarLines(store.Uint64s(lines.Data), store.Uint16s(low.Data), h.keys, h.bucketBits, h.perLine)
	t.wideLines = h.wideLines
	t.wide = succinct.Array{Words: store.Uint64s(wide.Data), Width: int(h.wideBits)}
	t.rest = succinct.Array{Words: store.Uint64s(rest.Data), Width: int(h.restBits())}
	t.fences = store.Uint64s(fences.Data)
	// Check the first and the last line, which searches rely on.
	if first := t.directory.base(0); first != 0 {
		return nil, lines.Corrupt(0, "the first line begins at rank %d", first)
	}
	if sentinel := t.directory.Lines[lineWords*h.lines():]; [lineWords]uint64(sentinel) != [lineWords]uint64{h.keys} {
		return nil, lines.Corrupt(64*h.lines(), "the line after the last one does not have the number of keys, %d",
			h.keys)
	}
	return t, nil
}

func (t *planarTable) Len() uint64   { return t.directory.Keys }
func (t *planarTable) Parts() []Part { return t.parts }
