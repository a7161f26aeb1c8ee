package input

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tally counts skips by reason, and keeps the first few that lost data as examples. The zero value is ready.
type Tally struct {
	ByReason map[Reason]int
	Examples []*Skip // the first maxExamples that lose data, and the first of each reason; one of NoText, which most records share
}

const maxExamples = 20

// Add counts one skip.
func (t *Tally) Add(s *Skip) {
	if t.ByReason == nil {
		t.ByReason = map[Reason]int{}
	}
	isFirst := t.ByReason[s.Reason] == 0
	t.ByReason[s.Reason] += int(max(s.Rows, 1))
	if s.Reason.LosesData() && (isFirst || len(t.Examples) < maxExamples && s.Reason != NoText) {
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

// String returns the counts, such as "1 hidden file, 2 broken records", or "" if nothing was skipped.
func (t *Tally) String() string {
	var parts []string
	for _, r := range slices.Sorted(maps.Keys(t.ByReason)) {
		n := t.ByReason[r]
		parts = append(parts, fmt.Sprintf("%d %s", n, reasonWords[r][min(n, 2)-1]))
	}
	return strings.Join(parts, ", ")
}

// reasonWords are the nouns for the reasons, in singular and plural.
var reasonWords = map[Reason][2]string{
	Hidden:      {"hidden file", "hidden files"},
	Binary:      {"binary file", "binary files"},
	Special:     {"link or device not followed", "links or devices not followed"},
	Again:       {"link to a file that is read anyway", "links to files that are read anyway"},
	NoPage:      {"archive record without a page", "archive records without a page"},
	Unreadable:  {"unreadable file", "unreadable files"},
	TooLarge:    {"too large document", "too large documents"},
	Broken:      {"broken record", "broken records"},
	DamagedRows: {"row of a damaged Parquet file", "rows of damaged Parquet files"},
	NoText:      {"record without text", "records without text"},
	NoFields:    {"file without a text field", "files without a text field"},
}
