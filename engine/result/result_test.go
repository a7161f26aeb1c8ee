package result_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/result"
)

var formats = map[string]result.Format{"tsv": result.TSV, "json": result.JSON,
	"binary": result.Binary}

// rows have IDs of every kind.
var rows = []result.Row{
	{Query: 0, Fingerprint: 0xff, Distance: 3, DocID: 9, ID: "http://example.org/?a=1&b=<2>"},
	{Query: 1, Fingerprint: 1 << 63, Distance: 64, DocID: 1<<64 - 1, ID: "tab\tline\nreturn\rback\\slash \"quoted\""},
	{Query: 1<<31 - 1, Fingerprint: 0x0123456789abcdef, ID: ""},
	{Query: 7, ID: `\n is no line end; ü, 水, ` + "\u2028 and \x7f and \x01"},
}

// TestFormats shows the bytes of every format.
func TestFormats(t *testing.T) {
	for name, want := range map[string]string{
		"tsv": "0\t00000000000000ff\t3\thttp://example.org/?a=1&b=<2>\n" +
			"1\t8000000000000000\t64\ttab\\tline\\nreturn\\rback\\\\slash \"quoted\"\n",
		"json": `{"query":0,"fingerprint":"00000000000000ff","distance":3,"id":"http://example.org/?a=1&b=<2>"}` + "\n" +
			`{"query":1,"fingerprint":"8000000000000000","distance":64,"id":"tab\tline\nreturn\rback\\slash \"quoted\""}` + "\n",
		"binary": "\x00\x00\x00\x00\x00\x00\x00\x00\xff\x00\x00\x00\x00\x00\x00\x00" +
			"\x03\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00" +
			"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80" +
			"\x40\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		if got := written(t, formats[name], rows[:2]); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// written is the rows in a format, with IDs looked up.
func written(t *testing.T, f result.Format, rows []result.Row) string {
	t.Helper()
	var out bytes.Buffer
	next := 0
	w := result.NewWriter(&out, f, result.Integer, false, func(docID uint64) (string, error) {
		if docID != rows[next].DocID || f == result.Binary {
			t.Errorf("row %d: the ID of document %d was looked up", next, docID)
		}
		return rows[next].ID, nil
	})
	for ; next < len(rows); next++ {
		r := rows[next]
		r.ID = "to be looked up"
		must.Do(t, w.Write(r))
	}
	must.Do(t, w.Close())
	return out.String()
}

// named returns a row as it is written, with its ID instead of the query.
func named(t *testing.T, f result.Format, row result.Row) string {
	t.Helper()
	var out bytes.Buffer
	row.Text = row.ID
	must.Do(t, result.NewWriter(&out, f, result.Text, false, nil).Write(row))
	return out.String()
}

// TestJSON compares the object with the one of encoding/json.
func TestJSON(t *testing.T) {
	type object struct {
		Query       any    `json:"query"`
		Fingerprint string `json:"fingerprint"`
		Distance    int    `json:"distance"`
		ID          string `json:"id"`
	}
	for c := range 300 {
		r := result.Row{Query: c, Fingerprint: simhash.Fingerprint(c) << 55, Distance: c % 65,
			ID: "x" + string(rune(c)) + "y"}
		if c > 255 {
			r.ID = "x" + string([]byte{byte(c - 128)}) + "y" // no UTF-8
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		for _, query := range []any{r.Query, r.ID} {
			must.Do(t, enc.Encode(object{query, r.Fingerprint.String(), r.Distance, r.ID}))
		}
		if got := written(t, result.JSON, []result.Row{r}) + named(t, result.JSON, r); got != want.String() {
			t.Errorf("%q: %s, want %s", r.ID, got, &want)
		}
	}
}

// TestErrors checks that errors of a stream and of a look-up are returned, and nothing is written after an error.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	w := result.NewWriter(failingWriter{broken}, result.TSV, result.Integer, false, nil)
	if err := w.Write(rows[0]); !errors.Is(err, broken) {
		t.Errorf("stream: %v", err)
	}
	var out bytes.Buffer
	w = result.NewWriter(&out, result.TSV, result.Integer, false, func(uint64) (string, error) { return "", broken })
	if err := w.Write(rows[0]); !errors.Is(err, broken) || out.Len() > 0 {
		t.Errorf("look-up: %v, %q", err, &out)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

// TestTally compares the counts, also of repeated fingerprints, with brute force. The checksum of brute force has
// separate code.
func TestTally(t *testing.T) {
	base, queries := sets.Planted(20_000, 1_000)
	hits := oracle.Search(base, queries, 3)
	var all result.Tally
	withHits := map[int]bool{}
	for i, h := range hits {
		row := result.Row{Query: h.Query, Fingerprint: simhash.Fingerprint(h.Fingerprint), Distance: h.Distance}
		all.Count(row, 1)
		withHits[hits[i].Query] = true
	}
	want := result.Totals{WithHits: uint64(len(withHits)), Hits: 483, Sum: 0xc04db04f9f51f40d}
	if all.Totals != want || all.Sum != oracle.Checksum(hits) {
		t.Errorf("%+v, want %+v", all.Totals, want)
	}

	a, b := result.Row{Query: 4, Fingerprint: 1}, result.Row{Query: 4, Fingerprint: 2}
	var each result.Tally
	unique := result.Tally{Unique: true}
	messages := ""
	for _, r := range []result.Row{a, a, b, {Query: 5, Fingerprint: 2}} {
		messages += fmt.Sprint(each.Count(r, 10), unique.Count(r, 10), " ")
	}
	if want := (result.Totals{WithHits: 2, Hits: 3, Sum: result.Term(4, 1) + result.Term(4, 2) +
		result.Term(5, 2)}); unique.Totals != want || messages != "true true true false true true true true " {
		t.Errorf("unique: %+v, want %+v; %s", unique.Totals, want, messages)
	}
	if want := (result.Totals{WithHits: 2, Hits: 40, Sum: 10 * (2*result.Term(4, 1) + result.Term(4, 2) +
		result.Term(5, 2))}); each.Totals != want {
		t.Errorf("%+v, want %+v", each.Totals, want)
	}
}

// FuzzEscape checks that every string becomes one field of one line, and Unescape restores it.
func FuzzEscape(f *testing.F) {
	for _, r := range rows {
		f.Add(r.ID)
	}
	f.Fuzz(func(t *testing.T, s string) {
		escaped := result.Escape(s)
		if back := result.Unescape(escaped); back != s || strings.ContainsAny(escaped, "\t\n\r") {
			t.Errorf("%q, %q, %q", s, escaped, back)
		}
	})
}
