package rewrite

import (
	"io"
	"strings"

	"example.org/ndd/engine/corpus/format"
)

// A Verdict says what a copy leaves out of a document. The zero value leaves out nothing.
type Verdict struct {
	Drop bool           // the whole document
	Cuts []format.Range // parts of its text to cut instead

	Note int // number of the document for [Fields].Values; 0: the document is unknown
}

// CutText returns the verdict about a document whose text loses some ranges. The document is dropped if only white
// space would remain.
func CutText(text string, cuts []format.Range) Verdict {
	at, left := int64(0), false
	for _, c := range cuts {
		left = left || strings.TrimSpace(text[at:c.From]) != ""
		at = c.To
	}
	return Verdict{Cuts: cuts, Drop: !left && strings.TrimSpace(text[at:]) == ""}
}

// A Judge decides about the units of one file. One goroutine calls its functions.
type Judge struct {
	// Unit returns the verdict about a unit. It is called with all units of the file, in order.
	Unit func(*format.Extractor, format.Unit) (Verdict, error)

	// Whole is true if the file loses nothing. Its copy has the same bytes if they can be read again.
	Whole bool

	// Missing returns the number of documents of the file that Unit did not get. If it is not 0, the file has changed.
	// Missing is called after the last unit, and may be nil.
	Missing func() int

	// Decision writes a description of the parts that the copy leaves out to a hash, before any unit is read. A
	// finished copy with the same hash is reused. If Decision is nil, copies are neither kept nor reused.
	Decision func(hash io.Writer)
}

// A Report describes the files that could not be copied as the judge decided.
type Report struct {
	Unjudged []string // copied unchanged, because no document could be judged
	Repacked []string // compressed by zstd instead of xz or bzip2
	Lost     []string // parts that could not be read and are in no copy, with the reason
	Uncut    []Uncut  // documents that have all their text, because parts cannot be cut out of their format
	Unnoted  int      // records without the fields that the others got, because they are broken or too large
}

// An Uncut is a number of documents of a file.
type Uncut struct {
	File      string
	Documents int
}

// add adds the report of another file.
func (r *Report) add(file *Report) {
	r.Unjudged = append(r.Unjudged, file.Unjudged...)
	r.Repacked = append(r.Repacked, file.Repacked...)
	r.Lost = append(r.Lost, file.Lost...)
	r.Uncut = append(r.Uncut, file.Uncut...)
	r.Unnoted += file.Unnoted
}
