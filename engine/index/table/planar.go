package table

import (
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"

	"ndd/asm"
	"ndd/engine/index/succinct"
	"ndd/engine/storage/store"
)

// planarTable cuts each key into three planes, so that a probe reads only the
// bits that tell most keys apart:
//
//	      key, 64 bits, keys in ascending order
//	+-----------------------+---------------------+---------------+
//	| bucket                | rest                | low           |
//	| bucketBits            | 48 - bucketBits     | 16            |
//	+-----------------------+---------------------+---------------+
//	  lines, unary            packed               uint16
//
//	lines   |110 0 10 0 ..|..   64 bytes for perLine buckets: the first one's rank, a 1 for each
//	                            key, a 0 behind each bucket ([asm.PlanarTable]): what every probe reads
//	low     |..|..|..|..|       2 bytes a key: read where a bucket is not empty
//	rest    |...|...|...|       read where low passed: 1 key in 100 by chance
//	wide    for the lines whose buckets and keys do not fit: perLine packed offsets a line
//	fences  every 1024th key whole: 1/16 bit a key
//	head    number of keys, widths
//
// There are 1.4 to 2.9 buckets a key. A bucket gives all of a key's leading bits, and a multiplication
// finds its line: no directory is read before it, and nothing is rebuilt after.
//
// For n uniform keys, B bucket bits and L = perLine, a key takes 16 + (48 - B) + 512 2^B/(L n) + 1/16
// bits. A line has room for 448 keys and buckets; the L(1 + n/2^B) that are expected leave four
// deviations free. n = 1e8: B = 28, L = 294, 40.7 bits; n = 1e9: 37.1; n = 8e9: 34.1, where the bound
// is 32.5. One bucket bit less saves 0.6 bits of a key at 1e8 and costs a tenth more time. Of the 4.7
// bits of a key's line at 1e8, 3.7 are its ones and zeros, 0.5 the head of the line and 0.5 room left
// free: without both, two tables would take 9.94 bytes a key instead of 10.18.
//
// A probe at n = 1e8 reads a line of buckets; 31 % of the buckets have keys, 0.37 on average, which
// lie on one line of low; 1 % of those pass by chance, and read one of rest. A query of 11 tables and
// radius 0 reads 19 lines; one of two tables and radius 1 makes 58 probes, which
// share 42 lines of buckets and read 18 lines of low. Tags of each key on its line, and eight probes
// located at once, were tried and are no faster.
//
// Of skewed keys, the fences narrow a long extent to the leading bits that a probe fixes, and lines
// become wide, at 2 to 6 bytes a bucket.
type planarTable struct {
	directory planarLines
	wideLines uint64
	wide      succinct.Packed
	rest      succinct.Packed
	fences    []uint64
	parts     []Part
	starts    atomic.Pointer[[]uint32] // see startsOf

	// The sections of head, lines and so on, for errors about them.
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
	lineDeviations  = 4 // of the number of keys on a line, for which it has room
)

// bucketBitsFor returns the least of bits that give n keys 1/0.7 buckets a key.
func bucketBitsFor(n uint64) uint {
	b := uint(bucketBitsMin)
	for b < 64-lowBits && n > 7*(1<<b)/10 {
		b++
	}
	return b
}

// PlanarWidths returns the bits of a bucket that the planar layout has for n keys, and how many
// buckets share a line.
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
//	18  buckets a line    2
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
func (h *planarHead) parse(b []byte) (why string) {
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
		return "bucket bits that are not those for the keys"
	case h.wideLines > h.lines() || h.wideBits > 48:
		return "more wide lines than lines, or wider ones than possible"
	case [planarHeadBytes - 20]byte(b[20:]) != [planarHeadBytes - 20]byte{}:
		return "bytes behind the widths that are not zero"
	}
	return ""
}

func (h *planarHead) lines() uint64  { return PlanarLines(h.bucketBits, h.perLine) }
func (h *planarHead) restBits() uint { return 64 - lowBits - h.bucketBits }

// of all lines, as they are made
func (h *planarHead) unaryWords() uint64 { return (1<<h.bucketBits + h.keys + 63) / 64 }
func (h *planarHead) fences() uint64     { return (h.keys + fenceKeys - 1) / fenceKeys }
func (h *planarHead) wideStarts() uint64 { return h.wideLines * h.perLine }

// lineWords returns the number of words of all lines and of one more.
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

// PlanarParts returns the parts of a planar table of n keys but for "wide": uniform keys have one wide line in ten
// thousand.
func PlanarParts(n uint64) []Part {
	h := planarHead{keys: n}
	h.bucketBits, h.perLine = PlanarWidths(n)
	return slices.DeleteFunc(h.parts(), func(p Part) bool { return p.Name == "wide" })
}

// openPlanar checks every length; what the arrays say is checked where it is used.
func openPlanar(source store.Source, prefix string) (Table, error) {
	t := &planarTable{}
	var err error
	if t.in.head, err = store.SectionOf(source, prefix+"head", planarHeadBytes); err != nil {
		return nil, err
	}
	var h planarHead
	if why := h.parse(t.in.head.Data); why != "" {
		return nil, t.in.head.Corrupt(0, "planar table: %s", why)
	}
	t.parts = h.parts()
	lines, wide, low, rest, fences := &t.in.lines, &t.in.wide, &t.in.low, &t.in.rest, &t.in.fences
	for i, section := range []*store.Section{low, rest, lines, wide, fences} {
		if *section, err = store.SectionOf(source, prefix+t.parts[i].Name, t.parts[i].Bytes); err != nil {
			return nil, err
		}
	}
	t.directory = newPlanarLines(store.Uint64s(lines.Data), store.Uint16s(low.Data), h.keys, h.bucketBits, h.perLine)
	t.wideLines = h.wideLines
	t.wide = succinct.Packed{Words: store.Uint64s(wide.Data), Width: int(h.wideBits)}
	t.rest = succinct.Packed{Words: store.Uint64s(rest.Data), Width: int(h.restBits())}
	t.fences = store.Uint64s(fences.Data)
	if first := t.directory.base(0); first != 0 {
		return nil, lines.Corrupt(0, "the first line begins at rank %d", first)
	}
	if behind := t.directory.Lines[lineWords*h.lines():]; [lineWords]uint64(behind) != [lineWords]uint64{h.keys} {
		return nil, lines.Corrupt(64*h.lines(), "the line behind the last holds more or less than the number of keys, %d",
			h.keys)
	}
	return t, nil
}

func (t *planarTable) Len() uint64   { return t.directory.Keys }
func (t *planarTable) Parts() []Part { return t.parts }
