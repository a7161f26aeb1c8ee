package copies

import (
	"fmt"
	"hash/maphash"
)

// OnConflict says what becomes of a document whose ID another document has: one of the index, or one that was added before.
type OnConflict int

const (
	// Replace deletes the other document.
	Replace OnConflict = iota
	// Keep leaves the new document out.
	Keep
	// Refuse ends adding with a [TakenError].
	Refuse
)

// A TakenError says that an ID is taken, where that is to be refused.
type TakenError struct{ ID string }

func (e *TakenError) Error() string { return fmt.Sprintf("ID %q: another document has it", e.ID) }

// takenExamples is how many taken IDs a Report names.
const takenExamples = 5

// taken says where the documents of an index are by their IDs. IDs are told apart by 128 bits of random hashes, so two are taken
// for one with a chance of 1e-26 among a million documents. A document takes about takenBytes.
type taken struct {
	seeds  [2]maphash.Seed
	places map[[2]uint64]place
	twins  map[[2]uint64][]place // other documents of an ID that several have
}

const takenBytes = 64

// A place is a document of a segment.
type place struct{ segment, doc uint32 }

func newTaken() *taken {
	return &taken{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, places: map[[2]uint64]place{}, twins: map[[2]uint64][]place{}}
}

// put says that a document has an ID, and returns those that had it before.
func (t *taken) put(id string, at place) (before []place) {
	key := t.key(id)
	if last, was := t.places[key]; was {
		before = append(t.twins[key], last)
		delete(t.twins, key)
	}
	t.places[key] = at
	return before
}

// keep is put, but those that had the ID before go on having it.
func (t *taken) keep(id string, at place) {
	if before := t.put(id, at); len(before) > 0 {
		t.twins[t.key(id)] = before
	}
}

func (t *taken) has(id string) bool {
	_, ok := t.places[t.key(id)]
	return ok
}

func (t *taken) key(id string) [2]uint64 {
	return [2]uint64{maphash.String(t.seeds[0], id), maphash.String(t.seeds[1], id)}
}

// conflict notes that an ID is taken, and reports whether its document is to be left out.
func (w *IndexWriter) conflict(id string) (leave bool, err error) {
	if !w.taken.has(id) {
		return false, nil
	}
	if w.conflicts == Refuse {
		return true, &TakenError{id}
	}
	r := &w.segment.report
	if r.Taken++; len(r.TakenIDs) < takenExamples {
		r.TakenIDs = append(r.TakenIDs, id)
	}
	return w.conflicts == Keep, nil
}

// fill reads the IDs of an index.
func (t *taken) fill(x *Index) error {
	for at := range x.segments {
		for doc, err := range x.documents(at) {
			if err != nil {
				return err
			}
			t.keep(doc.id, place{uint32(at), doc.number})
		}
	}
	return nil
}
