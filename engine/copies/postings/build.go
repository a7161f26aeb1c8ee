package postings

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
)

// errRoom says that an index has more postings than there is room for.
var errRoom = errors.New("no room for all postings")

// A build is an index under way.
type build struct {
	slicing
	index    *Index
	source   source
	scatter  *scatter
	grouped  []grouped     // by partition
	postings atomic.Uint64 // of all of them
}

// index returns the index of some documents, or errRoom.
func (b *Builder) index(ctx context.Context, s slicing) (_ *Index, err error) {
	w := &build{slicing: s, index: &Index{docs: s.docs}}
	w.source, w.index.sizes = b.source(s.docs, s.repeated)
	defer func() {
		w.scatter.free()
		if err != nil {
			w.index.numbers.free()
		}
	}()
	if err := w.group(ctx); err != nil {
		return nil, err
	}
	if err := w.lists(); err != nil {
		return nil, err
	}
	if err := w.sets(ctx); err != nil {
		return nil, err
	}
	return w.index, nil
}

// group finds the signatures that the index has, and the documents of each, partition by partition.
func (w *build) group(ctx context.Context) error {
	room := uint64(roundSize)
	if w.memory > 0 {
		room = min(room, w.memory/scatterShare/scatteredBytes)
	}
	var err error
	if w.scatter, err = newScatter(ctx, w.source, w.threads, room); err != nil {
		return err
	}
	least := uint32(2)
	if w.single {
		least = 1
	}
	groupers := make([]grouper, w.threads)
	for t := range groupers {
		groupers[t] = grouper{least: least, frequent: w.frequent, lookups: w.single}
	}
	w.grouped = make([]grouped, len(w.scatter.sizes))
	return w.scatter.rounds(ctx, func(thread, partition int, hashes []uint64, ranks []uint32) error {
		g, err := groupers[thread].group(hashes, ranks)
		w.grouped[partition] = g
		postings := w.postings.Add(uint64(len(g.ranks)))
		switch {
		case err != nil:
			return err
		case postings > math.MaxUint32:
			return ErrTooMany
		case w.most > 0 && postings > w.most:
			return errRoom
		}
		return nil
	})
}

// lists numbers the signatures, the rarest first, equal ones by partition, and those last that find no candidates, and puts their documents
// in order of the numbers.
func (w *build) lists() (err error) {
	x := w.index
	all := 0
	classes := make([]class, 2) // by documents of a signature
	for _, g := range w.grouped {
		all += len(g.counts)
		x.common += g.rare
		for _, count := range g.counts[:g.rare] {
			for len(classes) <= int(count) {
				classes = append(classes, make([]class, len(classes))...)
			}
			classes[count].number++
		}
	}
	// In the heap, which has most likely been larger before: memory that the system has to clear costs more than the pages' size saves.
	x.lists = csr{make([]uint32, all), make([]uint32, w.postings.Load())}
	if w.single {
		if x.numbers, err = newNumbers(all, w.lasting); err != nil {
			return err
		}
	}
	next := class{}
	for count := range classes {
		signatures := classes[count].number
		classes[count] = next
		next.number += signatures
		next.at += signatures * uint64(count)
	}
	for p, g := range w.grouped {
		ranks := g.ranks
		for i, count := range g.counts {
			to := &next
			if i < g.rare {
				to = &classes[count]
			}
			copy(x.lists.values[to.at:], ranks[:count])
			ranks = ranks[count:]
			to.at += uint64(count)
			x.lists.ends[to.number] = uint32(to.at)
			to.number++
			if w.single {
				*x.numbers.find(g.hashes[i]) = slot{g.hashes[i], to.number}
			}
		}
		w.grouped[p] = grouped{}
	}
	return nil
}

// A class is the signatures of one number of documents.
type class struct {
	number uint64 // of the next signature
	at     uint64 // where its documents go
}
