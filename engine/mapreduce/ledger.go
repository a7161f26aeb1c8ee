package mapreduce

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// ErrLost is wrapped if records of a part are missing or came more than once.
var ErrLost = errors.New("records were lost or came twice (see 'ndd help cluster')")

// endKey is the key of an end record. It sorts after all other keys of its part, because no other key begins with ~.
const endKey = "~end"

// A count is a number of records and the sum of their hashes modulo 2^64, which does not depend on
// their order.
type count struct {
	Records int64  `json:"records"`
	Sum     uint64 `json:"sum"`
}

func (c *count) add(r record) {
	c.Records++
	c.Sum += r.hash()
}

func (c *count) plus(o count) {
	c.Records += o.Records
	c.Sum += o.Sum
}

// minus returns the difference of two counts.
func (c count) minus(o count) count { return count{c.Records - o.Records, c.Sum - o.Sum} }

// hash returns the record's hash. A tab at the end, which some frameworks add, makes no difference.
func (r record) hash() uint64 {
	h := xxhash.Sum64(r.key)
	return h ^ xxhash.Sum64(r.value)*0x9e3779b97f4a7c15
}

// An end is an end record: the count of a part. Ends of several parts are added up.
//
//	~end	{"parts":1,"records":1532,"sum":10459421653467523888,"recipe":"minwise-5be1a2c4"}
type end struct {
	Parts     int64 `json:"parts"`
	count           // records written
	Unread    count `json:"unread,omitzero"`    // the counts of the inputs' end records, minus the records read
	Inputs    int64 `json:"inputs,omitzero"`    // number of end records read
	Undecided int64 `json:"undecided,omitzero"` // documents that a round of the job dedup has not decided
	Bad       int64 `json:"bad,omitzero"`       // records that maps skipped in this and all earlier steps

	Recipe string `json:"recipe,omitzero"` // recipe of the fingerprints, as recipeName returns it; "" if unknown
	Sketch string `json:"sketch,omitzero"` // version of the sketches, or "none"; "" if unknown

	Documents int64  `json:"documents,omitzero"` // round of the job dedup that wrote the documents; 0: none
	Pairs     int64  `json:"pairs,omitzero"`     // round whose documents the job pairs compared; 0: none
	Job       string `json:"job,omitzero"`       // name of the job of a map; "" in results
}

// add adds the end of another part. The error wraps [ErrRecipe].
func (e *end) add(o end) error {
	e.Parts += o.Parts
	e.count.plus(o.count)
	e.Unread.plus(o.Unread)
	e.Inputs += o.Inputs
	e.Undecided += o.Undecided
	e.Bad += o.Bad
	switch {
	case differ(e.Recipe, o.Recipe):
		return fmt.Errorf("%w: parts are of recipe %s and of recipe %s", ErrRecipe, e.Recipe, o.Recipe)
	case differ(e.Sketch, o.Sketch):
		return fmt.Errorf("%w: parts have sketches of version %s and %s", ErrRecipe, e.Sketch, o.Sketch)
	case differ(e.Documents, o.Documents) || differ(e.Pairs, o.Pairs):
		return fmt.Errorf("%w: parts are of several rounds of the job dedup", ErrLost)
	}
	e.Recipe, e.Job, e.Sketch = cmp.Or(e.Recipe, o.Recipe), cmp.Or(e.Job, o.Job), cmp.Or(e.Sketch, o.Sketch)
	e.Documents, e.Pairs = cmp.Or(e.Documents, o.Documents), cmp.Or(e.Pairs, o.Pairs)
	return nil
}

// differ reports whether two values are known and not the same.
func differ[T comparable](a, b T) bool {
	var unknown T
	return a != unknown && b != unknown && a != b
}

// append appends the value of the end record.
func (e *end) append(dst []byte) []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // numbers and words can be written
	}
	return append(dst, text...)
}

func parseEnd(value []byte) (e end, err error) {
	if err := json.Unmarshal(value, &e); err != nil || e == (end{}) {
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
	if e.Parts == 0 && e.Records == 0 && e.Sum == 0 {
		return fmt.Errorf("%w: %s: %d records arrived, and no end record: its part was cut off, or its records went "+
			"elsewhere", ErrLost, what, arrived.Records)
	}
	if arrived.Records == e.Records {
		return fmt.Errorf("%w: %s: of %d records some are not those that were sent", ErrLost, what, arrived.Records)
	}
	return fmt.Errorf("%w: %s: %d records arrived and %d were sent", ErrLost, what, arrived.Records, e.Records)
}

// checkRead returns an error that wraps [ErrLost] unless all records of inputs with end records
// were read.
func (e *end) checkRead() error {
	if e.Inputs == 0 || e.Unread == (count{}) {
		return nil
	}
	if e.Unread.Records == 0 {
		return fmt.Errorf("%w: the inputs of this job are not the records that the job before wrote", ErrLost)
	}
	if e.Unread.Records < 0 {
		return fmt.Errorf("%w: the inputs of this job have %d records more than their end records say: some end "+
			"records are missing, or a part was given twice", ErrLost, -e.Unread.Records)
	}
	return fmt.Errorf("%w: the inputs of this job lack %d of the records that the job before wrote", ErrLost,
		e.Unread.Records)
}
