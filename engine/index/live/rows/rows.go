package rows

import (
	"math"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/sketch"
)

// A DocID is the ordinal number of a document in an index, from 0 in order of arrival.
type DocID uint64

// NoDoc stands for the documents of a fingerprint in an index that keeps none: a hit has it once.
// Its ID is empty.
const NoDoc DocID = math.MaxUint64

// Max is the largest number of a document, and of documents in an index.
const Max = 1 << 56

// A Doc is a document to insert.
type Doc struct {
	Fingerprint simhash.Fingerprint
	ID          string        // empty for none, and where the index keeps no IDs
	Sketch      sketch.Sketch // of its text; zero where it is not known, and where the index keeps no sketches

	TTL        time.Duration // how long it is kept, to the second above; 0 is as the index has it; see Forever
	OnConflict OnConflict    // what becomes of it when its ID is taken; 0 is as the index has it
}

// SameContent reports whether two documents have the same fingerprint and, where both have one, the
// same sketch.
func (d *Doc) SameContent(e *Doc) bool {
	return d.Fingerprint == e.Fingerprint && (d.Sketch == e.Sketch || d.Sketch == sketch.Sketch{} || e.Sketch == sketch.Sketch{})
}

// OnConflict says what becomes of a document whose ID another document has.
type OnConflict int

// What may become of it.
const (
	Replace OnConflict = 1 + iota // it takes the other's place, which is deleted
	Keep                          // it is not inserted
	Refuse                        // the call fails with ErrConflict and inserts nothing
)

// runs gives each row a value, by runs of rows that have the same one, or consecutive ones.
type runs[V ~uint64] struct {
	Rows   []uint64 // first row of each run
	Values []V      // its value
	N      uint64   // rows of all runs
}

// A Run is some rows, and the value of the first.
type Run[V ~uint64] struct {
	Value  V
	Row, N uint64
}

// Bytes returns the memory of all runs.
func (r *runs[V]) Bytes() uint64 { return 16 * uint64(len(r.Rows)) }

// begin begins a run with the next row.
func (r *runs[V]) begin(v V) {
	r.Rows = append(r.Rows, r.N)
	r.Values = append(r.Values, v)
}

// of returns the run that a row is in.
func (r *runs[V]) of(row uint64) int {
	if len(r.Rows) == 1 {
		return 0
	}
	return sort.Search(len(r.Rows), func(i int) bool { return r.Rows[i] > row }) - 1
}

// end returns the row behind a run.
func (r *runs[V]) end(i int) uint64 {
	if i+1 < len(r.Rows) {
		return r.Rows[i+1]
	}
	return r.N
}

// Runs yields the runs in order.
func (r *runs[V]) Runs(yield func(Run[V]) bool) {
	for i, row := range r.Rows {
		if !yield(Run[V]{r.Values[i], row, r.end(i) - row}) {
			return
		}
	}
}

// Numbers are the DocIDs of a segment's rows, ascending: runs of consecutive ones. Documents keep
// their numbers when those beside them are dropped by a merge, so a segment of which nothing was
// ever dropped has one run, and one more for each gap.
//
//	row   0   1   2   3   4        rows  0  3
//	doc   7   8   9  40  41        docs  7 40
type Numbers struct{ runs[DocID] }

// NewNumbers returns the numbers of n rows that begin with first.
func NewNumbers(first DocID, n uint64) (d Numbers) {
	d.Append(first, n)
	return d
}

// Append adds n documents from number first on, which is beyond all that are there.
func (d *Numbers) Append(first DocID, n uint64) {
	if n == 0 {
		return
	}
	if d.N == 0 || d.End() != first {
		d.begin(first)
	}
	d.N += n
}

// First returns the first document.
func (d *Numbers) First() DocID {
	if d.N == 0 {
		return 0
	}
	return d.Values[0]
}

// End returns the number behind the last document.
func (d *Numbers) End() DocID {
	if d.N == 0 {
		return 0
	}
	last := len(d.Rows) - 1
	return d.Values[last] + DocID(d.N-d.Rows[last])
}

// Doc returns the document of a row.
func (d *Numbers) Doc(row uint64) DocID {
	i := d.of(row)
	return d.Values[i] + DocID(row-d.Rows[i])
}

// Row returns the row of a document; ok is false when it has none.
func (d *Numbers) Row(doc DocID) (row uint64, ok bool) {
	i := sort.Search(len(d.Values), func(i int) bool { return d.Values[i] > doc }) - 1
	if i < 0 {
		return 0, false
	}
	row = d.Rows[i] + uint64(doc-d.Values[i])
	return row, row < d.end(i)
}

// ReadNumbers returns the numbers of n rows read from a file; ok is false when they are not valid.
func ReadNumbers(rows []uint64, docs []DocID, n uint64) (d Numbers, ok bool) {
	if len(rows) != len(docs) || (n == 0) != (len(rows) == 0) || n > 0 && rows[0] != 0 {
		return d, false
	}
	for i := range rows {
		if docs[i] > Max || rows[i] >= n {
			return d, false
		}
		if i > 0 && (rows[i] <= rows[i-1] || docs[i] <= docs[i-1] || uint64(docs[i]-docs[i-1]) <= rows[i]-rows[i-1]) {
			return d, false
		}
	}
	return Numbers{runs[DocID]{rows, docs, n}}, true
}

// A Time is a time in whole seconds since 1970; 0 is never.
type Time uint64

// momentOf returns the first whole second that is not before t.
func momentOf(t time.Time) Time {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return Time(max(s, 0))
}

// Expired reports whether what expires at m has expired for a reader that began at now.
func (m Time) Expired(now Time) bool { return m != 0 && m <= now }

// Expiries say when the documents of a segment's rows expire: runs of rows of one moment. What
// comes with one time to live is one run a second, whatever comes in that second.
//
//	row    0   1   2   3   4        rows   0  3
//	       60  60  60  61  61       times 60 61
//
// They are empty where no document expires.
type Expiries struct {
	runs[Time]
	First Time // when the first document expires; 0 when none does
	last  Time // when the last one does; 0 while one never does
}

// Append adds n rows that expire at one moment.
func (e *Expiries) Append(at Time, n uint64) {
	if n == 0 {
		return
	}
	if len(e.Values) == 0 || e.Values[len(e.Values)-1] != at {
		if forever := at == 0 || e.N > 0 && e.last == 0; forever {
			e.last = 0
		} else {
			e.last = max(e.last, at)
		}
		if at != 0 && (e.First == 0 || at < e.First) {
			e.First = at
		}
		e.begin(at)
	}
	e.N += n
}

// At returns when a row expires.
func (e *Expiries) At(row uint64) Time {
	if e.First == 0 {
		return 0
	}
	return e.Values[e.of(row)]
}

// Any reports whether a reader that began at now sees some row expired, all whether it sees all.
func (e *Expiries) Any(now Time) bool { return e.First.Expired(now) }
func (e *Expiries) All(now Time) bool { return e.N > 0 && e.last.Expired(now) }

// Count returns how many rows have expired.
func (e *Expiries) Count(now Time) (n uint64) {
	if !e.Any(now) {
		return 0
	}
	for r := range e.Runs {
		if r.Value.Expired(now) {
			n += r.N
		}
	}
	return n
}

// Between calls f with when the rows from row to row end expire, and how many of them do then, in
// order.
func (e *Expiries) Between(row, end uint64, f func(at Time, n uint64)) {
	if e.First == 0 {
		f(0, end-row)
		return
	}
	for i := e.of(row); row < end; i++ {
		past := min(end, e.end(i))
		f(e.Values[i], past-row)
		row = past
	}
}

// ReadExpiries makes those of n rows from what a file has; ok is false when they cannot be.
func ReadExpiries(rows []uint64, times []Time, n uint64) (e Expiries, ok bool) {
	if len(rows) != len(times) || n == 0 || len(rows) == 0 || rows[0] != 0 {
		return e, false
	}
	for i := range rows {
		end := n
		if i+1 < len(rows) {
			end = rows[i+1]
		}
		if end <= rows[i] || end > n || times[i] > TimeMax {
			return e, false
		}
		e.Append(times[i], end-rows[i])
	}
	return e, true
}

// TimeMax is the last moment that a file or a record may have: about the year 36,000.
const TimeMax = 1 << 40

// A Moment is a state of an index: readers see the documents and the deletions before it.
type Moment struct {
	Clock     DocID  // number of the next document
	Deletions uint64 // requests to delete that were carried out
}

// A Deletion says when a document was deleted: with the insert of the document that replaces it, or
// by a request to delete.
//
//	bit 63   0: by a document   1: by a request
//	others   its number
type Deletion uint64

const byRequest = 1 << 63

// ReplacedBy is the deletion of a document by one that has its ID.
func ReplacedBy(doc DocID) Deletion { return Deletion(doc) }

// DeletedBy is the deletion of a document by a request, which is counted from 1.
func DeletedBy(request uint64) Deletion { return Deletion(request | byRequest) }

// before reports whether a deletion was made before a moment.
func (d Deletion) before(m Moment) bool {
	if d&byRequest != 0 {
		return uint64(d&^byRequest) <= m.Deletions
	}
	return DocID(d) < m.Clock
}

// Tombstones are the documents of a segment or a memtable that were deleted, and when. A document
// that replaces an earlier one of its ID is seen exactly by those readers who no longer see the
// earlier one. All documents of a request to delete vanish at once.
//
// A tombstone takes about 40 bytes until a merge drops its document. Writers hold the index's lock.
type Tombstones struct {
	n    atomic.Int64 // of them, for readers to see that there are none
	mu   sync.RWMutex
	dead map[DocID]Deletion
}

// Add deletes a document, unless it is deleted already.
func (t *Tombstones) Add(doc DocID, d Deletion) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.dead[doc]; ok {
		return false
	}
	if t.dead == nil {
		t.dead = make(map[DocID]Deletion)
	}
	t.dead[doc] = d
	t.n.Add(1)
	return true
}

// Remove takes a deletion back.
func (t *Tombstones) Remove(doc DocID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.dead[doc]; ok {
		delete(t.dead, doc)
		t.n.Add(-1)
	}
}

// Len returns how many documents are deleted.
func (t *Tombstones) Len() uint64 { return uint64(t.n.Load()) }

// tombstoneBytes is the memory of one deletion in the map.
const tombstoneBytes = 48

// Bytes returns the memory of all deletions.
func (t *Tombstones) Bytes() uint64 { return tombstoneBytes * t.Len() }

// Has reports whether a document was deleted before a moment.
func (t *Tombstones) Has(doc DocID, m Moment) bool {
	if t.n.Load() == 0 {
		return false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	d, ok := t.dead[doc]
	return ok && d.before(m)
}

// Count returns how many documents were deleted before a moment, of those for which yield is true.
func (t *Tombstones) Count(m Moment, yield func(doc DocID) bool) (n uint64) {
	t.Each(func(doc DocID, d Deletion) {
		if d.before(m) && yield(doc) {
			n++
		}
	})
	return n
}

// Each calls f with each of them. No deletion comes meanwhile.
func (t *Tombstones) Each(f func(doc DocID, d Deletion)) {
	if t.n.Load() == 0 {
		return
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for doc, d := range t.dead {
		f(doc, d)
	}
}
