package passages

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/oracle/must"
)

// A plainSpan is a span in atoms: bytes, or words.
type plainSpan struct{ row, from, to, count, firstRow, firstFrom int }

// plainSpans are the spans of strings by their definition, of documents as lists of atoms.
func plainSpans(docs [][]string, o Options) (spans []plainSpan) {
	length, all := o.Unit.Length, stands{}
	window := func(row, offset int) *stand {
		if offset+length > len(docs[row]) {
			return &stand{}
		}
		return all[strings.Join(docs[row][offset:offset+length], "\x00")]
	}
	for row, atoms := range docs {
		for offset := 0; offset+length <= len(atoms); offset++ {
			all.add(strings.Join(atoms[offset:offset+length], "\x00"), row, offset)
		}
	}
	repeated := func(s *stand) bool { return s.count >= o.MinCount && (s.across || !o.AcrossOnly) }
	for row, atoms := range docs {
		stays := func(s *stand, offset int) bool {
			return s.row == row && (s.offset == offset || o.AcrossOnly)
		}
		for offset := 0; offset+length <= len(atoms); offset++ {
			first := window(row, offset)
			if !repeated(first) {
				continue
			}
			s := plainSpan{row, offset, offset + length, first.count, first.row, first.offset}
			for next := window(row, offset+1); repeated(next); next = window(row, offset+1) {
				there, follows := docs[first.row], s.firstFrom+s.to-s.from
				onward := next.row == first.row && next.offset == s.firstFrom+offset+1-s.from
				if !onward && (stays(first, s.from) != stays(next, offset+1) || follows >= len(there) || there[follows] != atoms[s.to]) {
					break
				}
				offset, s.to, s.count = offset+1, s.to+1, max(s.count, next.count)
			}
			spans = append(spans, s)
		}
	}
	return spans
}

// spansOf are the spans that are found in documents of bytes, or of words with a blank between them.
func spansOf(t testing.TB, docs [][]string, o Options) (spans []plainSpan) {
	between := ""
	if o.Unit.Kind == Words {
		between = " "
	}
	var texts []string
	for _, atoms := range docs {
		texts = append(texts, strings.Join(atoms, between))
	}
	r, _, err := Find(t.Context(), []string{writeDocs(t, texts)}, ingest.Config{}, o)
	must.Do(t, err)
	defer r.Close()
	atom := func(row, offset int) int { // the number of the atom that begins at a byte
		for i := range docs[row] {
			if offset <= 0 {
				return i
			}
			offset -= len(docs[row][i]) + len(between)
		}
		return len(docs[row])
	}
	for d := range r.Documents() {
		for s := range r.Spans(d.Row) {
			spans = append(spans, plainSpan{d.Row, atom(d.Row, s.From), atom(d.Row, s.To), s.Count, s.First.Row,
				atom(s.First.Row, s.First.From)})
		}
	}
	return spans
}

// TestSpans compares spans of bytes and of words, their positions and counts, with their definition.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := Options{Unit: Unit{Bytes, rapid.IntRange(16, 20).Draw(rt, "length")}, Threads: 1,
			MinCount: rapid.IntRange(2, 3).Draw(rt, "least"), AcrossOnly: rapid.Bool().Draw(rt, "across")}
		pieces := []string{"a", "b", "abc", "bca", "abcabcabcabcde", "d"}
		if rapid.Bool().Draw(rt, "words") {
			o.Unit = Unit{Words, rapid.IntRange(3, 5).Draw(rt, "length")}
			pieces = []string{"aa", "bb", "aa aa", "bb cc dd", "aa bb cc"}
		}
		var docs [][]string
		for _, list := range rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24), 1, 3).Draw(rt, "docs") {
			if o.Unit.Kind == Words {
				docs = append(docs, strings.Fields(strings.Join(list, " ")))
			} else {
				docs = append(docs, strings.Split(strings.Join(list, ""), ""))
			}
		}
		if got, want := spansOf(t, docs, o), plainSpans(docs, o); !slices.Equal(got, want) {
			rt.Fatalf("%v, %+v:\ngot  %v\nwant %v", docs, o, got, want)
		}
	})
}

// TestSpanOfFaults checks that a part of a split run has the count of its own windows, and adjacent spans of words are
// merged.
func TestSpanOfFaults(t *testing.T) {
	for _, test := range []struct {
		unit Unit
		text string
		want []plainSpan
	}{
		{Unit{Bytes, 17}, "bcabcabcabcabcdefdabcabcabcabcabcdefabcabcabcabcabcdefd", []plainSpan{
			{0, 0, 18, 3, 0, 0}, {0, 18, 35, 2, 0, 18}, {0, 19, 36, 3, 0, 0}, {0, 36, 54, 3, 0, 18}, {0, 38, 55, 2, 0, 1}}},
		{Unit{Words, 3}, "aa bb cc dd xx aa bb cc yy bb cc dd", []plainSpan{
			{0, 0, 4, 2, 0, 0}, {0, 5, 8, 2, 0, 0}, {0, 9, 12, 2, 0, 1}}},
	} {
		t.Run(fmt.Sprint(test.unit), func(t *testing.T) {
			atoms := strings.Split(test.text, "")
			if test.unit.Kind == Words {
				atoms = strings.Fields(test.text)
			}
			if got := spansOf(t, [][]string{atoms}, Options{Unit: test.unit}); !slices.Equal(got, test.want) {
				t.Errorf("got  %v\nwant %v", got, test.want)
			}
		})
	}
}
