package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reason says why something did not become a document.
type Reason string

// The reasons. Hidden concerns files that a folder happens to hold and that are left out on purpose, NoPage what an archive
// holds beside pages; these are no loss of data, and the others are. A file that the user named, or whose name promises text,
// and that is none is Unreadable.
const (
	Hidden     Reason = "hidden"        // a file or folder in a folder whose name starts with a dot
	Binary     Reason = "binary"        // bytes that are no text
	Special    Reason = "special"       // a link, device, pipe or socket in a folder
	NoPage     Reason = "no page"       // a record of a request, a redirect, an image
	Unreadable Reason = "unreadable"    // a file in a folder that cannot be opened or read, or any file from where it is damaged
	TooLarge   Reason = "too large"     // longer than Options.MaxDocumentBytes
	Broken     Reason = "broken"        // a line or record that cannot be parsed
	NoText     Reason = "no text field" // a line or record without the text field, or whose text is no string
	NoFields   Reason = "left out"      // a whole file in a folder whose first record has no field that is known to hold the text

	DamagedRows Reason = "damaged rows" // rows of a Parquet file, from a place where their row group is damaged to its end
)

// LosesData tells the reasons that Options.Strict turns into errors.
func (r Reason) LosesData() bool {
	switch r {
	case Hidden, NoPage:
		return false
	}
	return true
}

// Skip is one thing that did not become a document. It is an error that a caller may pass over.
type Skip struct {
	Source string // file
	Line   int    // from 1; 0 if it is the whole file
	At     int64  // where it begins, if it is a WARC record, a value of a JSON file, or what cannot be read of a file: bytes of the decompressed file
	To     int64  // where it ends, if it is a value of a JSON file; else 0
	Reason Reason
	Rows   int64 // how many rows are lost with it, from Line on, if it is DamagedRows
	Err    error // what exactly went wrong; may be nil

	// ResumedAt is where in the file, as it is compressed, the member begins that is read next, if something of a file cannot
	// be read and what follows it can; else 0. Its content is the decompressed file from At on.
	ResumedAt int64
}

// Error names file, line, reason and cause.
func (s *Skip) Error() string {
	text := fmt.Sprintf("%s: %s", place(s.Source, s.Line), s.Reason)
	if s.Err != nil {
		text += ": " + s.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (s *Skip) Unwrap() error { return s.Err }

// place returns file:line, or the file alone.
func place(source string, line int) string {
	if line == 0 {
		return source
	}
	return fmt.Sprintf("%s:%d", source, line)
}

// Tally counts skips by reason and keeps the first few that lost data as examples. The zero value is ready.
type Tally struct {
	ByReason map[Reason]int
	Examples []*Skip // the first maxExamples that lose data, in order of input
}

const maxExamples = 20

// Add counts one skip.
func (t *Tally) Add(s *Skip) {
	if t.ByReason == nil {
		t.ByReason = map[Reason]int{}
	}
	t.ByReason[s.Reason] += int(max(s.Rows, 1))
	if s.Reason.LosesData() && len(t.Examples) < maxExamples {
		t.Examples = append(t.Examples, s)
	}
}

// Lost counts the skips that lost data: if it is not 0, the job was done in part.
func (t *Tally) Lost() (n int) {
	for r, c := range t.ByReason {
		if r.LosesData() {
			n += c
		}
	}
	return n
}

// String returns the counts in words, such as "1 hidden file, 2 broken records"; "" if nothing was skipped.
func (t *Tally) String() string {
	var parts []string
	for _, r := range slices.Sorted(maps.Keys(t.ByReason)) {
		n, words := t.ByReason[r], r.words()
		word := words[1]
		if n == 1 {
			word = words[0]
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, word))
	}
	return strings.Join(parts, ", ")
}

// words returns what is counted under a reason, of one thing and of several.
func (r Reason) words() [2]string {
	switch r {
	case Hidden:
		return [2]string{"hidden file", "hidden files"}
	case Binary:
		return [2]string{"binary file", "binary files"}
	case Special:
		return [2]string{"link or device not followed", "links or devices not followed"}
	case NoPage:
		return [2]string{"archive record without a page", "archive records without a page"}
	case Unreadable:
		return [2]string{"unreadable file", "unreadable files"}
	case TooLarge:
		return [2]string{"too large document", "too large documents"}
	case Broken:
		return [2]string{"broken record", "broken records"}
	case DamagedRows:
		return [2]string{"row of a damaged Parquet file", "rows of damaged Parquet files"}
	case NoText:
		return [2]string{"record without text", "records without text"}
	case NoFields:
		return [2]string{"file without a text field", "files without a text field"}
	}
	return [2]string{string(r), string(r)}
}
