package format

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// tree writes files below a new folder and makes it the working directory, so that ids are short.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	}
	t.Chdir(root)
}

// read lists the results of Read: "id: text" or "skip: reason", and the error that ended it.
func read(t *testing.T, opts Options, stdin io.Reader, inputs ...string) (got []string, err error) {
	t.Helper()
	for doc, err := range Read(t.Context(), inputs, opts, stdin) {
		if skip, ok := errors.AsType[*input.Skip](err); ok && !(opts.Strict && skip.Reason.LosesData()) {
			got = append(got, "skip: "+skip.Error())
			continue
		}
		if err != nil {
			return got, err
		}
		got = append(got, doc.ID+": "+doc.Text)
	}
	return got, nil
}

func gz(t testing.TB, members ...string) string {
	t.Helper()
	return gzipped(t, gzip.DefaultCompression, members...)
}

func zst(t testing.TB, frames ...string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	must.Do(t, err)
	var b []byte
	for _, f := range frames {
		b = w.EncodeAll([]byte(f), b)
	}
	return string(b)
}

// "hello\n" by xz and by bzip2, which have no writer here.
const (
	xzHello    = "fd377a585a000004e6d6b4460200210116000000742fe5a301000568656c6c6f0a000000a56097f194f6fde000011e06c12fa41d1fb6f37d010000000004595a"
	bzip2Other = "425a68393141592653595179435000000459800010100000103000000a2000310c01007ea8d712af17724538509051794350" // {"a":"b"}
	bzip2Hello = "425a6839314159265359c1c080e2000001410000100244a00030cd00c3462997177245385090c1c080e2"
)

func hexBytes(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	must.Do(t, err)
	return b
}

func TestReadInputs(t *testing.T) {
	lines := `{"id":"x","text":"one"}` + "\n\n" + `{"text":"two"}` + "\n" + `{"id":7,"text":"three"}`
	array := "\xef\xbb\xbf[ " + `{"id":"x","text":"one"},` + "\n\n" + `{"text":"two}]"} ,` + "\n" +
		`{"id":7,"text":"three"}` + "]\n"
	page := "<html><p>Page</p><script>no</script></html>"
	tree(t, map[string]string{
		"plain.txt":        "hello",
		"empty.txt":        "",
		"lines.jsonl":      lines,
		"table.csv":        "id,text,n\na,\"first, with\nbreak\",1\n,second,2\n",
		"table.tsv":        "n\ttext\n1\tsaid \"so\n",
		"dir/b.txt":        "b",
		"dir/a/z.md":       "z",
		"dir/page":         page,
		"dir/.git/config":  "hidden",
		"dir/.env":         "hidden",
		"dir/image.png":    "\x89PNG\r\n\x1a\n\x00\x00",
		"dir/c.txt.gz":     gz(t, "packed ", "twice"),
		"dir/d.jsonl.zst":  zst(t, lines[:30], lines[30:]),
		"dir/sums.csv":     "name,sum\nx,1\n",
		"dir/other.jsonl":  `{"name":"x"}`,
		"dir/data.parquet": "PAR1 and so on",
		"odd[1].txt":       "odd",
		"array.json":       array,
		"mixed/array.json": array,
		"pretty.json":      "{\n  \"id\": \"x\",\n  \"text\": \"one\"\n}\n" + `{"text": "two"}`,
		"none.json":        " [ ] ",
		"settings.json":    "{\n  \"indent\": 2\n}",
		"other.jsonl":      `{"url":"u","content":"one"}`,
		"mixed/a.jsonl":    `{"url":"u","content":"one"}`,
		"pages.csv":        "html,uri\n<p>Two</p>,v\n<b>Three</b>,w\n",
		"mixed/pages.csv":  "html,uri\n<p>Two</p>,v\n<b>Three</b>,w\n",
		"hello.xz":         string(hexBytes(t, xzHello)),
		"hello.txt.bz2":    string(hexBytes(t, bzip2Hello)),
		"noextension":      lines,
		"frame.csv":        ",text\n7,one\n8,two\n",
		"zero":             "nothing\x00known",
	})
	for _, c := range []struct {
		name   string
		opts   Options
		stdin  string
		inputs string
		want   []string
	}{
		{name: "file", inputs: "plain.txt", want: []string{"plain.txt: hello"}},
		{name: "order as given, repeats too", inputs: "plain.txt ./plain.txt",
			want: []string{"plain.txt: hello", "./plain.txt: hello"}},
		{name: "empty file is an empty document", inputs: "empty.txt", want: []string{"empty.txt: "}},
		{name: "json lines", inputs: "lines.jsonl", want: []string{"x: one", "lines.jsonl:3: two", "7: three"}},
		{name: "json lines by their looks", inputs: "noextension", want: []string{"x: one", "noextension:3: two",
			"7: three"}},
		{name: "json lines taken as text", opts: Options{Format: Text}, inputs: "lines.jsonl",
			want: []string{"lines.jsonl: " + lines}},
		{name: "csv", inputs: "table.csv", want: []string{"a: first, with\nbreak", "table.csv:4: second"}},
		{name: "csv whose first column has no name, as data frames write it", inputs: "frame.csv",
			want: []string{"frame.csv:2: one", "frame.csv:3: two"}},
		{name: "bytes that are no text, taken as text", opts: Options{Format: Text},
			inputs: "zero", want: []string{"zero: nothing\x00known"}},
		{name: "csv, other fields", opts: Options{TextField: "n", IDField: "text"}, inputs: "table.csv",
			want: []string{"first, with\nbreak: 1", "second: 2"}},
		{name: "tsv has no quoting to speak of", inputs: "table.tsv", want: []string{"table.tsv:2: said \"so"}},
		{name: "folder", inputs: "dir", want: []string{
			"skip: dir/.env: hidden",
			"skip: dir/.git: hidden",
			"dir/a/z.md: z",
			"dir/b.txt: b",
			"dir/c.txt.gz: packed twice",
			"x: one", "dir/d.jsonl.zst:3: two", "7: three",
			"skip: dir/data.parquet: unreadable: it ends with \"o on\" instead of \"PAR1\": is the file cut short?",
			"skip: dir/image.png: binary",
			"skip: dir/other.jsonl: left out: none of the fields name is known to hold the text; --text names the field",
			"dir/page: Page",
			"skip: dir/sums.csv: left out: none of the fields name, sum is known to hold the text; --text names the field",
		}},
		{name: "a JSON array", inputs: "array.json", want: []string{"x: one", "array.json:2: two}]", "7: three"}},
		{name: "a JSON array by its looks", stdin: "[\n" + `{"text": "one"}` + "\n]", inputs: "-",
			want: []string{"-:1: one"}},
		{name: "pretty JSON", inputs: "pretty.json", want: []string{"x: one", "pretty.json:2: two"}},
		{name: "an empty array", inputs: "none.json", opts: Options{Format: JSON}},
		{name: "settings are one document", inputs: "settings.json", want: []string{"settings.json: {\n  \"indent\": 2\n}"}},
		{name: "other names of fields", inputs: "other.jsonl pages.csv", want: []string{"u: one", "v: Two", "w: Three"}},
		{name: "a folder of files like these", inputs: "mixed", want: []string{"u: one", "x: one",
			"mixed/array.json:2: two}]", "7: three", "v: Two", "w: Three"}},
		{name: "lines", opts: Options{Format: Lines}, inputs: "plain.txt pretty.json", want: []string{
			"plain.txt:1: hello", "pretty.json:1: {", `pretty.json:2: "id": "x",`, `pretty.json:3: "text": "one"`,
			"pretty.json:4: }", `pretty.json:5: {"text": "two"}`}},
		{name: "xz and bzip2", inputs: "hello.xz hello.txt.bz2", want: []string{"hello.xz: hello\n",
			"hello.txt.bz2: hello\n"}},
		{name: "hidden folder, named", inputs: "dir/.git", want: []string{"dir/.git/config: hidden"}},
		{name: "pattern", inputs: "*.txt", want: []string{"empty.txt: ", "odd[1].txt: odd", "plain.txt: hello"}},
		{name: "a file whose name looks like a pattern", inputs: "odd[1].txt", want: []string{"odd[1].txt: odd"}},
		{name: "stdin", stdin: "typed", inputs: "-", want: []string{"-: typed"}},
		{name: "stdin of json lines", stdin: lines, inputs: "-", want: []string{"x: one", "-:3: two", "7: three"}},
		{name: "stdin of html", stdin: "\n" + page, inputs: "-", want: []string{"-: Page"}},
		{name: "stdin packed", stdin: gz(t, lines), inputs: "-", want: []string{"x: one", "-:3: two", "7: three"}},
		{name: "stdin packed with zstd", stdin: zst(t, "typed"), inputs: "-", want: []string{"-: typed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(t, c.opts, strings.NewReader(c.stdin), strings.Fields(c.inputs)...)
			must.Do(t, err)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadBadInput(t *testing.T) {
	long := strings.Repeat("x", 200)
	tree(t, map[string]string{
		"broken.jsonl": `{"text":"one"}` + "\n" + `{"text":` + "\n" + `["text"]` + "\n" + `{"txt":"a"}` + "\n" +
			`{"text":3}` + "\n" + `{"text":"` + long + `"}` + "\n" + `{"text":"last"}`,
		"broken.csv":   "text\n\"a\"b\nlast\n",
		"nofield.csv":  "id,topic\n1,a\n",
		"nameless.csv": ",other\n7,one\n",
		"zero":         "nothing\x00known",
		"archive":      "pages/a.html" + strings.Repeat("\x00", 245) + "ustar",
		"nofield.json": `[{"id": 1, "topic": "a"}]`,
		"cut.json":     `[{"text": "one"}, {"text": "tw`,
		"tail.json":    `[{"text": "one"}] more`,
		"comma.json":   `[{"text": "one"} {"text": "two"}]`,
		"last.json":    `[{"text": "one"}, ]`,
		"mixed.json":   `[{"text": "one"}, 3, "x", [1], {"txt": "a"}, {"text": "` + long + `"}, {"text": "last"}]`,
		"longid.jsonl": `{"id":"` + strings.Repeat("i", MaxIDBytes+1) + `","text":"one"}` + "\n" +
			`{"id":"b","text":"two"}`,
		"sum.jsonl.bz2": strings.Replace(string(hexBytes(t, bzip2Other)), "QyCP", "QyCQ", 1), // the checksum of its block
		"short.xz":      string(hexBytes(t, xzHello)[:40]),
		"open.csv":      "text\n\"" + strings.Repeat(long, 100),
		"many.csv":      "id,text\n" + strings.Repeat("same,row\n", 5000),
		"cr.csv":        "id,text\ra,first\rb,second\r",
		"short.txt.gz":  gz(t, long)[:20],
		"long.txt":      long,
		"bomb.txt.gz":   gz(t, strings.Repeat(long, 10_000)),
		"bad.txt":       "a\xff\xfe\xfdb\xc3 c",
		"dir/bad.gz":    gz(t, long)[:20],
		"dir/ok.txt":    "ok",
		"pdf.pdf":       "%PDF-1.7 text",
		"a.jsonl.Z":     "\x1f\x9d\x90{\x02",
		"d2/a.jsonl.Z":  "\x1f\x9d\x90{\x02",
		"u.csv":         "\xff\xfei\x00d\x00,\x00t\x00e\x00x\x00t\x00\n\x00",
		"u.jsonl":       "\xfe\xff\x00{\x00}",
		"e.parquet":     "",
		"e.json":        "",
		"e.parquet.gz":  gz(t, ""),
		"id.csv":        "id,text\n\xff,one\n\xfe,two\n",
		"table":         "PAR1....",
	})
	limit := Options{MaxDocumentBytes: 100}
	strict := Options{MaxDocumentBytes: 100, Strict: true}
	for _, c := range []struct {
		name   string
		opts   Options
		inputs string
		want   []string
		err    string
	}{
		{name: "missing", inputs: "bad.txt gone.txt long.txt", want: []string{"bad.txt: aÿþýbÃ c"},
			err: "gone.txt: no such file or directory"},
		{name: "pattern without match", inputs: "*.nothing",
			err: "*.nothing: no such file, and nothing matches it as a pattern"},
		{name: "bad pattern", inputs: "[a", err: "[a: syntax error in pattern"},
		{name: "lines", opts: limit, inputs: "broken.jsonl", want: []string{
			"broken.jsonl:1: one",
			"skip: broken.jsonl:2: broken: byte 8: no value where one was expected",
			"skip: broken.jsonl:3: broken: a JSON array where an object was expected",
			`skip: broken.jsonl:4: no text field: no field "text" among ["txt"]`,
			`skip: broken.jsonl:5: no text field: field "text" is a JSON number, not a string`,
			"skip: broken.jsonl:6: too large: more than 100 bytes",
			"broken.jsonl:7: last",
		}},
		{name: "lines, strict", opts: strict, inputs: "broken.jsonl", want: []string{"broken.jsonl:1: one"},
			err: "broken.jsonl:2: broken: byte 8: no value where one was expected"},
		{name: "records", inputs: "broken.csv", want: []string{
			`skip: broken.csv:2: broken: extraneous or missing " in quoted-field`, "broken.csv:3: last"}},
		{name: "records whose lines end with CR", inputs: "cr.csv",
			err: `cr.csv:1: its lines end with CR alone: change that first, such as by tr '\r' '\n'`},
		{name: "records without the field", inputs: "nofield.csv", opts: Options{TextField: "text"},
			err: `nofield.csv:1: no field "text" among id, topic; --text names the field`},
		{name: "records without a field", inputs: "nofield.csv",
			err: `nofield.csv:1: none of the fields id, topic is known to hold the text; --text names the field`},
		{name: "records without a field, and a column without a name", inputs: "nameless.csv",
			err: `nameless.csv:1: none of the fields , other is known to hold the text; --text names the field`},
		{name: "objects without a field", inputs: "nofield.json",
			err: `nofield.json: none of the fields id, topic is known to hold the text; --text names the field`},
		{name: "an array that is cut", inputs: "cut.json", want: []string{"cut.json:1: one",
			"skip: cut.json:2: unreadable: a JSON value does not end: is the file cut short?"}},
		{name: "an array with something behind", inputs: "tail.json", want: []string{"tail.json:1: one",
			"skip: tail.json:1: unreadable: something else follows the array"}},
		{name: "an array without a comma", inputs: "comma.json", want: []string{"comma.json:1: one",
			"skip: comma.json:1: unreadable: '{' where a comma was expected"}},
		{name: "an array with a comma at its end", inputs: "last.json", want: []string{"last.json:1: one",
			"skip: last.json:2: unreadable: no JSON value where one was expected"}},
		{name: "an array of all kinds", opts: limit, inputs: "mixed.json", want: []string{"mixed.json:1: one",
			"skip: mixed.json:2: broken: no JSON object", "skip: mixed.json:3: broken: no JSON object",
			"skip: mixed.json:4: broken: no JSON object",
			`skip: mixed.json:5: no text field: no field "text" among ["txt"]`,
			"skip: mixed.json:6: too large: more than 100 bytes", "mixed.json:7: last"}},
		{name: "an ID that no index holds", inputs: "longid.jsonl", want: []string{
			`skip: longid.jsonl:1: broken: ID has 32769 bytes, the limit is 32768: "` +
				strings.Repeat("i", 60) + `"`, "b: two"}},
		{name: "truncated xz", inputs: "short.xz", want: []string{
			"skip: short.xz: unreadable: after 6 bytes: xz: unexpected EOF: is the file cut short?"}},
		{name: "damaged bzip2 without the field", inputs: "sum.jsonl.bz2", want: []string{
			"skip: sum.jsonl.bz2: unreadable: bzip2: bzip2 data invalid: block checksum mismatch"}},
		{name: "open quote", opts: limit, inputs: "open.csv",
			want: []string{"skip: open.csv:2: too large: more than 100 bytes"}},
		{name: "many records", opts: limit, inputs: "many.csv", want: slices.Repeat([]string{"same: row"}, 5000)},
		{name: "truncated gzip", inputs: "short.txt.gz long.txt",
			want: []string{"skip: short.txt.gz: unreadable: after 200 bytes: gzip: unexpected EOF: is the file cut short?",
				"long.txt: " + long}},
		{name: "truncated gzip in a folder", inputs: "dir",
			want: []string{"skip: dir/bad.gz: unreadable: after 200 bytes: gzip: unexpected EOF: is the file cut short?",
				"dir/ok.txt: ok"}},
		{name: "truncated gzip in a folder, strict", opts: Options{Strict: true}, inputs: "dir",
			err: "dir/bad.gz: unreadable: after 200 bytes: gzip: unexpected EOF: is the file cut short?"},
		{name: "too large", opts: limit, inputs: "long.txt bomb.txt.gz bad.txt", want: []string{
			"skip: long.txt: too large: more than 100 bytes", "skip: bomb.txt.gz: too large: more than 100 bytes",
			"bad.txt: aÿþýbÃ c"}},
		{name: "binary", inputs: "pdf.pdf", want: []string{
			"skip: pdf.pdf: unreadable: binary: a PDF document; if it is text, give its --input-format"}},
		{name: "compressed by compress", inputs: "a.jsonl.Z d2", want: []string{
			"skip: a.jsonl.Z: unreadable: binary: compressed by compress, which gzip -d reads; decompress it first",
			"skip: d2/a.jsonl.Z: unreadable: binary: compressed by compress, which gzip -d reads; decompress it first"}},
		{name: "UTF-16", inputs: "u.csv u.jsonl", want: []string{
			"skip: u.csv: unreadable: it is in UTF-16, in which csv is not read; convert it first: iconv -f UTF-16 -t UTF-8 u.csv",
			"skip: u.jsonl: unreadable: it is in UTF-16, in which jsonl is not read; convert it first: iconv -f UTF-16 -t UTF-8 u.jsonl"}},
		{name: "empty", inputs: "e.parquet e.parquet.gz e.json"},
		{name: "IDs that are no UTF-8", inputs: "id.csv", want: []string{"ff: one", "fe: two"}},
		{name: "binary, of no known format", inputs: "zero", want: []string{
			"skip: zero: unreadable: binary: it has zero bytes; if it is text, give its --input-format"}},
		{name: "binary, by bytes far behind the first", inputs: "archive", want: []string{
			"skip: archive: unreadable: binary: a tar archive; if it is text, give its --input-format"}},
		{name: "parquet by its content", inputs: "table",
			want: []string{"skip: table: unreadable: 8 bytes, which is too few: is the file cut short?"}},
		{name: "unknown format", opts: Options{Format: "doc"}, inputs: "bad.txt",
			err: `format "doc": must be one of auto, text, html, jsonl, json, lines, csv, parquet, warc`},
		{name: "unknown way of extraction", opts: Options{Extract: "body"}, inputs: "bad.txt",
			err: `"body": must be main, all or auto`},
		{name: "no stdin", inputs: "-", err: "-: standard input is not available"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(t, c.opts, nil, strings.Fields(c.inputs)...)
			if fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
				t.Errorf("error %v, want %s", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := read(t, Options{}, nil, "gone.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v does not wrap fs.ErrNotExist", err)
	}
}

// TestReadGivesUpWaiting cancels before anyone reads, and when all wait for input.
func TestReadGivesUpWaiting(t *testing.T) {
	for _, before := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			in, nobody := io.Pipe()
			defer nobody.Close()
			if before {
				cancel()
			}
			go func() {
				synctest.Wait()
				cancel()
			}()
			for _, err := range Read(ctx, []string{input.Stdin}, Options{}, in) {
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("%v, want the context's error", err)
				}
			}
		})
	}
}
