package live

import (
	"encoding/binary"
	"errors"
	"fmt"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/engine/storage/wal"
)

// A record of the log is one change. It is applied as a whole or not at all:
//
//	insert   1 | first document | n | columns | n fingerprints of 8 bytes | n IDs | n sketches | deletions
//	delete   2 | deletions
//	gap      3 | next document number                    (another file has the numbers before it, or nobody)
//	expiring 4 | as an insert | number of runs of documents that expire together | their lengths and times
//
//	columns       1: with IDs; 2: with sketches; 3: with both
//	an ID         its length, its bytes
//	a sketch      its bits, 8 bytes for 64 of them
//	deletions     their number, then each document's number
//
// Numbers without a width are varints. Deletions of an insert are the documents that it replaces.
const (
	recordInsert = 1
	recordDelete = 2
	recordGap    = 3
	recordExpire = 4
)

// Columns of an insert.
const (
	recordIDs      = 1
	recordSketches = 2
)

// A change is a record in memory.
type change struct {
	first      rows.DocID
	docs       []rows.Doc
	expires    []rows.Time // expiry of each document; empty if none expires
	gap        bool        // the change only sets the number of the next document
	delete     []rows.DocID
	replacedBy []rows.DocID // document that replaces each deleted one; not in the record
}

// add appends a document.
func (c *change) add(d rows.Doc, expires rows.Time) {
	if expires != 0 && len(c.expires) == 0 {
		c.expires = append(c.expires, make([]rows.Time, len(c.docs))...)
	}
	if c.docs = append(c.docs, d); len(c.expires) > 0 || expires != 0 {
		c.expires = append(c.expires, expires)
	}
}

func (c *change) append(dst []byte, config *Config) []byte {
	// Write a gap or a deletion, which have one field.
	switch {
	case c.gap:
		return appendUvarints(dst, recordGap, uint64(c.first))
	case len(c.docs) == 0:
		return appendDocIDs(append(dst, recordDelete), c.delete)
	}
	// Write the head of an insert.
	columns := uint64(0)
	if config.IDs {
		columns |= recordIDs
	}
	if config.Sketches {
		columns |= recordSketches
	}
	kind := uint64(recordInsert)
	if len(c.expires) > 0 {
		kind = recordExpire
	}
	dst = appendUvarints(dst, kind, uint64(c.first), uint64(len(c.docs)), columns)
	// Write its columns.
	for i := range c.docs {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(c.docs[i].Fingerprint))
	}
	if config.IDs {
		for i := range c.docs {
			dst = store.AppendText(dst, c.docs[i].ID)
		}
	}
	if config.Sketches {
		for i := range c.docs {
			for _, word := range c.docs[i].Sketch {
				dst = binary.LittleEndian.AppendUint64(dst, word)
			}
		}
	}
	// Write the documents that it replaces, and the expiry of its documents.
	dst = appendDocIDs(dst, c.delete)
	if kind == recordExpire {
		var e rows.Expiries
		for _, expiry := range c.expires {
			e.Append(expiry, 1)
		}
		dst = appendUvarints(dst, uint64(len(e.Rows)))
		for r := range e.Runs {
			dst = appendUvarints(dst, r.N, uint64(r.Value))
		}
	}
	return dst
}

// appendUvarints appends numbers as varints.
func appendUvarints(dst []byte, list ...uint64) []byte {
	for _, v := range list {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}

func appendDocIDs(dst []byte, docs []rows.DocID) []byte {
	return appendUvarints(binary.AppendUvarint(dst, uint64(len(docs))), memory.Cast[uint64](docs)...)
}

// ErrTooMany is wrapped if a call has more documents than fit in one record.
var ErrTooMany = errors.New("too many documents for one call")

// checkRecord refuses documents that do not fit in one record of a log, even without a log.
func checkRecord(docs []rows.Doc, c *Config) error {
	if n := recordBytes(docs, c); n > wal.RecordMax {
		return fmt.Errorf("%w: %d documents take %d bytes, and at most %d are inserted together", ErrTooMany, len(docs), n,
			wal.RecordMax)
	}
	return nil
}

// recordBytes returns an upper limit of the size of the record of an insert.
func recordBytes(docs []rows.Doc, c *Config) int {
	const fixed, eachDoc, eachDeletion, eachExpiry = 40, 8, binary.MaxVarintLen64, 1 + 6
	rows := len(docs)
	n := fixed + rows*(eachDoc+eachDeletion+eachExpiry)
	if c.Sketches {
		n += sketch.Bytes * rows
	}
	if c.IDs {
		n += binary.MaxVarintLen32 * rows
		for i := range docs {
			n += len(docs[i].ID)
		}
	}
	return n
}

var errRecord = errors.New("a record that this version of the program does not know")

// parseChange reads a record. It needs memory in proportion to the record.
func parseChange(record []byte) (c change, err error) {
	r := recordReader{store.Fields(record)}
	defer func() {
		if recover() != nil { // the record contradicts its lengths
			err = fmt.Errorf("%w: cut off", errRecord)
		}
	}()
	switch kind := r.Uvarint(); kind {
	case recordInsert, recordExpire:
		// Check the number of documents against the size before memory is allocated.
		c.first = r.doc()
		n, columns := r.Uvarint(), r.Uvarint()
		if columns > recordIDs|recordSketches || n == 0 || n > uint64(len(r.Fields))/8 || c.first+rows.DocID(n) > rows.Max {
			return c, fmt.Errorf("%w: %d documents in %d bytes", errRecord, n, len(record))
		}
		c.docs = make([]rows.Doc, n)
		// Read the columns.
		for i := range c.docs {
			c.docs[i].Fingerprint = simhash.Fingerprint(r.Word())
		}
		if columns&recordIDs != 0 {
			for i := range c.docs {
				c.docs[i].ID = string(r.Text())
			}
		}
		if columns&recordSketches != 0 {
			for i := range c.docs {
				for j := range c.docs[i].Sketch {
					c.docs[i].Sketch[j] = r.Word()
				}
			}
		}
		c.delete = r.docs()
		if kind == recordExpire {
			c.expires = r.expires(int(n))
		}
	case recordDelete:
		c.delete = r.docs()
	case recordGap:
		c.gap, c.first = true, r.doc()
	default:
		return c, fmt.Errorf("%w: kind %d, perhaps of a newer version", errRecord, kind)
	}
	if len(r.Fields) > 0 {
		return c, fmt.Errorf("%w: %d bytes after its end", errRecord, len(r.Fields))
	}
	return c, nil
}

// A recordReader reads the fields of a record. It panics if they contradict each other.
type recordReader struct{ store.Fields }

// numberMax reads a number, at most limit.
func (r *recordReader) numberMax(limit uint64) uint64 {
	v := r.Uvarint()
	if v > limit {
		panic(errRecord)
	}
	return v
}

func (r *recordReader) doc() rows.DocID { return rows.DocID(r.numberMax(rows.Max)) }

// docs reads a list of documents, nil if it is empty.
func (r *recordReader) docs() []rows.DocID {
	n := r.numberMax(uint64(len(r.Fields)))
	if n == 0 {
		return nil
	}
	list := make([]rows.DocID, n)
	for i := range list {
		list[i] = r.doc()
	}
	return list
}

// expires reads the expiry of n documents.
func (r *recordReader) expires(n int) (list []rows.Time) {
	for runs := r.Uvarint(); runs > 0; runs-- {
		length, expiry := r.numberMax(uint64(n-len(list))), rows.Time(r.numberMax(rows.TimeMax))
		if length == 0 {
			panic(errRecord)
		}
		for range length {
			list = append(list, expiry)
		}
	}
	if len(list) != n {
		panic(errRecord)
	}
	return list
}
