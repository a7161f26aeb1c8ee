package dedup

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/oracle/must"
	"ndd/engine/result"
)

// TestAnnotate: every document stays, byte for byte but for its fields, in all formats.
func TestAnnotate(t *testing.T) {
	lineA, lineB := `{"text":"`+rivers+`"`, `  {"id":"7", "text":"`+bread+`"  `
	const last = `,"ndd_cluster":null,"ndd_kept":true,"ndd_kept_id":null,"ndd_distance":null,"ndd_jaccard":null,` +
		`"ndd_contained":null}`
	kept := func(cluster string) string { return strings.Replace(last, "null", cluster, 1) }
	gone := func(cluster, id string) string {
		return `,"ndd_cluster":` + cluster + `,"ndd_kept":false,"ndd_kept_id":` + id +
			`,"ndd_distance":0,"ndd_jaccard":1,"ndd_contained":1}`
	}
	files := map[string]string{
		"in/1.jsonl":    "\xef\xbb\xbf" + lineA + "}\r\n\nbroken\n{\"text\":\"few\"} \n" + lineB + "}",
		"in/2.json.zst": "[" + lineA + "},\n{}, 7, " + lineA + "}]\n",
		"in/3.csv.gz":   "id,text\r\n\"x,1\",\"" + rivers + "\"\r\n\r\n2,few\n3,\"" + bread + "\"",
		"in/4.tsv":      "text\tid\n" + rivers + "\ta \"quote\"\n",
		"in/5.csv":      "id,text\n",
		"in/6.csv":      "id,text", // no line end
		"in/7.bin":      "\x00",
	}
	want := map[string]string{
		"1.jsonl": "\xef\xbb\xbf" + lineA + kept("1") + "\r\n\nbroken\n{\"text\":\"few\"" + last + " \n" + lineB + kept("2"),
		"2.json.zst": "[" + lineA + gone("1", `"in/1.jsonl:1"`) + ",\n{}, 7, " + lineA +
			gone("1", `"in/1.jsonl:1"`) + "]\n",
		"3.csv.gz": "id,text,ndd_cluster,ndd_kept,ndd_kept_id,ndd_distance,ndd_jaccard,ndd_contained\r\n\"x,1\",\"" + rivers +
			"\",1,0,in/1.jsonl:1,0,1,1\r\n\r\n2,few,,0,in/1.jsonl:4,0,1,1\n3,\"" + bread + "\",2,0,7,0,1,1",
		"4.tsv": "text\tid\tndd_cluster\tndd_kept\tndd_kept_id\tndd_distance\tndd_jaccard\tndd_contained\n" + rivers +
			"\ta \"quote\"\t1\t0\tin/1.jsonl:1\t0\t1\t1\n",
		"5.csv": "id,text,ndd_cluster,ndd_kept,ndd_kept_id,ndd_distance,ndd_jaccard,ndd_contained\n",
		"6.csv": "id,text,ndd_cluster,ndd_kept,ndd_kept_id,ndd_distance,ndd_jaccard,ndd_contained",
		"7.bin": "\x00",
	}
	t.Chdir(t.TempDir())
	for name, content := range files {
		write(t, map[string][]byte{name: pack(t, name, content)})
	}
	r := found(t, read(t, "in", ingest.Config{}, ReadOptions{}), Options{K: 3, Verify: &Verify{}})
	got, report := written(t, r, r.Annotate)
	if d := cmp.Diff(want, unpacked(t, got)); d != "" {
		t.Error(d)
	}
	if report.Unnoted != 3 { // a line and an element that are no objects, and an empty object
		t.Errorf("%d records without fields", report.Unnoted)
	}
	if again, _ := written(t, r, r.Annotate); !maps.Equal(got, again) {
		t.Error("copies differ from run to run")
	}

	// What has the fields is refused, where it begins and where it is written.
	t.Chdir(t.TempDir())
	for name, content := range got {
		write(t, map[string][]byte{"in/" + name: []byte(content)})
	}
	for name, want := range map[string]string{"in/1.jsonl": "a field ndd_cluster", "in/2.json.zst": "a field ndd_cluster",
		"in/3.csv.gz": "a field ndd_cluster", "in/6.csv": "a field ndd_cluster"} {
		err := CheckFields(t.Context(), []string{name}, document.Options{}, Annotations)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	late := lineA + "}\n" + lineB + `,"ndd\u005fkept":1}` + "\n"
	write(t, map[string][]byte{"late.jsonl": []byte(late)})
	names := copiesOf(t, map[string]string{}, "late.jsonl")
	r = found(t, read(t, "late.jsonl", ingest.Config{}, ReadOptions{}), Options{K: 3})
	if _, err := r.Annotate(t.Context(), names); err == nil ||
		!strings.HasPrefix(err.Error(), "late.jsonl:2: there is a field ndd_kept already") {
		t.Error(err)
	}
}

// TestAnnotateColumns: a Parquet file gets optional columns behind its own, which stay as they are.
func TestAnnotateColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	original := parquetOf(t, pages(200), 70)
	write(t, map[string][]byte{"in.parquet": original})
	r := found(t, read(t, "in.parquet", ingest.Config{}, ReadOptions{}), Options{K: 0})
	got, _ := written(t, r, r.Annotate)
	raw := got["in.parquet"]
	type noted struct {
		page
		Cluster  *int64   `parquet:"ndd_cluster,optional"`
		Kept     *bool    `parquet:"ndd_kept,optional"`
		KeptID   *string  `parquet:"ndd_kept_id,optional"`
		Distance *int64   `parquet:"ndd_distance,optional"`
		Jaccard  *float64 `parquet:"ndd_jaccard,optional"`
	}
	want, err := parquet.Read[page](bytes.NewReader(original), int64(len(original)))
	must.Do(t, err)
	have, err := parquet.Read[page](strings.NewReader(raw), int64(len(raw)))
	if d := cmp.Diff(want, have); d != "" || err != nil {
		t.Error(d, err)
	}
	rows, err := parquet.Read[noted](strings.NewReader(raw), int64(len(raw)))
	if err != nil || len(rows) != len(want) {
		t.Fatal(len(rows), err)
	}
	drops := map[Row]Drop{}
	for d := range r.Dropped() {
		drops[d.Row] = d
	}
	for i, row := range rows {
		d, gone := drops[Row(i)]
		if *row.Kept == gone || gone && (*row.KeptID != d.Kept || *row.Distance != 0 || *row.Cluster != 1) ||
			!gone && row.KeptID != nil || row.Jaccard != nil {
			t.Fatalf("row %d: %+v", i, row)
		}
	}
	after := schema(t, []byte(raw))
	if !strings.HasPrefix(after, strings.TrimSuffix(schema(t, original), "}")) ||
		!strings.HasSuffix(after, "optional double ndd_contained;\n}") {
		t.Error(after)
	}
	must.Do(t, CheckFields(t.Context(), []string{"in.parquet"}, document.Options{}, Annotations))
	write(t, map[string][]byte{"noted.parquet": []byte(raw), "a.html": []byte("<p>a</p>")})
	for name, want := range map[string]string{"noted.parquet": "noted.parquet: there is a field ndd_cluster already",
		"a.html": "a.html: fields can be added to JSONL, JSON, CSV and Parquet, and this is html"} {
		err := CheckFields(t.Context(), []string{name}, document.Options{}, Annotations)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Error(err)
		}
	}
}

// TestNotes: fields of CSV stand before the end of the line wherever blocks end, and values of all kinds
// are written.
func TestNotes(t *testing.T) {
	const content = "a,b\r\n1,2\r\n\n3,\"4\n\"\r\n5,6"
	fields := &Fields{Columns: []result.Column{{Name: "n", Kind: result.Integer}, {Name: "t", Kind: result.Text}},
		Values: func(note int) []any { return []any{int64(note), json.RawMessage(`[1,"x"]`)} }}
	want := "a,b,n,t\r\n1,2,1,\"[1,\"\"x\"\"]\"\r\n\n3,\"4\n\",2,\"[1,\"\"x\"\"]\"\r\n5,6,3,\"[1,\"\"x\"\"]\""
	cuts := []cut{{from: 5, note: noteNames}, {from: 10, note: 1}, {from: 19, note: 2},
		{from: int64(len(content)), note: 3}}
	for blockBytes := 1; blockBytes < len(want)+2; blockBytes++ {
		p, err := newPackers(2, blockBytes)
		must.Do(t, err)
		var out bytes.Buffer
		c := &document.Content{Reader: strings.NewReader(content)}
		n := newNoter(fields, &document.Head{Format: document.CSV})
		if err := p.pack(t.Context(), &out, c, n, without(cuts, nil)); err != nil || out.String() != want {
			t.Fatalf("blocks of %d: %v, %q", blockBytes, err, out.String())
		}
	}
	n := newNoter(fields, &document.Head{Format: document.JSONL})
	if text, err := n.text(8); string(text) != `,"n":8,"t":[1,"x"]` || err != nil {
		t.Errorf("%s %v", text, err)
	}
}
