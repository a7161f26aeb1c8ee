package asm

import (
	"fmt"
	"math/bits"
)

// KeyPartitions says where [ScatterKeys] puts fingerprints: each into the partition that the leading bits of its
// permuted key number.
//
//	key   | partition | kept bits ........ | other bits |
//	word  | row ............. | kept bits ............. |     in its partition
//
// A word keeps the bits of the key that follow the number of its partition, and has the
// fingerprint's row above them.
type KeyPartitions struct {
	Words []uint64 // 1<<Room words for each partition, one partition after the other
	Next  []uint32 // by partition: the index in Words of its next word. ScatterKeys moves it on
	Mask  uint64   // of the permutation, see Permute
	Bits  int      // leading bits of a key that number its partition: 1 to 12
	Room  int      // log2 of the words that a partition takes
	Keep  int      // following bits that a word keeps; the row has the others
}

// scatterKeysCall is how many fingerprints one call into assembly takes: 50 microseconds.
const scatterKeysCall = 16384

// ScatterKeys permutes fingerprints, the first of which has number row, and appends each to its
// partition. It stops behind the one that fills a partition and returns how many are done and
// which partition is full, -1 if none is; the caller must empty that, and set its Next back, before the next call.
// Every partition must have room for a word at the beginning. Rows that do not fit the 64-Keep bits that a word has
// for them, and partitions that are not what KeyPartitions says, are a programmer's error and panic.
//
// Napkin, AVX-512: 14 operations a fingerprint, 2.5 cycles, as long as the lines where
// partitions grow stay in the first-level cache. With 64 partitions it is 3.2 cycles, with 256,
// whose places share few of its sets, 7.
func ScatterKeys(p *KeyPartitions, src []uint64, row uint64) (done, full int) {
	p.check()
	checkRows(src, row, p.Keep)
	raceRead(src)
	raceWrite(p.Next)
	raceWrite(p.Words)
	for done < len(src) {
		part := src[done:min(done+scatterKeysCall, len(src))]
		n, full := scatterKeys(p, part, row+uint64(done))
		done += n
		if full >= 0 {
			return done, full
		}
	}
	return done, -1
}

// check panics when the slices do not make partitions.
func (p *KeyPartitions) check() {
	if p.Bits < 1 || p.Bits > 12 || p.Keep < 1 || p.Bits+p.Keep > 64 || p.Room < 1 || p.Room+p.Bits > 31 ||
		len(p.Words) != 1<<(p.Bits+p.Room) || len(p.Next) != 1<<p.Bits {
		panic(fmt.Sprintf("asm: %d words and %d next ones for 2^%d partitions of 2^%d words that keep %d bits",
			len(p.Words), len(p.Next), p.Bits, p.Room, p.Keep))
	}
}

// checkRows panics when the rows of src do not fit above the bits that a word keeps.
func checkRows(src []uint64, row uint64, keep int) {
	if last := row + uint64(len(src)) - 1; len(src) > 0 && bits.Len64(last) > 64-keep {
		panic(fmt.Sprintf("asm: rows %d to %d do not fit %d bits", row, last, 64-keep))
	}
}
