package input

import "fmt"

// Reason is why something did not become a document.
type Reason string

// The reasons. Hidden, Again and NoPage are no loss of data: hidden files in folders, files that are read anyway, and
// archive records that are no pages. All others are. If a file is not text, the reason is Unreadable if the user named
// it or its name promises text.
const (
	Hidden  Reason = "hidden"  // a file or folder in a folder whose name starts with a dot
	Binary  Reason = "binary"  // bytes that are no text
	Special Reason = "special" // a device, pipe or socket in a folder, or a link in a folder that leads to no file
	Again   Reason = "again"   // a link in a folder to a file that is read anyway, or through another link
	NoPage  Reason = "no page" // a record of a request, a redirect, an image
	// a file in a folder that cannot be opened or read, or any file from where it is damaged
	Unreadable Reason = "unreadable"
	TooLarge   Reason = "too large"     // longer than Options.MaxDocumentBytes
	Broken     Reason = "broken"        // a line or record that cannot be parsed
	NoText     Reason = "no text field" // a line or record without the text field, or whose text is no string
	// a whole file in a folder: no field of its first records has a name that is known for texts
	NoFields Reason = "left out"

	DamagedRows Reason = "damaged rows" // rows of a Parquet file, from the damaged position to the end of the row group
)

// LosesData reports whether Options.Strict turns the reason into an error.
func (r Reason) LosesData() bool { return r != Hidden && r != NoPage && r != Again }

// Skip is one thing that did not become a document. It is an error that a caller may pass over.
type Skip struct {
	Source string // file
	Line   int    // line or row, from 1; 0 if the whole file is skipped
	// offset in the decompressed file at which it begins, if it is a WARC record, a value of a JSON file, or the
	// unreadable part of a file
	Offset int64
	End    int64 // offset of its end, if it is a value of a JSON file or a broken WARC record; else 0
	Reason Reason
	Rows   int64 // DamagedRows: number of lost rows from Line on
	Err    error // cause; may be nil

	// ResumedAt is the offset in the compressed file of the next intact member, whose content continues at Offset,
	// or 0.
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

// Place returns file:line, or only the file if the line is 0.
func Place[N int | int64](source string, line N) string {
	if line == 0 {
		return source
	}
	return fmt.Sprintf("%s:%d", source, line)
}
