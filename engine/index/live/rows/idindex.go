package rows

import (
	"iter"
	"math/bits"

	"github.com/minio/highwayhash"

	"example.org/ndd/engine/memory"
)

// An IDKey keys the hash of IDs: random for each index, so that nobody can choose IDs that collide.
type IDKey [16]byte

func (k *IDKey) Hash(id string) uint64 {
	var key [highwayhash.Size]byte
	copy(key[:], k[:])
	copy(key[16:], k[:])
	return highwayhash.Sum64([]byte(id), key[:])
}

// IDIndex finds the rows of an ID. It is a hash table of 8 bytes per slot, at most three quarters full.
//
//	slot   tag: the hash's low bits | row + 1      0 is empty
//
// The high part of an ID's hash selects its slot. If that slot is taken, the ID uses the next free one. The tag has all
// bits that a row number leaves free, 37 for 100 M documents, so that one of 10^11 slots has the tag of another ID. So
// the caller compares the ID itself. A look-up costs one cache miss, and 10 microseconds to read an ID.
type IDIndex struct {
	Slots  []uint64
	shift  int                    // number of bits of a row
	n      uint64                 // number of rows
	buffer *memory.Buffer[uint64] // memory of Slots; nil if Slots is part of a file
}

// IDIndexLen returns the number of slots of an index of n IDs.
func IDIndexLen(n uint64) uint64 { return n + n/3 + 1 }

// IDIndexBytes returns the size of an index of n IDs.
func IDIndexBytes(n uint64) uint64 { return 8 * IDIndexLen(n) }

// NewIDIndex returns an index of n IDs that uses the given slots.
func NewIDIndex(slots []uint64, n uint64) IDIndex {
	return IDIndex{Slots: slots, shift: bits.Len64(n), n: n}
}

// add adds the row of an ID with that hash.
func (x *IDIndex) add(h, row uint64) {
	slot, _ := bits.Mul64(h, uint64(len(x.Slots)))
	for x.Slots[slot] != 0 {
		if slot++; slot == uint64(len(x.Slots)) {
			slot = 0
		}
	}
	x.Slots[slot] = h<<x.shift | (row + 1)
}

// has reports whether a row may have the ID with that hash.
func (x *IDIndex) has(h uint64) (found bool) {
	x.Rows(h, func(uint64) bool {
		found = true
		return false
	})
	return found
}

// Rows calls yield with each row that may have the ID with that hash, until yield returns false.
func (x *IDIndex) Rows(h uint64, yield func(row uint64) bool) {
	if len(x.Slots) == 0 {
		return
	}
	slot, _ := bits.Mul64(h, uint64(len(x.Slots)))
	for range x.Slots { // a damaged table has no empty slot
		s := x.Slots[slot]
		if s == 0 {
			return
		}
		row := s & (1<<x.shift - 1)
		if s>>x.shift == h<<x.shift>>x.shift && row-1 < x.n && !yield(row-1) { // a slot of a damaged file may have any row
			return
		}
		if slot++; slot == uint64(len(x.Slots)) {
			slot = 0
		}
	}
}

// IndexIDs returns an index of n IDs in memory outside the Go heap. It omits documents without an ID.
func IndexIDs(key *IDKey, n uint64, ids iter.Seq2[string, error]) (IDIndex, error) {
	buffer, err := memory.Make[uint64](int(IDIndexLen(n)))
	if err != nil {
		return IDIndex{}, err
	}
	x, row := NewIDIndex(buffer.Data, n), uint64(0)
	x.buffer = buffer
	for id, err := range ids {
		if err != nil {
			x.Free()
			return IDIndex{}, err
		}
		if id != "" {
			x.add(key.Hash(id), row)
		}
		row++
	}
	return x, nil
}

// RepeatedIDsBytes returns the memory of RepeatedIDs. The parts of the hashes are nearly equal, because they have a
// random key.
func RepeatedIDsBytes(n, passes uint64) uint64 {
	return IDIndexBytes(min(n, n/passes+n/passes/16+1<<12))
}

// RepeatedIDs returns the hashes of IDs that may occur several times among n IDs. Each pass reads all IDs and indexes a
// part of them, by their hashes. An index omits repeated IDs: looking for space behind all of them would take quadratic
// time, and they might not fit.
func RepeatedIDs(key *IDKey, n, passes uint64, ids iter.Seq2[string, error]) (map[uint64]bool, error) {
	buffer, err := memory.Make[uint64](int(RepeatedIDsBytes(n, passes) / 8))
	if err != nil {
		return nil, err
	}
	defer buffer.Free()
	repeated := map[uint64]bool{}
	for pass := range passes {
		clear(buffer.Data)
		x, row := NewIDIndex(buffer.Data, n), uint64(0)
		for id, err := range ids {
			if err != nil {
				return nil, err
			}
			// The low bits choose the pass, because the high ones choose the slot.
			if h := key.Hash(id); id != "" && h%passes == pass {
				if x.has(h) {
					repeated[h] = true
				} else {
					x.add(h, row)
				}
			}
			row++
		}
	}
	return repeated, nil
}

// Free releases the memory of an index that IndexIDs made.
func (x *IDIndex) Free() { x.buffer.Free() }
