package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ndd/engine/corpus/document"
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
var TimeFields = [...]string{"date", "timestamp", "time", "published", "published_at", "crawl_date", "crawled_at",
	"fetched_at",
	"created", "created_at", "updated", "updated_at", "modified", "last_modified", "WARC-Date", "metadata.date",
	"metadata.timestamp", "meta.date"}

// ErrNoValue is wrapped where a policy goes by what no document has.
var ErrNoValue = errors.New("no document has a value to choose by")

// ParseKeep returns the policy of first, longest, shortest, newest, newest:FIELD or the name of a
// field.
func ParseKeep(s string) (Keep, error) {
	words := map[string]Policy{"first": First, "longest": Longest, "shortest": Shortest, "newest": Newest}
	word, field, named := strings.Cut(s, ":")
	p, ok := words[word]
	switch {
	case s == "" || named && p == Newest && field == "":
		return Keep{}, errors.New("must be first, longest, shortest, newest, newest:FIELD or the name of a field")
	case !ok || named && p != Newest:
		return Keep{Largest, s}, nil
	}
	return Keep{p, field}, nil
}

// String returns what [ParseKeep] reads.
func (k Keep) String() string {
	switch {
	case k.Policy == Largest:
		return k.Field
	case k.Field != "":
		return "newest:" + k.Field
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

// byLength reports whether the policy goes by the lengths of texts.
func (k Keep) byLength() bool { return k.Policy == Longest || k.Policy == Shortest }

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
	if c.Len() == 0 || keep.Policy == First {
		return nil, nil
	}
	if keep.byLength() {
		if len(c.lengths) != c.Len() {
			return nil, keep.checkPrints(false)
		}
		if keep.Policy == Longest {
			return func(a, b int) int { return cmp.Compare(c.lengths[b], c.lengths[a]) }, nil
		}
		return func(a, b int) int { return cmp.Compare(c.lengths[a], c.lengths[b]) }, nil
	}
	if len(c.values.keys) != c.Len() {
		return nil, keep.checkPrints(true)
	}
	if c.values.missing == c.Len() {
		return nil, keep.noValue()
	}
	return func(a, b int) int { return c.values.compare(b, a) }, nil
}

// noValue is the error where no document has what the policy goes by.
func (k Keep) noValue() error {
	what := fmt.Sprintf("there is no field %q with a number or text; "+
		"the other choices are first, longest, shortest and newest", k.Field)
	if k.Policy == Newest {
		what = fmt.Sprintf("no date was found in any of the fields %s", strings.Join(k.fields(), ", "))
	}
	return fmt.Errorf("keep %s: %w: %s", k, ErrNoValue, what)
}

// Missing returns how many documents have no value that the policy can go by,
// and an example of a value that is no date. They
// are kept last.
func (c *Corpus) Missing() (documents int, noDate string) { return c.values.missing, c.values.noDate }

// datesLooked is how many documents of a file are looked at for a date before the work.
const datesLooked = 100

// checkDates returns the error that Find would, if none of the first documents of any file has a
// date, so that it comes before hours of reading. It looks at nothing where the field is named, or
// an input can be read only once; what cannot be read is left to the reading.
func (k Keep) checkDates(ctx context.Context, inputs []string, opts document.Options) error {
	if k.Policy != Newest || k.Field != "" || slices.ContainsFunc(inputs, document.ReadOnce) {
		return nil
	}
	opts.ValueFields, opts.Meter, opts.Chosen, opts.Strict = k.fields(), nil, nil, false
	v := values{keep: k}
	for f, err := range document.Files(ctx, inputs) {
		if err == nil {
			err = v.look(ctx, f, opts)
		}
		if _, skipped := errors.AsType[*document.Skip](err); err != nil && !skipped || v.missing < len(v.keys) {
			return nil // said where it is read, or there is a date
		}
	}
	if len(v.keys) == 0 {
		return nil
	}
	return k.noValue()
}

// look takes the values of the first documents of a file.
func (v *values) look(ctx context.Context, f document.File, opts document.Options) error {
	extractor := document.NewExtractor(opts)
	n := 0
	for unit, err := range f.Scan(ctx, opts, nil) {
		if _, skipped := errors.AsType[*document.Skip](err); skipped {
			continue
		}
		if err != nil {
			return err
		}
		if doc, err := extractor.Extract(unit); err == nil {
			v.append(doc.Value, doc.Modified)
		}
		if n++; n == datesLooked {
			return nil
		}
	}
	return nil
}
