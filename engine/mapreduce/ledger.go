package mapreduce

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// ErrLost is what errors wrap of a part whose records did not all arrive, or arrived more than once.
var ErrLost = errors.New("records were lost or came twice")

// endKey is the key of an end record, which comes behind all others of its part: no other key begins so.
const endKey = "~end"

// A count is a number of records and the sum of their hashes, modulo 2^64, which does not depend on their order.
type count struct {
	records int64
	sum     uint64
}

// add counts a record.
func (c *count) add(r record) {
	c.records++
	c.sum += r.hash()
}

// plus adds another count.
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

// An end is what an end record says of a part: how many records of it there are, so that a reader knows whether it
// has all. Ends are added up: those of several parts are one.
//
//	~end	parts=1 records=1532 sum=91c2f0e85d7a6b34 recipe=minwise-5be1a2c4
type end struct {
	parts   int64
	count          // of what was written
	before  count  // what the ends of the inputs said, less what was read of them
	inputs  int64  // ends that were read
	changed int64  // edges that a round changed
	recipe  string // of the fingerprints, in short; "" if it is not known
	job     string // of a map, its name; "" of results
}

// add adds the end of another part. The error wraps [ErrRecipe].
func (e *end) add(o end) error {
	e.parts += o.parts
	e.count.plus(o.count)
	e.before.plus(o.before)
	e.inputs += o.inputs
	e.changed += o.changed
	if e.recipe != "" && o.recipe != "" && e.recipe != o.recipe {
		return fmt.Errorf("%w: parts are of recipe %s and of recipe %s", ErrRecipe, e.recipe, o.recipe)
	}
	if e.recipe == "" {
		e.recipe = o.recipe
	}
	if e.job == "" {
		e.job = o.job
	}
	return nil
}

// append appends the value of the end record.
func (e *end) append(dst []byte) []byte {
	dst = fmt.Appendf(dst, "parts=%d records=%d sum=%016x", e.parts, e.records, e.sum)
	if e.inputs > 0 || e.before != (count{}) {
		dst = fmt.Appendf(dst, " inputs=%d unread=%d unreadsum=%016x", e.inputs, e.before.records, e.before.sum)
	}
	if e.changed > 0 {
		dst = fmt.Appendf(dst, " changed=%d", e.changed)
	}
	if e.recipe != "" {
		dst = append(append(dst, " recipe="...), e.recipe...)
	}
	if e.job != "" {
		dst = append(append(dst, " job="...), e.job...)
	}
	return dst
}

// parseEnd reads the value of an end record.
func parseEnd(value []byte) (e end, err error) {
	bad := func() (end, error) { return end{}, fmt.Errorf("no end record: %.80q", value) }
	for field := range bytes.FieldsSeq(value) {
		name, text, ok := bytes.Cut(field, []byte("="))
		if !ok {
			return bad()
		}
		var to *int64
		switch string(name) {
		case "parts":
			to = &e.parts
		case "records":
			to = &e.records
		case "inputs":
			to = &e.inputs
		case "unread":
			to = &e.before.records
		case "changed":
			to = &e.changed
		case "sum", "unreadsum":
			v, err := strconv.ParseUint(string(text), 16, 64)
			if err != nil {
				return bad()
			}
			if string(name) == "sum" {
				e.sum = v
			} else {
				e.before.sum = v
			}
			continue
		case "recipe":
			e.recipe = string(text)
			continue
		case "job":
			e.job = string(text)
			continue
		default:
			return bad()
		}
		if *to, err = strconv.ParseInt(string(text), 10, 64); err != nil {
			return bad()
		}
	}
	if len(bytes.TrimSpace(value)) == 0 {
		return bad()
	}
	return e, nil
}

// whole returns an error that wraps [ErrLost] unless what arrived is what was sent.
func (e *end) whole(what string, arrived count) error {
	if arrived == e.count {
		return nil
	}
	if e.parts == 0 && e.records == 0 && e.sum == 0 {
		return fmt.Errorf("%w: %s: %d records arrived, and no end record: its part was cut off, or its records went elsewhere", ErrLost, what, arrived.records)
	}
	if arrived.records == e.records {
		return fmt.Errorf("%w: %s: of %d records some are not those that were sent", ErrLost, what, arrived.records)
	}
	return fmt.Errorf("%w: %s: %d records arrived and %d were sent", ErrLost, what, arrived.records, e.records)
}

// readWhole returns an error that wraps [ErrLost] unless everything was read of inputs that have ends.
func (e *end) readWhole() error {
	if e.inputs == 0 || e.before == (count{}) {
		return nil
	}
	if e.before.records == 0 {
		return fmt.Errorf("%w: the inputs of this job are not the records that the job before wrote", ErrLost)
	}
	if e.before.records < 0 {
		return fmt.Errorf("%w: the inputs of this job have %d records more than their end records say: some of these are missing, or a part is there twice", ErrLost, -e.before.records)
	}
	return fmt.Errorf("%w: the inputs of this job lack %d of the records that the job before wrote", ErrLost, e.before.records)
}
