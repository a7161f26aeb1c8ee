package result_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ndd/engine/corpus/simhash"
	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
	"ndd/engine/result"
	"ndd/engine/storage/store"
)

var formats = map[string]result.Format{"tsv": result.TSV, "json": result.JSON, "escaped": result.JSONEscaped, "binary": result.Binary}

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
		"escaped": `{"query":0,"fingerprint":"00000000000000ff","distance":3,"id":"http://example.org/?a=1\u0026b=\u003c2\u003e"}` + "\n" +
			`{"query":1,"fingerprint":"8000000000000000","distance":64,"id":"tab\tline\nreturn\rback\\slash \"quoted\""}` + "\n",
		"binary": "\x00\x00\x00\x00\x00\x00\x00\x00\xff\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00" +
			"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x40\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff",
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
	w := result.NewWriter(&out, f, func(docID uint64) (string, error) {
		if docID != rows[next].DocID || !f.HasID() {
			t.Errorf("row %d: the ID of document %d was looked up", next, docID)
		}
		return rows[next].ID, nil
	})
	for ; next < len(rows); next++ {
		r := rows[next]
		r.ID = "to be looked up"
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestRoundTrip reads back what was written.
func TestRoundTrip(t *testing.T) {
	for name, f := range formats {
		r := result.NewReader(strings.NewReader(written(t, f, rows)), f)
		for _, want := range rows {
			if got, err := r.Read(); err != nil || got != kept(f, want) {
				t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
			}
		}
		if _, err := r.Read(); err != io.EOF {
			t.Errorf("%s: behind the end: %v", name, err)
		}
	}
}

// kept is what a format holds of a row.
func kept(f result.Format, r result.Row) result.Row {
	if f.HasID() {
		r.DocID = 0
	} else {
		r.ID = ""
	}
	return r
}

// TestNamed writes and reads queries that are texts.
func TestNamed(t *testing.T) {
	for name, f := range formats {
		if f == result.Binary {
			continue
		}
		for _, row := range rows {
			var out bytes.Buffer
			query := row.ID // texts of every kind
			if err := result.NewWriter(&out, f, nil).WriteNamed(query, row); err != nil {
				t.Fatal(err)
			}
			got, r, err := result.NewReader(&out, f).ReadNamed()
			want := kept(f, row)
			want.Query = 0
			if err != nil || got != query || r != want {
				t.Errorf("%s: %q, %+v, %v; want %q, %+v", name, got, r, err, query, want)
			}
		}
	}
}

// TestJSON holds the object against that of encoding/json.
func TestJSON(t *testing.T) {
	type object struct {
		Query       any                 `json:"query"`
		Fingerprint simhash.Fingerprint `json:"fingerprint"`
		Distance    int                 `json:"distance"`
		ID          string              `json:"id"`
	}
	for _, format := range []result.Format{result.JSON, result.JSONEscaped} {
		for c := range 300 {
			r := result.Row{Query: c, Fingerprint: simhash.Fingerprint(c) << 55, Distance: c % 65, ID: "x" + string(rune(c)) + "y"}
			if c > 255 {
				r.ID = "x" + string([]byte{byte(c - 128)}) + "y" // no UTF-8
			}
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(format == result.JSONEscaped)
			if err := enc.Encode(object{r.Query, r.Fingerprint, r.Distance, r.ID}); err != nil {
				t.Fatal(err)
			}
			if err := enc.Encode(object{r.ID, r.Fingerprint, r.Distance, r.ID}); err != nil {
				t.Fatal(err)
			}
			got := format.AppendNamed(format.Append(nil, &r), r.ID, &r)
			if !bytes.Equal(got, want.Bytes()) {
				t.Errorf("%q: %s, want %s", r.ID, got, &want)
			}
		}
	}
}

// TestErrors: the errors of a stream and of a look-up come through, and nothing is written after one.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	w := result.NewWriter(failing{broken}, result.TSV, nil)
	if err := w.Write(rows[0]); !errors.Is(err, broken) {
		t.Errorf("stream: %v", err)
	}
	if err := w.WriteNamed("q", rows[0]); !errors.Is(err, broken) {
		t.Errorf("stream: %v", err)
	}
	var out bytes.Buffer
	w = result.NewWriter(&out, result.TSV, func(uint64) (string, error) { return "", broken })
	if err := errors.Join(w.Write(rows[0]), w.WriteNamed("q", rows[0])); !errors.Is(err, broken) || out.Len() > 0 {
		t.Errorf("look-up: %v, %q", err, &out)
	}
	if _, err := result.NewReader(failingReader{broken}, result.TSV).Read(); !errors.Is(err, broken) || errors.Is(err, store.ErrCorrupt) {
		t.Errorf("reading: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestDamage: what no writer writes is refused, with the place.
func TestDamage(t *testing.T) {
	const tsv, object = "0\t00000000000000ff\t3\tid", `{"query":0,"fingerprint":"00000000000000ff","distance":3,"id":"id"}`
	for _, c := range []struct{ format, second, want string }{
		{"tsv", "0\t00000000000000ff\t3\n", "line 2 of the result: corrupt: 3 tab-separated fields"},
		{"tsv", tsv + "\tmore\n", "5 tab-separated fields"},
		{"tsv", tsv, "line 2 of the result: corrupt: it has no end"},
		{"tsv", strings.Replace(tsv, "3", "65", 1) + "\n", "distance 65: fingerprints have 64 bits"},
		{"tsv", strings.Replace(tsv, "3", "-1", 1) + "\n", `distance "-1" is no number`},
		{"tsv", strings.Replace(tsv, "ff", "f", 1) + "\n", "15 characters"},
		{"tsv", "-1" + tsv[1:] + "\n", `query "-1" is no row number`},
		{"tsv", tsv + "\\\n", "ID: byte 2: a backslash without"},
		{"tsv", tsv + "\\x\n", "ID: byte 2: a backslash without"},
		{"tsv", tsv + "\r\n", `ID: byte 2: '\r' is not escaped`},
		{"json", object[:20] + "\n", "line 2 of the result: corrupt: unexpected EOF"},
		{"json", object + object + "\n", "more than one value"},
		{"json", strings.Replace(object, `"id":"id"`, `"id":null`, 1) + "\n", "is missing"},
		{"json", strings.Replace(object, `"id"`, `"name"`, 1) + "\n", "unknown field"},
		{"json", strings.Replace(object, `:0,`, `:"0",`, 1) + "\n", "is no row number"},
		{"json", strings.Replace(object, `:3,`, `:65,`, 1) + "\n", "distance 65"},
		{"binary", written(t, result.Binary, rows[:1])[:31], "record 2 of the result: corrupt: 31 bytes are left of 32"},
		{"binary", strings.Repeat("\xff", 32), "there is no such row"},
		{"binary", strings.Repeat("\x00", 16) + "\x41" + strings.Repeat("\x00", 15), "distance 65"},
	} {
		f := formats[c.format]
		r := result.NewReader(strings.NewReader(written(t, f, rows[:1])+c.second), f)
		if _, err := r.Read(); err != nil {
			t.Fatal(err)
		}
		if row, err := r.Read(); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %+v, %v; want %s", c.format, c.second, row, err, c.want)
		}
	}
	if _, _, err := result.NewReader(strings.NewReader(object+"\n"), result.JSON).ReadNamed(); err == nil || !strings.Contains(err.Error(), "is no string") {
		t.Errorf("a row number where a text is due: %v", err)
	}
}

// TestLongLine reads a line far longer than any buffer, and refuses one without an end before it fills
// the memory.
func TestLongLine(t *testing.T) {
	row := result.Row{ID: strings.Repeat("long ", 100_000)}
	r := result.NewReader(bytes.NewReader(result.TSV.Append(nil, &row)), result.TSV)
	if got, err := r.Read(); err != nil || got != row {
		t.Errorf("%d bytes, %v", len(got.ID), err)
	}
	r = result.NewReader(endless{}, result.TSV)
	if _, err := r.Read(); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("without an end: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestTally compares with brute force, whose checksum has code of its own, and counts what is repeated.
func TestTally(t *testing.T) {
	base, queries := sets.Planted(20_000, 1_000)
	hits := oracle.Search(base, queries, 3)
	var all, first, second result.Tally
	withHits := map[int]bool{}
	for i, h := range hits {
		row := result.Row{Query: h.Query, Fingerprint: simhash.Fingerprint(h.Fingerprint), Distance: h.Distance}
		all.Count(row, 1)
		if part := &first; h.Query < 500 {
			part.Count(row, 1)
		} else {
			second.Count(row, 1)
		}
		withHits[hits[i].Query] = true
	}
	want := result.Totals{WithHits: uint64(len(withHits)), Hits: 483, Sum: 0xc04db04f9f51f40d}
	if all.Totals != want || all.Sum != oracle.Checksum(hits) {
		t.Errorf("%+v, want %+v", all.Totals, want)
	}
	if first.Add(second.Totals); first.Totals != want {
		t.Errorf("in parts: %+v, want %+v", first.Totals, want)
	}

	a, b := result.Row{Query: 4, Fingerprint: 1}, result.Row{Query: 4, Fingerprint: 2}
	var each result.Tally
	unique := result.Tally{Unique: true}
	said := ""
	for _, r := range []result.Row{a, a, b, {Query: 5, Fingerprint: 2}} {
		said += fmt.Sprint(each.Count(r, 10), unique.Count(r, 10), " ")
	}
	if want := (result.Totals{WithHits: 2, Hits: 3, Sum: result.Term(4, 1) + result.Term(4, 2) + result.Term(5, 2)}); unique.Totals != want || said != "true true true false true true true true " {
		t.Errorf("unique: %+v, want %+v; %s", unique.Totals, want, said)
	}
	if want := (result.Totals{WithHits: 2, Hits: 40, Sum: 10 * (2*result.Term(4, 1) + result.Term(4, 2) + result.Term(5, 2))}); each.Totals != want {
		t.Errorf("%+v, want %+v", each.Totals, want)
	}
}

// FuzzEscape: every string comes back, as one field of one line.
func FuzzEscape(f *testing.F) {
	for _, r := range rows {
		f.Add(r.ID)
	}
	f.Fuzz(func(t *testing.T, s string) {
		escaped := result.Escape(s)
		if text, bytes := result.AppendEscaped([]byte("x"), s), result.AppendEscaped([]byte("x"), []byte(s)); string(text) != "x"+escaped || string(bytes) != "x"+escaped {
			t.Errorf("%q: appended as %q and %q, and Escape makes %q", s, text, bytes, escaped)
		}
		if back, err := result.Unescape(escaped); back != s || err != nil || strings.ContainsAny(escaped, "\t\n\r") {
			t.Errorf("%q, %q, %q, %v", s, escaped, back, err)
		}
		if plain, err := result.Unescape(s); err == nil && result.Escape(plain) != s {
			t.Errorf("%q is read as %q, of which Escape makes %q", s, plain, result.Escape(plain))
		}
	})
}

// FuzzReader: no input makes a reader panic, and rows that were read are read again as they were when
// they are written again; of Binary, which has one form only, the bytes are the same.
func FuzzReader(f *testing.F) {
	for _, format := range formats {
		var out []byte
		for i := range rows {
			out = format.Append(out, &rows[i])
		}
		f.Add(int(format), out)
	}
	f.Fuzz(func(t *testing.T, number int, in []byte) {
		format := result.Format(1 + uint(number)%uint(len(formats)))
		r := result.NewReader(bytes.NewReader(in), format)
		var rows []result.Row
		for {
			row, err := r.Read()
			if err != nil {
				if err != io.EOF && !errors.Is(err, store.ErrCorrupt) {
					t.Fatal(err)
				}
				break
			}
			rows = append(rows, row)
		}
		if format == result.Binary && !bytes.HasPrefix(in, []byte(rowsIn(format, rows))) {
			t.Errorf("%q is not %q", rowsIn(format, rows), in)
		}
		again := result.NewReader(strings.NewReader(rowsIn(format, rows)), format)
		for _, want := range rows {
			if got, err := again.Read(); err != nil || got != want {
				t.Errorf("%s", cmp.Diff(want, got))
			}
		}
	})
}

func rowsIn(f result.Format, rows []result.Row) string {
	var out []byte
	for i := range rows {
		out = f.Append(out, &rows[i])
	}
	return string(out)
}

func BenchmarkAppend(b *testing.B) {
	row := result.Row{Query: 123456, Fingerprint: 0x0123456789abcdef, Distance: 3, ID: "http://example.org/some/page.html"}
	for name, f := range formats {
		b.Run("format="+name, func(b *testing.B) {
			var line []byte
			for b.Loop() {
				line = f.Append(line[:0], &row)
			}
			if len(line) < 32 {
				b.Fatal(line)
			}
		})
	}
}
