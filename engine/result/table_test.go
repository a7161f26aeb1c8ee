package result_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/result"
)

var columns = []result.Column{{Name: "id", Kind: result.Text}, {Name: "file", Kind: result.Text, Optional: true},
	{Name: "row", Kind: result.Integer}, {Name: "jaccard", Kind: result.Real, Optional: true},
	{Name: "kept", Kind: result.Flag}}

// table returns a table of two rows. The second row has every missing value and every escaped character.
func table(t *testing.T, f result.Format) []byte {
	t.Helper()
	var out bytes.Buffer
	w := result.NewTableWriter(&out, f, columns...)
	w.Text("a").Text("x.jsonl").Integer(7).Real(0.87654).Flag(true)
	must.Do(t, w.End())
	w.Text("tab\tline\n<b>").Null().Integer(math.MinInt64).Null().Flag(false)
	must.Do(t, errors.Join(w.End(), w.Close()))
	return out.Bytes()
}

// TestTable shows a table in the formats that are text.
func TestTable(t *testing.T) {
	for format, want := range map[result.Format]string{
		result.TSV: "id\tfile\trow\tjaccard\tkept\n" +
			"a\tx.jsonl\t7\t0.8765\t1\n" +
			"tab\\tline\\n<b>\t\t-9223372036854775808\t\t0\n",
		result.JSON: `{"id":"a","file":"x.jsonl","row":7,"jaccard":0.8765,"kept":true}` + "\n" +
			`{"id":"tab\tline\n<b>","file":null,"row":-9223372036854775808,"jaccard":null,"kept":false}` + "\n",
	} {
		if got := string(table(t, format)); got != want {
			t.Errorf("%v: %s", format, cmp.Diff(want, got))
		}
	}
}

// TestTableParquet reads a table with the library and compares names, order, values and nulls.
func TestTableParquet(t *testing.T) {
	raw := table(t, result.Parquet)
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	must.Do(t, err)
	want := `message {
	required binary id (STRING);
	optional binary file (STRING);
	required int64 row (INT(64,true));
	optional double jaccard;
	required boolean kept;
}`
	if got := f.Schema().String(); got != want {
		t.Error(cmp.Diff(want, got))
	}
	type row struct {
		ID      string   `parquet:"id"`
		File    *string  `parquet:"file,optional"`
		Row     int64    `parquet:"row"`
		Jaccard *float64 `parquet:"jaccard,optional"`
		Kept    bool     `parquet:"kept"`
	}
	file, share := "x.jsonl", 0.8765
	rows, err := parquet.Read[row](bytes.NewReader(raw), int64(len(raw)))
	must.Do(t, err)
	if d := cmp.Diff([]row{{"a", &file, 7, &share, true}, {"tab\tline\n<b>", nil, math.MinInt64, nil, false}},
		rows); d != "" {
		t.Error(d)
	}
}

// TestTableGroups writes rows of several groups, and long texts. No row is lost, and the order is kept.
func TestTableGroups(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ rows, groups int }{{0, 0}, {300_000, 3}, {20, 3}} {
		var out bytes.Buffer
		w := result.NewTableWriter(&out, result.Parquet, result.Column{Name: "id", Kind: result.Text})
		id := func(i int) string {
			if c.rows == 20 {
				return fmt.Sprint(i, long)
			}
			return fmt.Sprint(i)
		}
		for i := range c.rows {
			must.Do(t, w.Text(id(i)).End())
		}
		must.Do(t, w.Close())
		type row struct {
			ID string `parquet:"id"`
		}
		f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || len(f.RowGroups()) != c.groups {
			t.Fatalf("%d rows: %v, %d groups, want %d", c.rows, err, len(f.RowGroups()), c.groups)
		}
		rows, err := parquet.Read[row](bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || len(rows) != c.rows {
			t.Fatalf("%d rows of %d: %v", len(rows), c.rows, err)
		}
		for i := range rows {
			if rows[i].ID != id(i) {
				t.Fatalf("row %d: %.20q", i, rows[i].ID)
			}
		}
	}
}

// TestTableHeader checks that a table without rows has its names all the same.
func TestTableHeader(t *testing.T) {
	for format, want := range map[result.Format]string{result.TSV: "id\tfile\trow\tjaccard\tkept\n", result.JSON: ""} {
		var out bytes.Buffer
		if err := result.NewTableWriter(&out, format, columns...).Close(); err != nil || out.String() != want {
			t.Errorf("%v: %q, %v", format, &out, err)
		}
	}
}

// TestTableErrors checks that Close returns the error of the stream if no earlier call did, and later calls return it
// again.
func TestTableErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, format := range result.Tables {
		w := result.NewTableWriter(failingWriter{broken}, format, columns[2])
		w.Integer(1)
		if err := errors.Join(w.End(), w.Close()); !errors.Is(err, broken) {
			t.Errorf("%v: %v", format, err)
		}
		if err := w.Integer(1).End(); !errors.Is(err, broken) {
			t.Errorf("%v: after an error: %v", format, err)
		}
	}
}

// TestTableMistakes checks that a cell of another kind, one too many or too few panic rather than shift a row.
func TestTableMistakes(t *testing.T) {
	for name, f := range map[string]func(*result.TableWriter){
		"kind":     func(w *result.TableWriter) { w.Integer(1) },
		"null":     func(w *result.TableWriter) { w.Null() },
		"few":      func(w *result.TableWriter) { w.Text("a").End() },
		"many":     func(w *result.TableWriter) { w.Text("a").Null().Integer(1).Null().Flag(true).Flag(true) },
		"unclosed": func(w *result.TableWriter) { w.Text("a").Close() },
	} {
		must.Panic(t, name, func() { f(result.NewTableWriter(&bytes.Buffer{}, result.TSV, columns...)) })
	}
}

// TestHitsParquet writes hits of rows and of texts, and reads the same columns as in the other formats.
func TestHitsParquet(t *testing.T) {
	type hit struct {
		Query       int64  `parquet:"query"`
		Fingerprint string `parquet:"fingerprint"`
		Distance    int64  `parquet:"distance"`
		ID          string `parquet:"id"`
	}
	raw := written(t, result.Parquet, rows)
	hits, err := parquet.Read[hit](strings.NewReader(raw), int64(len(raw)))
	if err != nil || len(hits) != len(rows) {
		t.Fatal(hits, err)
	}
	for i, r := range rows {
		if want := (hit{int64(r.Query), r.Fingerprint.String(), int64(r.Distance), r.ID}); hits[i] != want {
			t.Errorf("%+v, want %+v", hits[i], want)
		}
	}
	var out bytes.Buffer
	w := result.NewWriter(&out, result.Parquet, result.Text, false, nil)
	row := rows[0]
	row.Text = "a text"
	must.Do(t, errors.Join(w.Write(row), w.Close()))
	named, err := parquet.Read[struct {
		Query string `parquet:"query"`
	}](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(named) != 1 || named[0].Query != "a text" {
		t.Errorf("%+v, %v", named, err)
	}
}

// TestParseFormat checks the names, the other name of jsonl, and the list in the error.
func TestParseFormat(t *testing.T) {
	for name, want := range map[string]result.Format{"tsv": result.TSV, "jsonl": result.JSON, "json": result.JSON,
		"parquet": result.Parquet} {
		if got, err := result.ParseFormat(name, result.Tables...); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := result.ParseFormat("bin", result.Tables...); err == nil ||
		err.Error() != `"bin": must be tsv, jsonl or parquet` {
		t.Error(err)
	}
}
