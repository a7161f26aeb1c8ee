package lists

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"ndd/engine/copies/postings"
	"ndd/engine/index/radix"
	"ndd/engine/storage/store"
)

// A heading says how much there is in stored lists. It is their last section, in JSON.
type heading struct {
	Documents int    `json:"documents"` // numbers of documents are below this
	Distinct  int    `json:"distinct"`  // sets that are not empty: documents with a rank
	Shared    uint64 `json:"shared"`    // signatures of at least two of these
	Single    uint64 `json:"single"`    // signatures of one
	Postings  uint64 `json:"postings"`  // documents of shared signatures
	Lists     uint64 `json:"lists"`     // different ones
}

// Options configures Write. The zero value is a thread, the system's disk and no limit.
type Options struct {
	Threads int
	Room    postings.Room // memory for sorting, and where temporary files are
}

// Write writes the index of sets as sections whose names begin with name. Sections that are not
// next wait in temporary files. The same sets make the same bytes, whatever the options. The error
// is of ctx, to, or of a temporary file.
func Write(ctx context.Context, to store.Sink, name string, s *postings.Sets, o Options) (err error) {
	defer store.CatchFault(&err)()
	d := rank(s)
	w := &writer{to: to, head: heading{Documents: s.Documents, Distinct: len(d.docs)}, shared: newDictionary(o.Room),
		single: newDictionary(o.Room), known: make([]knownList, knownLists)}
	defer func() { err = errors.Join(err, w.shared.out.Close(), w.single.out.Close()) }()
	to.Section(name + ".lists")
	if err := w.signatures(ctx, s, &d, o); err != nil {
		return err
	}
	return w.sections(name, &d)
}

type writer struct {
	to             store.Sink
	head           heading
	listBytes      uint64
	shared, single dictionaryWriter
	lists          listWriter
	encoded        []byte
	known          []knownList // by the hash of the list
}

// A knownList is a written list: its bytes and its position.
type knownList struct {
	bytes []byte
	at    uint64
}

const (
	knownLists = 1 << 18 // the latest of each hash
	knownBytes = 64      // a longer list is written again
)

// signatures sorts all signatures with their documents and writes the lists.
func (w *writer) signatures(ctx context.Context, s *postings.Sets, d *documents, o Options) error {
	rows := s.Rows(d.docs)
	var hash uint64
	var ranks []uint32
	radixOptions := radix.Options{Mask: 0xffffffff << 32, Threads: max(o.Threads, 1),
		Room: int(min(o.Room.Bytes/postings.SortedBytes, 1<<30))}
	err := radix.WalkRows(ctx, s.Chunks(), radixOptions, func(hashes, at []uint64) error {
		for i, next := range hashes {
			if next != hash && len(ranks) > 0 {
				if err := w.signature(hash, ranks); err != nil {
					return err
				}
				ranks = ranks[:0]
			}
			hash = next
			ranks = append(ranks, rows.Index(at[i]))
		}
		return nil
	})
	if err == nil && len(ranks) > 0 {
		err = w.signature(hash, ranks)
	}
	return err
}

func (w *writer) signature(hash uint64, ranks []uint32) error {
	if len(ranks) == 1 {
		w.head.Single++
		return w.single.add(term{hash, uint64(ranks[0])})
	}
	slices.Sort(ranks)
	w.head.Shared++
	w.head.Postings += uint64(len(ranks))
	at, err := w.list(ranks)
	if err != nil {
		return err
	}
	return w.shared.add(term{hash, at})
}

// list writes a list unless it is already written, and returns its position.
func (w *writer) list(ranks []uint32) (at uint64, err error) {
	w.encoded = w.lists.appendList(w.encoded[:0], ranks)
	known := &w.known[hashOf(w.encoded)%knownLists]
	if slices.Equal(known.bytes, w.encoded) {
		return known.at, nil
	}
	at = w.listBytes
	if len(w.encoded) <= knownBytes {
		known.bytes, known.at = append(known.bytes[:0], w.encoded...), at
	}
	w.head.Lists++
	w.listBytes += uint64(len(w.encoded))
	_, err = w.to.Write(w.encoded)
	return at, err
}

// hashOf is FNV-1a, which is the same on every machine, without the allocation of hash/fnv.
func hashOf(b []byte) (h uint64) {
	h = 14695981039346656037
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// sections writes the sections after the lists.
func (w *writer) sections(name string, d *documents) error {
	for i, x := range []*dictionaryWriter{&w.shared, &w.single} {
		if err := x.flush(); err != nil {
			return err
		}
		section := name + []string{".shared", ".single"}[i]
		w.to.Section(section)
		if err := x.out.End(); err != nil {
			return err
		}
		if _, err := w.to.Write(x.out.All); err != nil {
			return err
		}
		w.to.Section(section + ".index")
		if _, err := w.to.Write(store.Bytes64(x.index)); err != nil {
			return err
		}
	}
	w.to.Section(name + ".documents")
	b := d.append(nil)
	if _, err := w.to.Write(b); err != nil {
		return err
	}
	head, err := json.Marshal(&w.head)
	if err != nil {
		return err
	}
	w.to.Section(name + ".head")
	_, err = w.to.Write(head)
	return err
}
