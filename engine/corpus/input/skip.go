package input

import "fmt"

// Reason is why something did not become a document.
type Reason string

// The reasons. Hidden concerns files that a folder happens to hold and that are left out on
// purpose, Again files that are read anyway, NoPage what an archive holds beside pages; these are no
// loss of data, and the others are. A file that the user named, or whose name promises text, and that is none is
// Unreadable.
const (
	Hidden  Reason = "hidden"  // a file or folder in a folder whose name starts with a dot
	Binary  Reason = "binary"  // bytes that are no text
	Special Reason = "special" // a device, pipe, socket or link to no file in a folder
	Again   Reason = "again"   // a link in a folder to a file that is read itself, or by another link
	NoPage  Reason = "no page" // a record of a request, a redirect, an image
	// a file in a folder that cannot be opened or read, or any file from where it is damaged
	Unreadable Reason = "unreadable"
	TooLarge   Reason = "too large"     // longer than Options.MaxDocumentBytes
	Broken     Reason = "broken"        // a line or record that cannot be parsed
	NoText     Reason = "no text field" // a line or record without the text field, or whose text is no string
	// a whole file in a folder none of whose first records has a field that is known to hold the text
	NoFields Reason = "left out"

	DamagedRows Reason = "damaged rows" // rows of a Parquet file, from a place where their row group is damaged to its end
)

// LosesData reports whether Options.Strict turns the reason into an error.
func (r Reason) LosesData() bool { return r != Hidden && r != NoPage && r != Again }

// Skip is one thing that did not become a document. It is an error that a caller may pass over.
type Skip struct {
	Source string // file
	Line   int    // from 1; 0 if it is the whole file
	// where it begins, if it is a WARC record, a value of a JSON file, or what cannot be read of a
	// file: bytes of the decompressed file
	At     int64
	To     int64 // where it ends, if it is a value of a JSON file or a broken WARC record; else 0
	Reason Reason
	Rows   int64 // how many rows are lost with it, from Line on, if it is DamagedRows
	Err    error // what exactly went wrong; may be nil

	// ResumedAt is the offset in the compressed file of the next sound member, whose content
	// continues at At, or 0.
	ResumedAt int64
}

// Error names file, line, reason and cause.
func (s *Skip) Error() string {
	text := fmt.Sprintf("%s: %s", Place(s.Source, s.Line), s.Reason)
	if s.Err != nil {
		text += ": " + s.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (s *Skip) Unwrap() error { return s.Err }

// Place returns file:line, or the file alone where the line is 0.
func Place[N int | int64](source string, line N) string {
	if line == 0 {
		return source
	}
	return fmt.Sprintf("%s:%d", source, line)
}
