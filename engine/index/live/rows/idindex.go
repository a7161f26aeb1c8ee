package rows

import (
	"iter"
	"math/bits"

	"github.com/minio/highwayhash"

	"ndd/engine/memory"
)

// An IDKey keys the hash of IDs: random for each index, so that nobody can choose IDs that collide.
type IDKey [16]byte

func (k *IDKey) Hash(id string) uint64 {
	var key [highwayhash.Size]byte
	copy(key[:], k[:])
	copy(key[16:], k[:])
	return highwayhash.Sum64([]byte(id), key[:])
}

// IDIndex finds the rows of an ID: a hash table of 8 bytes a slot, three quarters full at most.
//
//	slot   tag: the hash's low bits | row + 1      0 is empty
//
// The place of an ID is the hash's high part, then the slots behind it. The tag has all the bits
// that a row number leaves, 37 of them among 100 M documents, so that one in 10^11 slots that are
// looked at has the tag of another ID: whoever looks up compares the ID itself. A look-up is one
// cache miss, and reading the ID where there is one 10 microseconds.
type IDIndex struct {
	Slots  []uint64
	shift  int                    // bits of a row
	n      uint64                 // rows
	buffer *memory.Buffer[uint64] // that holds the slots; nil for those of a file
}

// IDIndexLen returns how many slots an index of n IDs has.
func IDIndexLen(n uint64) uint64 { return n + n/3 + 1 }

// IDIndexBytes returns the size of an index of n IDs.
func IDIndexBytes(n uint64) uint64 { return 8 * IDIndexLen(n) }

// NewIDIndex returns the index of n IDs with these slots.
func NewIDIndex(slots []uint64, n uint64) IDIndex {
	return IDIndex{Slots: slots, shift: bits.Len64(n), n: n}
}

// fill adds the IDs of rows, in order. Documents without one, whose ID is empty, are left out.
func (x *IDIndex) fill(key *IDKey, ids iter.Seq2[string, error]) error {
	row := uint64(0)
	for id, err := range ids {
		if err != nil {
			return err
		}
		if row++; id == "" {
			continue
		}
		h := key.Hash(id)
		at, _ := bits.Mul64(h, uint64(len(x.Slots)))
		for x.Slots[at] != 0 {
			if at++; at == uint64(len(x.Slots)) {
				at = 0
			}
		}
		x.Slots[at] = h<<x.shift | row
	}
	return nil
}

// Rows calls yield with each row that may have the ID of that hash, until it returns false.
func (x *IDIndex) Rows(h uint64, yield func(row uint64) bool) {
	if len(x.Slots) == 0 {
		return
	}
	at, _ := bits.Mul64(h, uint64(len(x.Slots)))
	for range x.Slots { // a damaged table has no empty slot
		s := x.Slots[at]
		if s == 0 {
			return
		}
		row := s & (1<<x.shift - 1)
		if s>>x.shift == h<<x.shift>>x.shift && row-1 < x.n && !yield(row-1) { // a slot of a file may lie
			return
		}
		if at++; at == uint64(len(x.Slots)) {
			at = 0
		}
	}
}

// IndexIDs returns an index in memory, outside the Go heap, of n IDs.
func IndexIDs(key *IDKey, n uint64, ids iter.Seq2[string, error]) (IDIndex, error) {
	buffer, err := memory.Make[uint64](int(IDIndexLen(n)))
	if err != nil {
		return IDIndex{}, err
	}
	x := NewIDIndex(buffer.Data, n)
	x.buffer = buffer
	if err := x.fill(key, ids); err != nil {
		x.Free()
		return IDIndex{}, err
	}
	return x, nil
}

// Free releases the memory of an index that indexIDs made.
func (x *IDIndex) Free() { x.buffer.Free() }
