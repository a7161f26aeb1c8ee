package dedup

import (
	"context"
	"errors"
	"slices"

	"ndd/engine/corpus/document"
)

// datesLooked is how many documents of a file are looked at for a date before the work.
const datesLooked = 100

// checkDates returns the error that Find would, if none of the first documents of any file has a date, so that it comes before hours of
// reading. It looks at nothing where the field is named, or an input can be read only once; what cannot be read is left to the reading.
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
