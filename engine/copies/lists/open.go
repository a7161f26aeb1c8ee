package lists

import (
	"context"

	"ndd/engine/storage/store"
)

// Lists are stored lists.
type Lists struct {
	head           heading
	documents      documents
	lists          store.Section
	shared, single dictionary
}

// Open returns the lists whose sections' names begin with name. The sections must stay unchanged
// while the Lists are used. The error wraps [store.ErrCorrupt].
func Open(from store.Source, name string) (_ *Lists, err error) {
	defer store.CatchFault(&err)()
	l := new(Lists)
	head, err := from.Section(name + ".head")
	if err != nil {
		return nil, err
	}
	if err := head.JSON(&l.head); err != nil {
		return nil, err
	}
	if l.head.Documents < 0 || l.head.Distinct < 0 {
		return nil, head.Corrupt(0, "a negative number of documents")
	}
	docs, err := from.Section(name + ".documents")
	if err != nil {
		return nil, err
	}
	if l.documents, err = openDocuments(docs, uint64(l.head.Distinct), uint64(l.head.Documents)); err != nil {
		return nil, err
	}
	if l.lists, err = from.Section(name + ".lists"); err != nil {
		return nil, err
	}
	if l.shared, err = openDictionary(from, name+".shared", l.head.Shared); err != nil {
		return nil, err
	}
	if l.single, err = openDictionary(from, name+".single", l.head.Single); err != nil {
		return nil, err
	}
	return l, nil
}

// Documents returns how many documents the lists are of, those without a signature included.
func (l *Lists) Documents() int { return l.head.Documents }

// Check reads all signatures and lists, and compares them with the documents: each must be as large
// as it is said to be.
func (l *Lists) Check(ctx context.Context) (err error) {
	defer store.CatchFault(&err)()
	sizes := make([]uint32, len(l.documents.sizes))
	if err := l.postings(ctx, func(rank uint32, _ uint64) error {
		sizes[rank]++
		return nil
	}); err != nil {
		return err
	}
	for rank, n := range sizes {
		if want := l.documents.sizes[rank]; n != want {
			return l.lists.Corrupt(0, "document %d has %d signatures, not %d", l.documents.docs[rank], n, want)
		}
	}
	return nil
}

// postings calls yield with every signature and each rank that has it: those of one document first.
func (l *Lists) postings(ctx context.Context, yield func(rank uint32, hash uint64) error) error {
	err := l.walk(ctx, &l.single, func(t term) error {
		if n := len(l.documents.docs); t.value >= uint64(n) {
			return l.single.data.Corrupt(0, "a signature of document %d of %d", t.value, n)
		}
		return yield(uint32(t.value), t.hash)
	})
	if err != nil {
		return err
	}
	var ranks []uint32
	return l.walk(ctx, &l.shared, func(t term) (err error) {
		if ranks, err = l.appendList(ranks[:0], t.value); err != nil {
			return err
		}
		for _, rank := range ranks {
			if err := yield(rank, t.hash); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *Lists) walk(ctx context.Context, d *dictionary, yield func(term) error) error {
	var terms []term
	for i := range d.blocks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if terms, err = d.appendTerms(terms[:0], i); err != nil {
			return err
		}
		for _, t := range terms {
			if err := yield(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Lists) list(at uint64) (list, error) {
	x, ok := listAt(l.lists.Data, at, len(l.documents.docs))
	if !ok {
		return x, l.lists.Corrupt(at, "no list")
	}
	return x, nil
}

// appendList appends the ranks of the list at a place.
func (l *Lists) appendList(dst []uint32, at uint64) ([]uint32, error) {
	x, err := l.list(at)
	if err != nil {
		return dst, err
	}
	from := len(dst)
	for b := range x.all() {
		var ok bool
		if dst, ok = b.appendRanks(dst, len(l.documents.docs)); !ok {
			return dst, l.lists.Corrupt(at, "a list that lies")
		}
	}
	if len(dst)-from != x.count {
		return dst, l.lists.Corrupt(at, "a list that ends early")
	}
	return dst, nil
}
