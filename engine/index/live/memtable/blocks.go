package memtable

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"unsafe"

	"example.org/ndd/asm"
	"example.org/ndd/engine/memory"
	"example.org/ndd/permute"
)

// blocks find the fingerprints of a memtable that are within distance k of a query, for every k up to K. They cut the
// 64 bits into K+1 blocks: if two fingerprints differ in k bits, at least one of any k+1 blocks is equal in both. Each
// block has a table of buckets, one for each value of its leading bits. A bucket stores the fingerprints with that
// value, and their rows.
//
// The bits are shuffled first, in an order of each memtable that no client knows. So a client cannot
// fill a bucket with fingerprints that share bits of its choice: of 400,000 with 32 equal bits, a
// query compares some ten thousand.
//
//	fingerprint --shuffle--> |  block 0  |  block 1  |  block 2  |  block 3  |      K = 3, 16 bits each
//	              heads of block 1:  value -> address | space | n
//	                                            |
//	                                            v
//	                 fingerprints (n of them, in space for 4 << r) | rows, in order
//
// A query reads k+1 buckets, with two misses each, all at the same time. With a million documents and K = 3 a bucket
// has 16 fingerprints. An insert appends to K+1 buckets. A full bucket moves to twice the space, and readers keep the
// old one. So a document needs about 35 bytes per block.
//
// Appends are not concurrent (rowIndex.indexing), and readers take no lock: a head is one word, and is stored after the
// entries that it counts. Readers find at least the rows that were in blocks when they began. The newest rows are added
// in groups: see rowIndex.
type blocks struct {
	heads [][]uint64   // heads of each block, by value
	shift []int        // shift of each block's leading bits
	mask  uint64       // mask of a value
	swaps []uint64     // masks of the rounds of the shuffle
	rows  atomic.Int64 // rows before this are in buckets; some later ones may be, too
	arena arena
}

// prefetchQueries is the number of queries of one prefetch.
const prefetchQueries = 8

// A head describes a bucket: its address, the logarithm of a quarter of its space, and its number of fingerprints.
type head uint64

func newHead(address uint32, class, n int) head {
	return head(uint64(address)<<32 | uint64(class)<<27 | uint64(n))
}

func (h head) address() uint32 { return uint32(h >> 32) }
func (h head) class() int      { return int(h >> 27 & 31) }
func (h head) n() int          { return int(h & (1<<27 - 1)) }
func (h head) room() int       { return 4 << h.class() }

// newBlocks returns empty blocks for a memtable of docs documents. With K = 7 they have 8 bits, and a query compares
// one fingerprint of 32. With K = 8 they have 7 bits, and it compares one of 14.
func newBlocks(K, docs int) *blocks {
	width := min(64/(K+1), 16, max(bits.Len(uint(docs/16)), 4))
	b := &blocks{mask: 1<<width - 1, swaps: newSwaps(width)}
	for i := range K + 1 {
		b.shift = append(b.shift, 64-i*(64/(K+1))-width)
	}
	for range b.shift {
		b.heads = append(b.heads, make([]uint64, 1<<width)) // in the Go heap, so that the race detector sees the accesses
	}
	return b
}

// newSwaps returns random masks of a shuffle for blocks of width bits. Each mask has bits only at the lower position of
// each pair.
func newSwaps(width int) (swaps []uint64) {
	for distance := 32; ; distance /= 2 {
		swaps = append(swaps, rand.Uint64()&(^uint64(0)/(1<<distance+1)))
		if distance <= width {
			return swaps
		}
	}
}

// shuffled returns a fingerprint with its bits in the order of the blocks. Each round swaps or keeps pairs of bits that
// are 32, 16, ... positions apart. After the rounds of 32 and 16, any 16 adjacent bits are one of each four bits that
// were 16 positions apart.
func (b *blocks) shuffled(f uint64) uint64 {
	for i, mask := range b.swaps {
		distance := 32 >> i & 63
		t := (f ^ f>>distance) & mask
		f ^= t ^ t<<distance
	}
	return f
}

// value returns the value of a shuffled fingerprint in a block.
func (b *blocks) value(block int, shuffled uint64) uint64 { return shuffled >> b.shift[block] & b.mask }

// add appends a fingerprint of a row.
func (b *blocks) add(f uint64, row uint32) {
	shuffled := b.shuffled(f)
	for i, heads := range b.heads {
		slot := &heads[b.value(i, shuffled)]
		h := head(*slot)
		if h == 0 {
			address, _ := b.arena.alloc(bucketWords(0))
			h = newHead(address, 0, 0)
		} else if h.n() == h.room() {
			h = b.move(h)
		}
		fingerprints, rows := b.bucket(h)
		fingerprints[h.n()], rows[h.n()] = f, row
		atomic.StoreUint64(slot, uint64(h+1))
	}
}

// append adds the fingerprints of rows from row on, in groups whose misses overlap. Calls must not be concurrent.
func (b *blocks) append(row int, fingerprints []uint64) {
	for part := range slices.Chunk(fingerprints, unindexedDocs) {
		for group := range slices.Chunk(part, prefetchQueries) {
			b.prefetchHeads(group, len(b.heads)-1)
		}
		for _, f := range part {
			b.prefetchRoom(f)
		}
		for i, f := range part {
			b.add(f, uint32(row+i))
		}
		row += len(part)
		b.rows.Store(int64(row))
	}
}

// move copies a bucket to twice the space.
func (b *blocks) move(h head) head {
	address, _ := b.arena.alloc(bucketWords(h.class() + 1))
	target := newHead(address, h.class()+1, h.n())
	fingerprints, rows := b.bucket(h)
	newPrints, newRows := b.bucket(target)
	copy(newPrints, fingerprints[:h.n()])
	copy(newRows, rows[:h.n()])
	return target
}

// bucketWords returns the size of a bucket in words: one for a fingerprint, half of one for its row.
func bucketWords(class int) int { return 6 << class }

// bucket returns the space of a bucket for fingerprints and for their rows.
func (b *blocks) bucket(h head) (fingerprints []uint64, rows []uint32) {
	words, room := b.arena.wordsAt(h.address()), h.room()
	return words[:room:room], halfWords(words[room : room+room/2])
}

// bytes returns the memory of the blocks.
func (b *blocks) bytes() uint64 { return b.arena.bytes() + 8*uint64(len(b.heads))*(b.mask+1) }

// search calls yield with each fingerprint within k of a query, and its row, for rows before end, until yield returns
// false; it then returns false. Each row is reported once, in no order. k must be at most K. positions is scratch
// memory.
func (b *blocks) search(query uint64, k int, end uint32, positions []uint32,
	yield func(f uint64, row uint32) bool) bool {
	var list [permute.MaxK + 1]head
	shuffled := b.shuffled(query)
	for i := range k + 1 {
		list[i] = head(atomic.LoadUint64(&b.heads[i][b.value(i, shuffled)]))
	}
	for i, h := range list[:k+1] {
		if h == 0 {
			continue
		}
		fingerprints, rows := b.bucket(h)
		fingerprints = fingerprints[:h.n()]
		for start := 0; start < len(fingerprints); {
			n, done := asm.Within64(positions, fingerprints[start:], query, k)
			for _, p := range positions[:n] {
				f, row := fingerprints[start+int(p)], rows[start+int(p)]
				if b.first(f^query) == i && row < end && !yield(f, row) {
					return false
				}
			}
			start += done
		}
	}
	return true
}

// prefetchHeads requests the heads that a search for the queries reads.
func (b *blocks) prefetchHeads(queries []uint64, k int) {
	var shuffled, addresses [prefetchQueries]uint64
	for j, q := range queries {
		shuffled[j] = b.shuffled(q)
	}
	for i, heads := range b.heads[:k+1] {
		for j, q := range shuffled[:len(queries)] {
			addresses[j] = b.value(i, q)
		}
		asm.PrefetchAt(heads, addresses[:len(queries)])
	}
}

// prefetchBuckets requests the buckets of the queries. It reads their heads.
func (b *blocks) prefetchBuckets(queries []uint64, k int) {
	for _, q := range queries {
		shuffled := b.shuffled(q)
		for i, heads := range b.heads[:k+1] {
			if h := head(atomic.LoadUint64(&heads[b.value(i, shuffled)])); h != 0 {
				asm.PrefetchAll(b.arena.wordsAt(h.address())[:h.n()])
			}
		}
	}
}

// prefetchRoom requests the memory that adding a fingerprint writes. It reads the heads.
func (b *blocks) prefetchRoom(f uint64) {
	shuffled := b.shuffled(f)
	for i, heads := range b.heads {
		h := head(atomic.LoadUint64(&heads[b.value(i, shuffled)]))
		if h == 0 {
			continue
		}
		words := b.arena.wordsAt(h.address())[:bucketWords(h.class())]
		if n, room := h.n(), h.room(); n < room {
			asm.PrefetchAt(words, []uint64{uint64(n), uint64(room + n/2)})
		} else { // it moves
			asm.PrefetchAll(words)
		}
	}
}

// first returns the first block that is equal in two fingerprints with this difference. That block reports the pair.
func (b *blocks) first(difference uint64) int {
	shuffled := b.shuffled(difference)
	for i := range b.shift {
		if b.value(i, shuffled) == 0 {
			return i
		}
	}
	return -1 // more than K bits differ
}

// CacheLine is the size of two cache lines, because processors fetch lines in pairs.
const CacheLine = 128

const (
	// slabShift is the number of address bits for the offset in a slab of at most 4 MiB.
	slabShift = 19
	slabWords = 1 << slabShift
	// slabFirst is the size of the first slab in words. Each further slab has twice the size of the previous one.
	slabFirst = 1 << 12
)

// An arena allocates memory for one writer. Nothing is freed or moved before the whole arena is freed, so readers need
// no lock.
//
//	address   number of the slab | word in it          0 is none
//
// The memory is outside the Go heap, which needs up to twice as much. If the system refuses it, it is inside.
type arena struct {
	slabs   atomic.Pointer[[][]uint64]
	_       [CacheLine]byte // the writer does not write to lines of readers
	buffers []*memory.Buffer[uint64]
	used    int // words in use of the last slab
	words   int // size of all slabs
}

// alloc returns zeroed words and their address.
func (a *arena) alloc(words int) (address uint32, room []uint64) {
	if n := len(a.buffers); n == 0 || a.used+words > len(a.buffers[n-1].Data) {
		a.grow(words)
	}
	n := len(a.buffers) - 1
	address, room = uint32(n<<slabShift|a.used), a.buffers[n].Data[a.used:][:words:words]
	a.used += words
	return address, room
}

// grow adds a slab with space for the given number of words.
func (a *arena) grow(words int) {
	n := len(a.buffers)
	a.used = 0
	if n == 0 {
		a.used = 1 // address 0 is none
	}
	size := max(min(slabFirst<<min(n, slabShift), slabWords), words+a.used)
	b, err := memory.Make[uint64](size)
	if err != nil {
		b = &memory.Buffer[uint64]{Data: make([]uint64, size)}
	}
	a.buffers = append(a.buffers, b)
	a.words += size
	slabs := make([][]uint64, n+1)
	for i, b := range a.buffers {
		slabs[i] = b.Data
	}
	a.slabs.Store(&slabs)
}

// wordsAt returns the words from an address to the end of its slab.
func (a *arena) wordsAt(address uint32) []uint64 {
	return (*a.slabs.Load())[address>>slabShift][address&(slabWords-1):]
}

// bytes returns the memory of the arena.
func (a *arena) bytes() uint64 { return 8 * uint64(a.words) }

// free frees the memory. Nobody may read it any more.
func (a *arena) free() {
	for _, b := range a.buffers {
		b.Free()
	}
	a.buffers, a.words = nil, 0
}

// halfWords returns words as 32-bit numbers. With memory.Cast, bucket would be too large to be inlined.
func halfWords(words []uint64) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), 2*len(words))
}
