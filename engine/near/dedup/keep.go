package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/input"
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
	Source                 // by [Sources.Prefer]
)

// A By is a policy and the field of JSONL lines and CSV records that it goes by.
type By struct {
	Policy Policy
	Field  string // Largest: the field; Newest: the field, or "" for the first of TimeFields that there is
}

// A Keep is an order of documents: by the first policy, where that makes no difference by the second,
// and so on.
type Keep []By

// TimeFields are where the date of a document is looked for.
var TimeFields = [...]string{"date", "timestamp", "time", "published", "published_at", "crawl_date", "crawled_at",
	"fetched_at",
	"created", "created_at", "updated", "updated_at", "modified", "last_modified", "WARC-Date", "metadata.date",
	"metadata.timestamp", "meta.date"}

// ErrNoValue is wrapped where a policy goes by what no document has.
var ErrNoValue = errors.New("no document has a value to choose by")

// policies are the words for policies. Largest has none.
var policies = [...]string{"first", "longest", "shortest", "newest", "", "source"}

// ParseKeep returns the policies of a list such as source,longest,newest: first, longest, shortest,
// newest, newest:FIELD, source and names of fields, separated by commas.
func ParseKeep(s string) (k Keep, err error) {
	for one := range strings.SplitSeq(s, ",") {
		one = strings.TrimSpace(one)
		word, field, named := strings.Cut(one, ":")
		i := slices.Index(policies[:], word)
		b := By{Largest, one}
		switch {
		case one == "" || named && word == policies[Newest] && field == "":
			return nil, errors.New("must be first, longest, shortest, newest, newest:FIELD, source or the name of a field, " +
				"or several of them, separated by commas")
		case i >= 0 && (!named || Policy(i) == Newest):
			b = By{Policy(i), field}
		}
		switch {
		case slices.Contains(k, b):
			return nil, fmt.Errorf("%s: %s is there twice", s, one)
		case len(k) > 0 && k[len(k)-1].Policy == First:
			return nil, fmt.Errorf("%s: %s makes no difference, since first tells any two documents apart", s, one)
		case b.Policy == Shortest && k.has(Longest) || b.Policy == Longest && k.has(Shortest):
			return nil, fmt.Errorf("%s: longest and shortest contradict each other", s)
		}
		k = append(k, b)
	}
	return k, nil
}

func (k Keep) has(p Policy) bool {
	return slices.ContainsFunc(k, func(b By) bool { return b.Policy == p })
}

// String returns what [ParseKeep] reads.
func (k Keep) String() string {
	var words []string
	for _, b := range k {
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

// fields returns the fields of which documents are to have one for this policy, nil if it goes by none.
func (b By) fields() []string {
	switch {
	case b.Policy == Largest || b.Policy == Newest && b.Field != "":
		return []string{b.Field}
	case b.Policy == Newest:
		return TimeFields[:]
	}
	return nil
}

// checkPrints returns why a policy cannot choose between documents of fingerprint files, which have
// lengths of texts unless they are raw; nil if all can. The error wraps [ErrNoValue].
func (k Keep) checkPrints(lengths bool) error {
	for _, b := range k {
		switch {
		case b.fields() != nil:
			return fmt.Errorf("keep %s: %w: fingerprint files have no fields or dates; give the documents", k, ErrNoValue)
		case (b.Policy == Longest || b.Policy == Shortest) && !lengths:
			return fmt.Errorf("keep %s: %w: raw fingerprints have no text lengths", k, ErrNoValue)
		}
	}
	return nil
}

// prefer returns the order in which documents are kept, nil for that of their rows.
func (c *Corpus) prefer() (func(a, b int) int, error) {
	var orders []func(a, b int) int
	if c.Len() == 0 {
		return nil, nil
	}
	s := &c.sources
	s.rank()
	if len(s.safe) > 0 {
		orders = append(orders, func(a, b int) int { return cmp.Compare(s.safe.bit(b), s.safe.bit(a)) })
	}
	n := 0 // of c.values
	for _, by := range c.o.Keep {
		switch by.Policy {
		case First:
		case Source:
			orders = append(orders, s.prefer)
		default:
			v := &c.values[n]
			n++
			if v.keys.Len() != c.Len() {
				return nil, c.o.Keep.checkPrints(by.fields() != nil)
			}
			if v.missing == c.Len() {
				return nil, by.noValue()
			}
			orders = append(orders, func(a, b int) int { return v.compare(b, a) })
		}
	}
	switch len(orders) {
	case 0:
		return nil, nil
	case 1:
		return orders[0], nil
	}
	return func(a, b int) int {
		for _, order := range orders {
			if c := order(a, b); c != 0 {
				return c
			}
		}
		return 0
	}, nil
}

// noValue is the error where no document has what a policy goes by.
func (b By) noValue() error {
	what := fmt.Sprintf("there is no field %q with a number or text; "+
		"the other choices are first, longest, shortest, newest and source", b.Field)
	if b.Policy == Newest {
		what = fmt.Sprintf("no date was found in any of the fields %s", strings.Join(b.fields(), ", "))
	}
	return fmt.Errorf("keep %s: %w: %s", b, ErrNoValue, what)
}

// Missing returns the policies that go by a value which some documents lack. These are ranked last.
func (c *Corpus) Missing() (list []Missing) {
	for i := range c.values {
		if v := &c.values[i]; v.missing > 0 && v.missing < c.Len() {
			list = append(list, Missing{v.by, v.missing, v.noDate})
		}
	}
	return list
}

// Missing says how many documents have no value that a policy can go by.
type Missing struct {
	By
	Documents int
	NoDate    string // an example of a value that is no date
}

// How many documents are looked at, of a file and of all, before the work.
const (
	lookedOfFile = 1000
	lookedOfAll  = 20_000
)

// A wanted is a list of fields, of the first of which a document has a value for some purpose.
type wanted struct {
	fields []string
	isSome func(v format.Value, modified int64) bool // whether a value serves that
	none   func() error                              // of no document that has one
}

// wanted returns the lists of fields that documents are read with: one for each policy that goes by fields, that
// of the source, and that of the URL.
func (o *ReadOptions) wanted() (lists []wanted) {
	found := func(v format.Value, _ int64) bool { return v.Found }
	for _, by := range o.Keep {
		if by.fields() != nil {
			lists = append(lists, wanted{by.fields(), func(v format.Value, modified int64) bool {
				key, _ := by.key(v, 0, modified)
				return key != keyNone
			}, by.noValue})
		}
	}
	if o.Source.Field != "" {
		lists = append(lists, wanted{[]string{o.Source.Field}, found, o.Source.noValue})
	}
	if len(o.SameURL) > 0 {
		lists = append(lists, wanted{o.SameURL, found, o.noURL})
	}
	return lists
}

// checkFields returns the error of a list of fields that none of the first documents of any file has, so that
// it comes before hours of reading. It looks at nothing where an input can be read only once; what
// cannot be read is left to the reading.
func checkFields(ctx context.Context, inputs []string, opts format.Options, lists []wanted) error {
	if len(lists) == 0 || slices.ContainsFunc(inputs, input.ReadOnce) {
		return nil
	}
	opts.Meter, opts.Chosen, opts.Strict = nil, nil, false
	extractor := format.NewExtractor(ctx, opts)
	found, looked, names := make([]bool, len(lists)), 0, []string(nil)
	look := func(f input.File) error {
		n := 0
		for unit, err := range format.Units(ctx, f, opts, nil) {
			if _, skipped := errors.AsType[*input.Skip](err); skipped {
				continue
			}
			if err != nil {
				return err
			}
			if len(names) == 0 {
				names = unit.FieldNames()
			}
			if doc, err := extractor.Borrow(unit); err == nil {
				looked++
				for i, w := range lists {
					found[i] = found[i] || w.isSome(valueAt(doc.Values, i), doc.Modified)
				}
			}
			if n++; n == lookedOfFile || !slices.Contains(found, false) {
				return nil
			}
		}
		return nil
	}
	for f, err := range input.Files(ctx, inputs) {
		if err == nil {
			err = look(f)
		}
		if _, skipped := errors.AsType[*input.Skip](err); err != nil && !skipped || looked >= lookedOfAll ||
			!slices.Contains(found, false) {
			return nil // said where it is read, or a later document may have the field, or all are there
		}
	}
	if looked == 0 {
		return nil
	}
	err := lists[slices.Index(found, false)].none()
	if len(names) > 0 {
		err = fmt.Errorf("%w; documents have the fields %s", err, strings.Join(names, ", "))
	}
	return err
}
