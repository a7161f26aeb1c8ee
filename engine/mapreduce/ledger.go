package mapreduce

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// ErrLost is wrapped if records of a part are missing or came more than once.
var ErrLost = errors.New("records were lost or came twice (see 'ndd help cluster')")

// endKey is the key of an end record. It sorts after all other keys of its part, because no other key begins with ~.
const endKey = "~end"

// A count is a number of records and the sum of their hashes modulo 2^64, which does not depend on
// their order.
type count struct {
	records int64
	sum     uint64
}

func (c *count) add(r record) {
	c.records++
	c.sum += r.hash()
}

func (c *count) plus(o count) {
	c.records += o.records
	c.sum += o.sum
}

// minus returns the difference of two counts.
func (c count) minus(o count) count { return count{c.records - o.records, c.sum - o.sum} }

// hash returns the record's hash. A tab at the end, which some frameworks add, makes no difference.
func (r record) hash() uint64 {
	h := xxhash.Sum64(r.key)
	return h ^ xxhash.Sum64(r.value)*0x9e3779b97f4a7c15
}

// An end is an end record: the count of a part. Ends of several parts are added up.
//
//	~end	parts=1 records=1532 sum=91c2f0e85d7a6b34 recipe=minwise-5be1a2c4
type end struct {
	parts     int64
	count            // records written
	unread    count  // the counts of the inputs' end records, minus the records read
	inputs    int64  // number of end records read
	undecided int64  // documents that a round of the job dedup has not decided
	bad       int64  // records that maps skipped in this and all earlier steps
	recipe    string // recipe of the fingerprints, as recipeName returns it; "" if unknown
	sketch    string // version of the sketches, or "none"; "" if unknown

	documents int64  // round of the job dedup that wrote the documents; 0: none
	pairs     int64  // round whose documents the job pairs compared; 0: none
	job       string // name of the job of a map; "" in results
}

// add adds the end of another part. The error wraps [ErrRecipe].
func (e *end) add(o end) error {
	e.parts += o.parts
	e.count.plus(o.count)
	e.unread.plus(o.unread)
	e.inputs += o.inputs
	e.undecided += o.undecided
	e.bad += o.bad
	switch {
	case differ(e.recipe, o.recipe):
		return fmt.Errorf("%w: parts are of recipe %s and of recipe %s", ErrRecipe, e.recipe, o.recipe)
	case differ(e.sketch, o.sketch):
		return fmt.Errorf("%w: parts have sketches of version %s and %s", ErrRecipe, e.sketch, o.sketch)
	case differ(e.documents, o.documents) || differ(e.pairs, o.pairs):
		return fmt.Errorf("%w: parts are of several rounds of the job dedup", ErrLost)
	}
	e.recipe, e.job, e.sketch = cmp.Or(e.recipe, o.recipe), cmp.Or(e.job, o.job), cmp.Or(e.sketch, o.sketch)
	e.documents, e.pairs = cmp.Or(e.documents, o.documents), cmp.Or(e.pairs, o.pairs)
	return nil
}

// differ reports whether two values are known and not the same.
func differ[T comparable](a, b T) bool {
	var unknown T
	return a != unknown && b != unknown && a != b
}

// fields returns the fields of the end record in order, and which of them append writes.
func (e *end) fields() []endField {
	read := e.inputs > 0 || e.unread != (count{})
	return []endField{
		{"parts", &e.parts, true}, {"records", &e.records, true}, {"sum", &e.sum, true},
		{"inputs", &e.inputs, read}, {"unread", &e.unread.records, read}, {"unreadsum", &e.unread.sum, read},
		{"undecided", &e.undecided, e.undecided > 0}, {"bad", &e.bad, e.bad > 0}, {"documents", &e.documents, e.documents > 0}, {"pairs", &e.pairs, e.pairs > 0},
		{"recipe", &e.recipe, e.recipe != ""}, {"sketch", &e.sketch, e.sketch != ""}, {"job", &e.job, e.job != ""},
	}
}

// An endField is a field of an end record: a number, a sum in hexadecimal digits or a word.
type endField struct {
	name    string
	value   any // *int64, *uint64 or *string
	written bool
}

// append appends the value of the end record.
func (e *end) append(dst []byte) []byte {
	first := len(dst)
	for _, f := range e.fields() {
		if !f.written {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ' ')
		}
		dst = append(append(dst, f.name...), '=')
		switch v := f.value.(type) {
		case *int64:
			dst = strconv.AppendInt(dst, *v, 10)
		case *uint64:
			dst = fmt.Appendf(dst, "%016x", *v)
		case *string:
			dst = append(dst, *v...)
		}
	}
	return dst
}

func parseEnd(value []byte) (e end, err error) {
	fields, n := e.fields(), 0
	for text := range bytes.FieldsSeq(value) {
		name, text, ok := strings.Cut(string(text), "=")
		i := slices.IndexFunc(fields, func(f endField) bool { return f.name == name })
		if !ok || i < 0 {
			err = errEnd
			break
		}
		switch v := fields[i].value.(type) {
		case *int64:
			*v, err = strconv.ParseInt(text, 10, 64)
		case *uint64:
			*v, err = strconv.ParseUint(text, 16, 64)
		case *string:
			*v = text
		}
		if n++; err != nil {
			break
		}
	}
	if err != nil || n == 0 {
		return end{}, fmt.Errorf("%w: %.80q", errEnd, value)
	}
	return e, nil
}

var errEnd = errors.New("no end record")

// checkWhole returns an error that wraps [ErrLost] unless exactly the sent records arrived.
func (e *end) checkWhole(what string, arrived count) error {
	if arrived == e.count {
		return nil
	}
	if e.parts == 0 && e.records == 0 && e.sum == 0 {
		return fmt.Errorf("%w: %s: %d records arrived, and no end record: its part was cut off, or its records went "+
			"elsewhere", ErrLost, what, arrived.records)
	}
	if arrived.records == e.records {
		return fmt.Errorf("%w: %s: of %d records some are not those that were sent", ErrLost, what, arrived.records)
	}
	return fmt.Errorf("%w: %s: %d records arrived and %d were sent", ErrLost, what, arrived.records, e.records)
}

// checkRead returns an error that wraps [ErrLost] unless all records of inputs with end records
// were read.
func (e *end) checkRead() error {
	if e.inputs == 0 || e.unread == (count{}) {
		return nil
	}
	if e.unread.records == 0 {
		return fmt.Errorf("%w: the inputs of this job are not the records that the job before wrote", ErrLost)
	}
	if e.unread.records < 0 {
		return fmt.Errorf("%w: the inputs of this job have %d records more than their end records say: some end "+
			"records are missing, or a part was given twice", ErrLost, -e.unread.records)
	}
	return fmt.Errorf("%w: the inputs of this job lack %d of the records that the job before wrote", ErrLost,
		e.unread.records)
}
