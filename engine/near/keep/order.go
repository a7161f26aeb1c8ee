// Package keep says which document of several is kept: the first, the longest, the newest, the one with the largest
// value of a field, and so on. An [Order] is a list of such policies. A [Column] has the value of each document
// for one of them, 8 bytes each, and compares documents by it.
package keep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Policy says which document of a cluster is kept. If documents are equal under the policy, the first one in order of
// the inputs is kept.
type Policy uint8

// The policies.
const (
	First    Policy = iota // the first in order of the inputs
	Longest                // the longest text
	Shortest               // the shortest text
	Newest                 // a field of TimeFields or another one, or the time of modification of the file
	Largest                // value of a field
	Source                 // the first in the order of the sources
)

// A By is a policy and the field that has its values.
type By struct {
	Policy Policy
	Field  string // Largest: the field; Newest: the field, or "" for the first of TimeFields that there is
}

// An Order is an order of preference: by the first policy, among equal documents by the second, and so on.
type Order []By

// TimeFields are the fields that may have the date of a document.
var TimeFields = [...]string{"date", "timestamp", "time", "published", "published_at", "crawl_date", "crawled_at",
	"fetched_at",
	"created", "created_at", "updated", "updated_at", "modified", "last_modified", "WARC-Date", "metadata.date",
	"metadata.timestamp", "meta.date"}

// ErrNoValue is wrapped by the error for a policy that needs a value which no document has.
var ErrNoValue = errors.New("no document has a value to choose by")

// policies are the words for policies. Largest has none.
var policies = [...]string{"first", "longest", "shortest", "newest", "", "source"}

// Parse reads a list of policies, separated by commas, such as source,longest,newest. The policies are first, longest,
// shortest, newest, newest:FIELD, source and names of fields.
func Parse(s string) (o Order, err error) {
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		word, field, named := strings.Cut(name, ":")
		i := slices.Index(policies[:], word)
		b := By{Largest, name}
		switch {
		case name == "" || named && word == policies[Newest] && field == "":
			return nil, errors.New("must be first, longest, shortest, newest, newest:FIELD, source or the name of a field, " +
				"or several of them, separated by commas")
		case i >= 0 && (!named || Policy(i) == Newest):
			b = By{Policy(i), field}
		}
		switch {
		case slices.Contains(o, b):
			return nil, fmt.Errorf("%s: %s is listed twice", s, name)
		case len(o) > 0 && o[len(o)-1].Policy == First:
			return nil, fmt.Errorf("%s: %s makes no difference, since first tells any two documents apart", s, name)
		case b.Policy == Shortest && o.has(Longest) || b.Policy == Longest && o.has(Shortest):
			return nil, fmt.Errorf("%s: longest and shortest contradict each other", s)
		}
		o = append(o, b)
	}
	return o, nil
}

func (o Order) has(p Policy) bool {
	return slices.ContainsFunc(o, func(b By) bool { return b.Policy == p })
}

// String returns the list that [Parse] reads.
func (o Order) String() string {
	var words []string
	for _, b := range o {
		words = append(words, b.String())
	}
	return strings.Join(words, ",")
}

// String returns a word of a list.
func (b By) String() string {
	switch {
	case b.Policy == Largest:
		return b.Field
	case b.Field != "":
		return "newest:" + b.Field
	}
	return policies[b.Policy]
}

// Fields returns the fields whose first value in a document is the one of this policy, nil for a policy without
// fields.
func (b By) Fields() []string {
	switch {
	case b.Policy == Largest || b.Policy == Newest && b.Field != "":
		return []string{b.Field}
	case b.Policy == Newest:
		return TimeFields[:]
	}
	return nil
}

// CheckPrints returns an error if a policy needs values that fingerprint files do not have. They have lengths of
// texts unless they are raw. The error wraps [ErrNoValue].
func (o Order) CheckPrints(lengths bool) error {
	for _, b := range o {
		switch {
		case b.Fields() != nil:
			return fmt.Errorf("keep %s: %w: fingerprint files have no fields or dates; give the documents", o, ErrNoValue)
		case (b.Policy == Longest || b.Policy == Shortest) && !lengths:
			return fmt.Errorf("keep %s: %w: raw fingerprints have no text lengths", o, ErrNoValue)
		}
	}
	return nil
}

// NoValue returns the error for a policy whose value no document has. It wraps [ErrNoValue].
func (b By) NoValue() error {
	problem := fmt.Sprintf("there is no field %q with a number or text; "+
		"the other choices are first, longest, shortest, newest and source", b.Field)
	if b.Policy == Newest {
		problem = fmt.Sprintf("no date was found in any of the fields %s", strings.Join(b.Fields(), ", "))
	}
	return fmt.Errorf("keep %s: %w: %s", b, ErrNoValue, problem)
}
