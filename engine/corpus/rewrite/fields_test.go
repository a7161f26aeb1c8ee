package rewrite

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/result"
)

// TestAddColumns checks that a Parquet file gets optional columns after its own columns, which are unchanged.
func TestAddColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	original := parquetOf(t, pages(200), 70)
	files.Write(t, map[string]string{"in.parquet": original})
	fields := &Fields{Columns: []result.Column{{Name: "n", Kind: result.Integer}, {Name: "even", Kind: result.Real, Optional: true}},
		Values: func(note int) []any {
			if note%2 == 1 {
				return []any{int64(note), nil}
			}
			return []any{int64(note), 0.5}
		}}
	j := equalTexts(format.Options{}, "in.parquet")
	j.Fields = fields
	got, _ := copied(t, j)
	raw := got["in.parquet"]
	type noted struct {
		page
		N    *int64   `parquet:"n,optional"`
		Even *float64 `parquet:"even,optional"`
	}
	want, err := parquet.Read[page](strings.NewReader(original), int64(len(original)))
	must.Do(t, err)
	have, err := parquet.Read[page](strings.NewReader(raw), int64(len(raw)))
	if d := cmp.Diff(want, have); d != "" || err != nil {
		t.Error(d, err)
	}
	rows, err := parquet.Read[noted](strings.NewReader(raw), int64(len(raw)))
	if err != nil || len(rows) != len(want) {
		t.Fatal(len(rows), err)
	}
	for i, row := range rows {
		if *row.N != int64(i+1) || (row.Even == nil) != (i%2 == 0) {
			t.Fatalf("row %d: %+v", i, row)
		}
	}
	after := schema(t, raw)
	if !strings.HasPrefix(after, strings.TrimSuffix(schema(t, original), "}")) ||
		!strings.HasSuffix(after, "optional double even;\n}") {
		t.Error(after)
	}
	must.Do(t, CheckFields(t.Context(), []string{"in.parquet"}, format.Options{}, fields.Columns))
	files.Write(t, map[string]string{"noted.parquet": raw, "a.html": "<p>a</p>"})
	for name, want := range map[string]string{"noted.parquet": "noted.parquet: field n already exists",
		"a.html": "a.html: fields can be added to JSONL, JSON, CSV and Parquet, and this is html"} {
		err := CheckFields(t.Context(), []string{name}, format.Options{}, fields.Columns)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Error(err)
		}
	}
}

// TestNotes checks that fields of CSV are added before the end of the line wherever blocks end, and values of all kinds
// are written.
func TestNotes(t *testing.T) {
	const content = "a,b\r\n1,2\r\n\n3,\"4\n\"\r\n5,6"
	fields := &Fields{Columns: []result.Column{{Name: "n", Kind: result.Integer}, {Name: "t", Kind: result.Text}},
		Values: func(note int) []any { return []any{int64(note), json.RawMessage(`[1,"x"]`)} }}
	want := "a,b,n,t\r\n1,2,1,\"[1,\"\"x\"\"]\"\r\n\n3,\"4\n\",2,\"[1,\"\"x\"\"]\"\r\n5,6,3,\"[1,\"\"x\"\"]\""
	cuts := []cut{{from: 5, note: noteNames}, {from: 10, note: 1}, {from: 19, note: 2},
		{from: int64(len(content)), note: 3}}
	for blockBytes := 1; blockBytes < len(want)+2; blockBytes++ {
		p, err := newPacker(2, 4, blockBytes)
		must.Do(t, err)
		var out bytes.Buffer
		c := &format.Content{Reader: strings.NewReader(content)}
		n := newFieldText(fields, &format.Head{Format: format.CSV})
		if err := p.pack(t.Context(), &out, c, n, copyWithout(cuts, nil)); err != nil || out.String() != want {
			t.Fatalf("blocks of %d: %v, %q", blockBytes, err, out.String())
		}
	}
	n := newFieldText(fields, &format.Head{Format: format.JSONL})
	if text, err := n.format(8); string(text) != `,"n":8,"t":[1,"x"]` || err != nil {
		t.Errorf("%s %v", text, err)
	}
}

// TestColumnValue checks that values added to Parquet are valid UTF-8.
func TestColumnValue(t *testing.T) {
	if v := columnValue("a\xffb", 0); v.String() != "a\ufffdb" {
		t.Errorf("%q", v.String())
	}
}
