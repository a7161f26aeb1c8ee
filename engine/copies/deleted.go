package copies

import (
	"context"
	"math/bits"
	"slices"
)

// A bitmap is a set of a segment's documents, a bit each, the lowest first. The nil one is empty.
type bitmap []byte

func (b bitmap) has(doc uint32) bool { return int(doc/8) < len(b) && b[doc/8]>>(doc%8)&1 == 1 }

// set adds a document, and grows to where it lies.
func (b *bitmap) set(doc uint32) {
	if n := int(doc/8) + 1 - len(*b); n > 0 {
		*b = append(*b, make([]byte, n)...)
	}
	(*b)[doc/8] |= 1 << (doc % 8)
}

func (b bitmap) count() (n uint64) {
	for _, x := range b {
		n += uint64(bits.OnesCount8(x))
	}
	return n
}

// fits reports whether all of it are among so many documents.
func (b bitmap) fits(documents uint64) bool {
	last := documents % 8
	return uint64(len(b)) <= (documents+7)/8 && (last == 0 || uint64(len(b)) < (documents+7)/8 || b[len(b)-1]>>last == 0)
}

// Delete deletes documents from the index in folder dir by their IDs. It returns how many they were, and those IDs that no document
// has, in the order of ids. They are not found any more by who opens the index afterwards; their signatures stay in it until
// [Merge]. It reads all IDs of the index. The error wraps [disk.ErrLocked] where somebody else changes the index.
func Delete(ctx context.Context, dir string, ids []string, o Options) (deleted int, missing []string, err error) {
	w, err := lockIndex(dir, o)
	if err != nil {
		return 0, nil, err
	}
	defer w.Abort()
	x, err := OpenIndex(ctx, dir, max(o.Threads, 1))
	if err != nil {
		return 0, nil, err
	}
	defer x.Close()
	found := make(map[string]bool, len(ids))
	for _, id := range ids {
		found[id] = false
	}
	for at := range x.segments {
		for doc, err := range x.documents(at) {
			if err != nil {
				return 0, nil, err
			}
			if _, ok := found[doc.id]; ok {
				found[doc.id] = true
				w.manifest.delete(at, doc.number)
				deleted++
			}
		}
	}
	for _, id := range ids {
		if !found[id] && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	if deleted == 0 {
		return 0, missing, nil
	}
	return deleted, missing, w.publish()
}
