package live

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/minio/highwayhash"

	"ndd/engine/memory"
)

// An idKey keys the hash of IDs: random for each index, so that nobody can choose IDs that collide.
type idKey [16]byte

func (k *idKey) hash(id string) uint64 {
	var key [highwayhash.Size]byte
	copy(key[:], k[:])
	copy(key[16:], k[:])
	return highwayhash.Sum64([]byte(id), key[:])
}

// idIndex finds the rows of an ID: a hash table of 8 bytes a slot, three quarters full at most.
//
//	slot   tag: the hash's low bits | row + 1      0 is empty
//
// The place of an ID is the hash's high part, then the slots behind it. The tag has all the bits
// that a row number leaves, 37 of them among 100 M documents, so that one in 10^11 slots that are
// looked at has the tag of another ID: whoever looks up compares the ID itself. A look-up is one
// cache miss, and reading the ID where there is one 10 microseconds.
type idIndex struct {
	slots []uint64
	shift int    // bits of a row
	n     uint64 // rows
}

// idIndexLen returns how many slots an index of n IDs has.
func idIndexLen(n uint64) uint64 { return n + n/3 + 1 }

func newIDIndex(slots []uint64, n uint64) idIndex { return idIndex{slots, bits.Len64(n), n} }

// fill adds the IDs of rows, in order. Documents without one, whose ID is empty, are left out.
func (x *idIndex) fill(key *idKey, ids iter.Seq2[string, error]) error {
	row := uint64(0)
	for id, err := range ids {
		if err != nil {
			return err
		}
		if row++; id == "" {
			continue
		}
		h := key.hash(id)
		at, _ := bits.Mul64(h, uint64(len(x.slots)))
		for x.slots[at] != 0 {
			if at++; at == uint64(len(x.slots)) {
				at = 0
			}
		}
		x.slots[at] = h<<x.shift | row
	}
	return nil
}

// rows calls yield with each row that may have the ID of that hash, until it returns false.
func (x *idIndex) rows(h uint64, yield func(row uint64) bool) {
	if len(x.slots) == 0 {
		return
	}
	at, _ := bits.Mul64(h, uint64(len(x.slots)))
	for range x.slots { // a damaged table has no empty slot
		s := x.slots[at]
		if s == 0 {
			return
		}
		row := s & (1<<x.shift - 1)
		if s>>x.shift == h<<x.shift>>x.shift && row-1 < x.n && !yield(row-1) { // a slot of a file may lie
			return
		}
		if at++; at == uint64(len(x.slots)) {
			at = 0
		}
	}
}

// heldIDs is an idIndex in memory outside the Go heap.
type heldIDs struct {
	idIndex
	buffer *memory.Buffer[uint64]
}

// indexIDs makes the index of n IDs.
func indexIDs(key *idKey, n uint64, ids iter.Seq2[string, error]) (*heldIDs, error) {
	buffer, err := memory.Make[uint64](int(idIndexLen(n)))
	if err != nil {
		return nil, err
	}
	x := &heldIDs{newIDIndex(buffer.Data, n), buffer}
	if err := x.fill(key, ids); err != nil {
		buffer.Free()
		return nil, err
	}
	return x, nil
}

func (x *heldIDs) free() {
	if x != nil {
		x.buffer.Free()
	}
}

// appendUvarints appends numbers, each in as many bytes as it needs.
func appendUvarints(dst []byte, list ...uint64) []byte {
	for _, v := range list {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}
