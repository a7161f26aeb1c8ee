package dedup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/near/source"
)

// Limits of the documents that checkFields reads, in one file and in all files.
const (
	lookedOfFile = 1000
	lookedOfAll  = 20_000
)

// A fieldList is a list of fields. Its value in a document is the value of the first field that the document has.
type fieldList struct {
	fields []string
	isSome func(v format.Value, modified int64) bool // reports whether a value can be used
	none   func() error                              // returns the error if no document has such a value
}

// fieldLists returns the lists of fields that are read: one for each policy with fields, one for the source, and one
// for the URL.
func (o *ReadOptions) fieldLists() (lists []fieldList) {
	hasValue := func(v format.Value, _ int64) bool { return v.Found }
	for _, by := range o.Keep {
		if by.Fields() != nil {
			lists = append(lists, fieldList{by.Fields(), by.HasKey, by.NoValue})
		}
	}
	if o.Source.Field != "" {
		lists = append(lists, fieldList{[]string{o.Source.Field}, hasValue, o.Source.NoValue})
	}
	if len(o.SameURL) > 0 {
		lists = append(lists, fieldList{o.SameURL, hasValue, func() error {
			return source.Error(fmt.Sprintf("same-url: no document has a URL in the field %s", strings.Join(o.SameURL, " or ")))
		}})
	}
	return lists
}

// checkFields reads the first documents of the files. It returns an error if none of them has a value for a list of
// fields, because such an error should not follow hours of reading. It does nothing if an input can be read only once.
// It ignores files that cannot be read.
func checkFields(ctx context.Context, inputs []string, opts format.Options, lists []fieldList) error {
	if len(lists) == 0 || slices.ContainsFunc(inputs, input.ReadOnce) {
		return nil
	}
	// look reads the first documents of a file.
	opts.Meter, opts.Chosen, opts.Strict = nil, nil, false
	extractor := format.NewExtractor(ctx, opts)
	found, remainingDocs, names := make([]bool, len(lists)), 0, []string(nil)
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
				remainingDocs++
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
	// Look into files until each list has a value, or enough documents were read.
	for f, err := range input.Files(ctx, inputs) {
		if err == nil {
			err = look(f)
		}
		if _, skipped := errors.AsType[*input.Skip](err); err != nil && !skipped || remainingDocs >= lookedOfAll ||
			!slices.Contains(found, false) {
			return nil // reading reports the error, or a later document may have the field, or all were found
		}
	}
	// Without any document, reading will report what is wrong.
	if remainingDocs == 0 {
		return nil
	}
	err := lists[slices.Index(found, false)].none()
	if len(names) > 0 {
		err = fmt.Errorf("%w; documents have the fields %s", err, strings.Join(names, ", "))
	}
	return err
}
