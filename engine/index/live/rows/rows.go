package rows

import (
	"math"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
)

// A DocID is the number of a document in an index. Documents are numbered from 0 in order of arrival.
type DocID uint64

// NoDoc is the only document of each hit in an index that keeps no documents. Its ID is empty.
const NoDoc DocID = math.MaxUint64

// Max is the maximum number of a document, and of documents in an index.
const Max = 1 << 56

// A Doc is a document to insert.
type Doc struct {
	Fingerprint simhash.Fingerprint
	ID          string        // empty if the document has none or the index keeps no IDs
	Sketch      sketch.Sketch // sketch of its text; zero if it is unknown or the index keeps no sketches

	TTL        time.Duration // time to live, rounded up to seconds; 0 is the index's default; see Forever
	OnConflict OnConflict    // treatment of a taken ID; 0 is the index's default
}

// SameContent reports whether two documents have the same fingerprint and, if both have sketches, the same sketch.
func (d *Doc) SameContent(e *Doc) bool {
	return d.Fingerprint == e.Fingerprint && (d.Sketch == e.Sketch || d.Sketch == sketch.Sketch{} || e.Sketch == sketch.Sketch{})
}

// OnConflict says what happens to a new document whose ID is taken.
type OnConflict int

// The values of OnConflict.
const (
	Replace OnConflict = 1 + iota // the stored document is deleted, and the new one is inserted
	Keep                          // the new document is not inserted
	Refuse                        // the call fails with ErrConflict and inserts nothing
)

// runs assigns a value to each row. It stores runs of rows with the same value or with consecutive values.
type runs[V ~uint64] struct {
	Rows   []uint64 // first row of each run
	Values []V      // value of the first row of each run
	N      uint64   // number of rows
}

// A Run is a range of rows and the value of the first one.
type Run[V ~uint64] struct {
	Value  V
	Row, N uint64
}

// Bytes returns the memory of all runs.
func (r *runs[V]) Bytes() uint64 { return 16 * uint64(len(r.Rows)) }

// begin begins a run at the next row.
func (r *runs[V]) begin(v V) {
	r.Rows = append(r.Rows, r.N)
	r.Values = append(r.Values, v)
}

// runOf returns the run of a row.
func (r *runs[V]) runOf(row uint64) int {
	if len(r.Rows) == 1 {
		return 0
	}
	return sort.Search(len(r.Rows), func(i int) bool { return r.Rows[i] > row }) - 1
}

// end returns the first row after a run.
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

// Numbers are the DocIDs of a segment's rows, in ascending order, as runs of consecutive numbers. Documents keep their
// numbers when a merge drops others. So a segment has one run, and one more for each gap.
//
//	row   0   1   2   3   4        rows  0  3
//	doc   7   8   9  40  41        docs  7 40
type Numbers struct{ runs[DocID] }

// NewNumbers returns the numbers of n rows that begin with first.
func NewNumbers(first DocID, n uint64) (d Numbers) {
	d.Append(first, n)
	return d
}

// Append adds n documents, numbered from first, which must be larger than all existing numbers.
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

// End returns the first number after the last document.
func (d *Numbers) End() DocID {
	if d.N == 0 {
		return 0
	}
	last := len(d.Rows) - 1
	return d.Values[last] + DocID(d.N-d.Rows[last])
}

// Doc returns the document of a row.
func (d *Numbers) Doc(row uint64) DocID {
	i := d.runOf(row)
	return d.Values[i] + DocID(row-d.Rows[i])
}

// Row returns the row of a document. ok is false if there is none.
func (d *Numbers) Row(doc DocID) (row uint64, ok bool) {
	i := sort.Search(len(d.Values), func(i int) bool { return d.Values[i] > doc }) - 1
	if i < 0 {
		return 0, false
	}
	row = d.Rows[i] + uint64(doc-d.Values[i])
	return row, row < d.end(i)
}

// ReadNumbers returns the numbers of n rows from a file. ok is false if they are not valid.
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

// A Time is a time in whole seconds since 1970; 0 means never.
type Time uint64

// momentOf returns t rounded up to a whole second.
func momentOf(t time.Time) Time {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return Time(max(s, 0))
}

// Expired reports whether a document that expires at m has expired for a reader that began at now.
func (m Time) Expired(now Time) bool { return m != 0 && m <= now }

// Expiries are the expiry times of a segment's rows, as runs of rows with the same time. Documents with one time to
// live make at most one run per second.
//
//	row    0   1   2   3   4        rows   0  3
//	       60  60  60  61  61       times 60 61
//
// They are empty if no document expires.
type Expiries struct {
	runs[Time]
	First Time // earliest expiry; 0 if no document expires
	last  Time // latest expiry; 0 if some document never expires
}

// Append adds n rows that expire at the same time.
func (e *Expiries) Append(expiry Time, n uint64) {
	if n == 0 {
		return
	}
	if len(e.Values) == 0 || e.Values[len(e.Values)-1] != expiry {
		if forever := expiry == 0 || e.N > 0 && e.last == 0; forever {
			e.last = 0
		} else {
			e.last = max(e.last, expiry)
		}
		if expiry != 0 && (e.First == 0 || expiry < e.First) {
			e.First = expiry
		}
		e.begin(expiry)
	}
	e.N += n
}

// At returns the expiry of a row.
func (e *Expiries) At(row uint64) Time {
	if e.First == 0 {
		return 0
	}
	return e.Values[e.runOf(row)]
}

// Any reports whether some row has expired for a reader that began at now, and All whether all rows have.
func (e *Expiries) Any(now Time) bool { return e.First.Expired(now) }
func (e *Expiries) All(now Time) bool { return e.N > 0 && e.last.Expired(now) }

// Count returns the number of rows that have expired.
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

// Between calls f with each expiry of the rows from row to row end, and the number of these rows that have it, in
// order.
func (e *Expiries) Between(row, end uint64, f func(expiry Time, n uint64)) {
	if e.First == 0 {
		f(0, end-row)
		return
	}
	for i := e.runOf(row); row < end; i++ {
		stop := min(end, e.end(i))
		f(e.Values[i], stop-row)
		row = stop
	}
}

// ReadExpiries returns the expiry times of n rows from a file. ok is false if they are not valid.
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

// A Moment is a state of an index: readers see the documents and deletions before it.
type Moment struct {
	Clock     DocID  // number of the next document
	Deletions uint64 // number of completed requests to delete
}

// A Deletion identifies what deleted a document: the document that replaces it, or a request to delete.
//
//	bit 63   0: by a document   1: by a request
//	others   its number
type Deletion uint64

const byRequest = 1 << 63

// ReplacedBy returns the deletion of a document by a newer one with the same ID.
func ReplacedBy(doc DocID) Deletion { return Deletion(doc) }

// DeletedBy returns the deletion of a document by a request. Requests are numbered from 1.
func DeletedBy(request uint64) Deletion { return Deletion(request | byRequest) }

// isBefore reports whether a deletion was made before a moment.
func (d Deletion) isBefore(m Moment) bool {
	if d&byRequest != 0 {
		return uint64(d&^byRequest) <= m.Deletions
	}
	return DocID(d) < m.Clock
}

// Tombstones are the deleted documents of a segment or memtable, with their deletions. A reader sees either a document
// or the one that replaces it. All documents of a request to delete vanish at once.
//
// A tombstone takes about 40 bytes until a merge drops its document. Writers hold the lock of the index.
type Tombstones struct {
	n    atomic.Int64 // length of dead, so that readers need no lock if it is 0
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

// Remove undoes a deletion.
func (t *Tombstones) Remove(doc DocID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.dead[doc]; ok {
		delete(t.dead, doc)
		t.n.Add(-1)
	}
}

// Len returns the number of deleted documents.
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
	return ok && d.isBefore(m)
}

// Count calls yield with each document that was deleted before a moment, and counts the calls that return true.
func (t *Tombstones) Count(m Moment, yield func(doc DocID) bool) (n uint64) {
	t.Each(func(doc DocID, d Deletion) {
		if d.isBefore(m) && yield(doc) {
			n++
		}
	})
	return n
}

// Each calls f with each deletion. It blocks new deletions.
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
