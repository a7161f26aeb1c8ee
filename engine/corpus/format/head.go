package format

import (
	"bytes"
	"context"
	"errors"

	"ndd/engine/corpus/input"
)

// A Head is what the beginning of a file says about its documents.
type Head struct {
	Format Format
	Names  []string // of the fields of the first record, or of the table; nil where documents have none
	Tabs   bool     // CSV: fields are separated by tabs
	End    int64    // CSV: of the record that names the fields, as an offset of the decompressed file
}

// Records reports whether documents are records, to which fields can be added.
func (h *Head) Records() bool {
	return h.Format == JSONL || h.Format == JSON || h.Format == CSV || h.Format == Parquet
}

// HeadOf reads the beginning of a file. The error is the first one that [Units] yields, if that comes first.
func HeadOf(ctx context.Context, f input.File, opts Options) (h Head, err error) {
	opts.Meter, opts.Chosen, opts.Strict = nil, nil, false
	if opts, err = opts.withDefaults(); err != nil {
		return h, err
	}
	s := &stream{ctx: ctx, file: f, opts: opts}
	skips := 0
	s.yield = func(u Unit, err error) bool {
		if err == nil && u.format == JSONL {
			jsonMembers(u.raw, func(name, _ []byte) { s.head.Names = append(s.head.Names, string(name)) })
		}
		skips++
		return err != nil && skips < heldMax
	}
	if err := s.open(nil); err != nil {
		return h, f.Named(err)
	}
	defer s.close()
	err = s.units()
	if errors.Is(err, errStop) {
		err = nil
	}
	return s.head, err
}

// ObjectEnd returns where fields can be added to a unit's JSON object: before the brace that ends it,
// as an offset of the decompressed file. taken is the first of some names that the object has already.
// ok is false where the unit is no JSON object, or an empty one.
func (u Unit) ObjectEnd(names []string) (end int64, taken string, ok bool) {
	if u.format != JSONL {
		return 0, "", false
	}
	n := 0
	isObject, err := jsonMembers(u.raw, func(name, _ []byte) {
		n++
		for _, own := range names {
			if taken == "" && isName(name, own) {
				taken = own
			}
		}
	})
	return u.at + int64(bytes.LastIndexByte(u.raw, '}')), taken, isObject && err == nil && n > 0
}
