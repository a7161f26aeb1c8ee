package postings

import (
	"context"
	"slices"

	"ndd/engine/copies/signature"
	"ndd/engine/storage/store"
)

// KeepFrequencies drops the signatures for which keep, given the number of documents that have one, says no, and returns how often
// that happened. Documents get smaller by that. The error is of ctx or of a temporary file.
func (b *Builder) KeepFrequencies(ctx context.Context, threads int, memoryBytes uint64, keep func(documents int) bool) (dropped uint64, err error) {
	defer store.CatchFault(&err)()
	if err := b.seal(); err != nil || b.total() == 0 {
		return 0, err
	}
	var kept []uint64
	err = frequencies(ctx, [][]uint64{b.hashes}, threads, int(memoryBytes/sortedBytes), func(hash uint64, documents int) {
		if keep(documents) {
			kept = append(kept, hash)
		}
	})
	if err != nil {
		return 0, err
	}
	return b.filter(func(_ uint32, hash uint64) bool {
		_, ok := slices.BinarySearch(kept, hash)
		return ok
	})
}

// DropLocal drops, from each document, the signatures that more than most documents of its site have, and returns how often that
// happened. Site returns the number of a document's site, 0 for none. The errors are those of KeepFrequencies.
func (b *Builder) DropLocal(ctx context.Context, threads int, memoryBytes uint64, most int, site func(doc uint32) uint64) (dropped uint64, err error) {
	defer store.CatchFault(&err)()
	if err := b.seal(); err != nil {
		return 0, err
	}
	local := NewBuilder(b.room) // each signature folded with the site
	defer local.Close()
	var keys []uint64
	for doc := range uint32(len(b.ends)) {
		keys = keys[:0]
		if s := site(doc); s != 0 {
			for _, hash := range b.set(doc) {
				keys = append(keys, signature.Fold(s, hash))
			}
		}
		local.Add(keys)
	}
	if err := local.seal(); err != nil || local.total() == 0 {
		return 0, err
	}
	var common []uint64
	err = frequencies(ctx, [][]uint64{local.hashes}, threads, int(memoryBytes/sortedBytes), func(key uint64, documents int) {
		if documents > most {
			common = append(common, key)
		}
	})
	if err != nil {
		return 0, err
	}
	return b.filter(func(doc uint32, hash uint64) bool {
		s := site(doc)
		if s == 0 {
			return true
		}
		_, drop := slices.BinarySearch(common, signature.Fold(s, hash))
		return !drop
	})
}

// filter keeps the signatures of documents for which keep returns true, and returns how many others there were.
func (b *Builder) filter(keep func(doc uint32, hash uint64) bool) (dropped uint64, err error) {
	to := NewBuilder(b.room)
	var kept []uint64
	for doc := range uint32(len(b.ends)) {
		kept = kept[:0]
		for _, hash := range b.set(doc) {
			if keep(doc, hash) {
				kept = append(kept, hash)
			}
		}
		to.Add(kept)
	}
	dropped = b.total() - to.total()
	if err := b.Close(); err != nil {
		to.Close()
		return 0, err
	}
	*b = *to
	return dropped, b.seal()
}
