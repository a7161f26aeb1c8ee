package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Policy says which document of a cluster is kept. Where it makes no
// difference, the first one in order of the inputs is.
type Policy uint8

// The policies.
const (
	First    Policy = iota // in order of the inputs
	Longest                // text
	Shortest               // text
	Newest                 // by a date in the row, or when the file was modified
	Largest                // value of a field
)

// A Keep is a policy and the field of JSONL lines and CSV records that it goes by.
type Keep struct {
	Policy Policy
	Field  string // Largest: the field; Newest: the field, or "" for the first of TimeFields that there is
}

// TimeFields are where the date of a document is looked for.
var TimeFields = [...]string{"date", "timestamp", "time", "published", "published_at", "crawl_date", "crawled_at", "fetched_at",
	"created", "created_at", "updated", "updated_at", "modified", "last_modified", "WARC-Date", "metadata.date", "metadata.timestamp", "meta.date"}

// ErrNoValue is wrapped where a policy goes by what no document has.
var ErrNoValue = errors.New("no document has a value to choose by")

// ParseKeep returns the policy of first, longest, shortest, newest or the name of a field;
// newest goes by the time field, if one is named.
func ParseKeep(s, timeField string) (Keep, error) {
	words := map[string]Policy{"first": First, "longest": Longest, "shortest": Shortest, "newest": Newest}
	p, ok := words[s]
	switch {
	case s == "":
		return Keep{}, errors.New("must be first, longest, shortest, newest or the name of a field")
	case !ok:
		return Keep{Largest, s}, nil
	case timeField != "" && p != Newest:
		return Keep{}, fmt.Errorf("%s does not go by a time field", s)
	}
	return Keep{p, timeField}, nil
}

// String returns what [ParseKeep] reads.
func (k Keep) String() string {
	if k.Policy == Largest {
		return k.Field
	}
	return [...]string{"first", "longest", "shortest", "newest"}[k.Policy]
}

// fields returns the fields that documents are to be read with.
func (k Keep) fields() []string {
	switch {
	case k.Policy == Largest || k.Policy == Newest && k.Field != "":
		return []string{k.Field}
	case k.Policy == Newest:
		return TimeFields[:]
	}
	return nil
}

// checkPrints returns why a policy cannot choose between documents of fingerprint files, which have
// lengths of texts unless they are raw; nil if it can. The error wraps [ErrNoValue].
func (k Keep) checkPrints(lengths bool) error {
	switch k.Policy {
	case First:
		return nil
	case Longest, Shortest:
		if lengths {
			return nil
		}
		return fmt.Errorf("keep %s: %w: raw fingerprints have no text lengths", k, ErrNoValue)
	}
	return fmt.Errorf("keep %s: %w: fingerprint files have no fields or dates; give the documents", k, ErrNoValue)
}

// prefer returns the order in which documents are kept, nil for that of their rows.
func (c *Corpus) prefer() (func(a, b int) int, error) {
	keep := c.values.keep
	if len(c.prints) == 0 || keep.Policy == First {
		return nil, nil
	}
	if keep.Policy == Longest || keep.Policy == Shortest {
		if len(c.lengths) != len(c.prints) {
			return nil, keep.checkPrints(false)
		}
		if keep.Policy == Longest {
			return func(a, b int) int { return cmp.Compare(c.lengths[b], c.lengths[a]) }, nil
		}
		return func(a, b int) int { return cmp.Compare(c.lengths[a], c.lengths[b]) }, nil
	}
	if len(c.values.keys) != len(c.prints) {
		return nil, keep.checkPrints(true)
	}
	if c.values.missing == len(c.prints) {
		return nil, keep.noValue()
	}
	return func(a, b int) int { return c.values.compare(b, a) }, nil
}

// noValue is the error where no document has what the policy goes by.
func (k Keep) noValue() error {
	what := fmt.Sprintf("there is no field %q with a number or text; the other choices are first, longest, shortest and newest", k.Field)
	if k.Policy == Newest {
		what = fmt.Sprintf("no date was found in any of the fields %s", strings.Join(k.fields(), ", "))
	}
	return fmt.Errorf("keep %s: %w: %s", k, ErrNoValue, what)
}

// Missing returns how many documents have no value that the policy can go by,
// and an example of a value that is no date. They
// are kept last.
func (c *Corpus) Missing() (documents int, noDate string) { return c.values.missing, c.values.noDate }
