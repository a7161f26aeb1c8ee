package postings

import (
	"context"
	"slices"

	"ndd/engine/copies/signature"
	"ndd/engine/index/radix"
	"ndd/engine/storage/store"
)

// sortedBytes is the memory of a signature while it is sorted.
const sortedBytes = 32

// KeepFrequencies drops the signatures for which keep returns false, given the number of documents
// that have one, and returns how many it dropped. The error is of ctx or of a temporary file.
func (b *Builder) KeepFrequencies(ctx context.Context, threads int, memoryBytes uint64,
	keep func(documents int) bool) (dropped uint64, err error) {
	one := func(uint32) uint64 { return 1 }
	return b.drop(ctx, threads, memoryBytes, one, func(documents int) bool { return !keep(documents) })
}

// DropLocal drops, from each document, the signatures of more than most documents of its site, and
// returns how many it dropped. site returns the number of a document's site, 0 for none. The errors
// are those of KeepFrequencies.
func (b *Builder) DropLocal(ctx context.Context, threads int, memoryBytes uint64, most int,
	site func(doc uint32) uint64) (dropped uint64, err error) {
	return b.drop(ctx, threads, memoryBytes, site, func(documents int) bool { return documents > most })
}

// drop drops, from the documents of each site but 0, the signatures for which wrong returns true,
// given the number of these documents that have one.
func (b *Builder) drop(ctx context.Context, threads int, memoryBytes uint64, site func(doc uint32) uint64,
	wrong func(documents int) bool) (dropped uint64, err error) {
	defer store.CatchFault(&err)()
	if err := b.seal(); err != nil {
		return 0, err
	}
	local := NewBuilder(b.hashes.room) // each signature folded with the site
	defer local.Close()
	b.filter(local, func(doc uint32, hash uint64) (uint64, bool) {
		s := site(doc)
		return signature.Fold(s, hash), s != 0
	})
	if err := local.seal(); err != nil {
		return 0, err
	}
	var drop []uint64
	last, documents := uint64(0), 0
	end := func() {
		if documents > 0 && wrong(documents) {
			drop = append(drop, last)
		}
	}
	o := radix.Options{Mask: leadingMask, Threads: max(threads, 1), Room: int(memoryBytes / sortedBytes)}
	err = radix.WalkKeys(ctx, radix.Chunks{local.hashes.all}, o, func(keys []uint64) error {
		for _, key := range keys {
			if key != last {
				end()
				last, documents = key, 0
			}
			documents++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	end()
	to := NewBuilder(b.hashes.room)
	b.filter(to, func(doc uint32, hash uint64) (uint64, bool) {
		s := site(doc)
		_, found := slices.BinarySearch(drop, signature.Fold(s, hash))
		return hash, s == 0 || !found
	})
	dropped = b.hashes.count - to.hashes.count
	if err := b.Close(); err != nil {
		to.Close()
		return 0, err
	}
	*b = *to
	return dropped, b.seal()
}

// filter adds to a Builder what f returns of the signatures of each document.
func (b *Builder) filter(to *Builder, f func(doc uint32, hash uint64) (_ uint64, keep bool)) {
	var kept []uint64
	for doc := range uint32(len(b.ends)) {
		kept = kept[:0]
		for _, hash := range b.set(doc) {
			if h, keep := f(doc, hash); keep {
				kept = append(kept, h)
			}
		}
		to.Add(kept)
	}
}
