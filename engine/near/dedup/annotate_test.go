package dedup

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/rewrite"
	packed "example.org/ndd/engine/oracle/files"
)

// TestAnnotate checks that every document stays in all formats, byte for byte except for its new fields.
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
		write(t, map[string]string{name: packed.Pack(t, name, content)})
	}
	r := found(t, read(t, "in", ingest.Config{}, ReadOptions{}), Options{K: 3, Rule: Rule{{Jaccard: 0.7}}, Texts: &Texts{}})
	got, report := written(t, r, r.Annotate)
	if d := cmp.Diff(want, packed.Unpack(t, got)); d != "" {
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
	for name, want := range map[string]string{"in/1.jsonl": "field ndd_cluster already", "in/2.json.zst": "field ndd_cluster already",
		"in/3.csv.gz": "field ndd_cluster already", "in/6.csv": "field ndd_cluster already"} {
		err := rewrite.CheckFields(t.Context(), []string{name}, format.Options{}, Annotations)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	late := lineA + "}\n" + lineB + `,"ndd\u005fkept":1}` + "\n"
	write(t, map[string][]byte{"late.jsonl": []byte(late)})
	names := copiesOf(t, map[string]string{}, "late.jsonl")
	r = found(t, read(t, "late.jsonl", ingest.Config{}, ReadOptions{}), Options{K: 3})
	if _, err := r.Annotate(t.Context(), names); err == nil ||
		!strings.HasPrefix(err.Error(), "late.jsonl:2: field ndd_kept already exists") {
		t.Error(err)
	}
}
