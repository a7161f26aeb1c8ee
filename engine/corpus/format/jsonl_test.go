package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
)

func TestJSONFields(t *testing.T) {
	for _, c := range []struct {
		name, line string
		opts       Options
		id, text   string
		reason     input.Reason
		says       string
	}{
		{name: "plain", line: `{"id":"a","text":"b"}`, id: "a", text: "b"},
		{name: "no id", line: `{"text":"b"}`, id: "f:3", text: "b"},
		{name: "empty id", line: `{"id":"","text":"b"}`, id: "f:3", text: "b"},
		{name: "null id", line: `{"id":null,"text":"b"}`, id: "f:3", text: "b"},
		{name: "number as id", line: `{"id":-1.50e3,"text":"b"}`, id: "-1.50e3", text: "b"},
		{name: "empty text", line: `{"id":"a","text":""}`, id: "a"},
		{name: "escapes", line: `{"id":"\u00e9\n","text":"\u4e2d\ud83d\ude00\"\\\/\t"}`, id: "é\n", text: "中😀\"\\/\t"},
		{name: "invalid bytes in the text", line: "{\"text\":\"a\xff\xfeb\xffc\"}", reason: input.Broken,
			says: `field "text" is invalid UTF-8: byte 0xff at offset 1`},
		{name: "invalid bytes in the id", line: "{\"id\":\"caf\xe9\",\"text\":\"b\"}", reason: input.Broken,
			says: `field "id" is invalid UTF-8: byte 0xe9 at offset 3`},
		{name: "invalid bytes elsewhere", line: "{\"x\":\"caf\xe9\",\"text\":\"b\"}", id: "f:3", text: "b"},
		{name: "half a pair in the text", line: `{"text":"a\ud800b"}`, reason: input.Broken,
			says: `field "text" has half a surrogate pair, \ud800`},
		{name: "the second half in the text", line: `{"text":"\udc00\ud800"}`, reason: input.Broken,
			says: `half a surrogate pair, \udc00`},
		{name: "half a pair in the id", line: `{"id":"\ud83d\u0041","text":"b"}`, reason: input.Broken,
			says: `field "id" has half a surrogate pair`},
		{name: "half a pair elsewhere", line: `{"x":"\ud800","text":"b"}`, id: "f:3", text: "b"},
		{name: "text twice", line: `{"text":"a","text":"b"}`, reason: input.Broken, says: `field "text" occurs twice`},
		{name: "text twice, once escaped", line: `{"text":"a","te\u0078t":"b"}`, reason: input.Broken,
			says: `field "text" occurs twice`},
		{name: "id twice", line: `{"id":1,"text":"a","id":2}`, reason: input.Broken, says: `field "id" occurs twice`},
		{name: "another field twice", line: `{"x":1,"text":"a","x":2}`, id: "f:3", text: "a"},
		{name: "lenient", line: "{\"x\":NaN,\"y\":-Infinity,\"text\":\"a\tb\\q\"}", id: "f:3", text: "a\tb\\q"},
		{name: "a list of objects", line: `{"m":[{"r":"user","c":"one"},{"c":null},{"r":"x"},{"c":"tw\u006f"}]}`,
			opts: Options{TextField: "m.c"}, id: "f:3", text: "one\ntwo"},
		{name: "a list of objects, in brackets", line: `{"m":[{"c":"one"},{"c":"two"}],"i":{"d":["x","y"]}}`,
			opts: Options{TextField: "m[].c", IDField: "i.d.1"}, id: "y", text: "one\ntwo"},
		{name: "a list of strings", line: `{"p":["one","two"]}`, opts: Options{TextField: "p[]"}, id: "f:3",
			text: "one\ntwo"},
		{name: "a list that no brackets name", line: `{"p":["one","two"]}`, opts: Options{TextField: "p"}, reason: input.NoText,
			says: `field "p" is a JSON array`},
		{name: "lists in lists", line: `{"a":[[{"b":["x","y"]}],[]],"c":[{"b":["z"]}]}`,
			opts: Options{TextField: "a[][].b[]"}, id: "f:3", text: "x\ny"},
		{name: "an id that is a list", line: `{"m":[{"i":"a"},{"i":"b"}],"text":"t"}`, opts: Options{IDField: "m.i"},
			id: "f:3", text: "t"},
		{name: "an empty list", line: `{"m":[]}`, opts: Options{TextField: "m.c"}, reason: input.NoText,
			says: `no field "m.c" among ["m"]`},
		{name: "numbers only in a list", line: `{"m":[{"c":1},{"c":2}]}`, opts: Options{TextField: "m.c"}, reason: input.NoText,
			says: `field "m.c" is a JSON number`},
		{name: "other fields", line: `{"url":"u","content":"c"}`, opts: Options{TextField: "content", IDField: "url"},
			id: "u", text: "c"},
		{name: "field in an object", line: `{"meta":{"id":"u"},"a":{"b":{"c":"t"}}}`, opts: Options{TextField: "a.b.c",
			IDField: "meta.id"}, id: "u", text: "t"},
		{name: "field with a dot in its name", line: `{"a.b":"t","a":{"b":"no"}}`, opts: Options{TextField: "a.b"}, id: "f:3",
			text: "t"},
		{name: "no text", line: `{"id":"a"}`, reason: input.NoText, says: `no field "text"`},
		{name: "text is null", line: `{"text":null}`, reason: input.NoText, says: "JSON null"},
		{name: "an array", line: `[1]`, reason: input.Broken, says: "JSON array"},
		{name: "an object in an array", line: `[{"text":"a"}]`, reason: input.Broken, says: "JSON array"},
		{name: "nothing after the colon", line: `{"text":`, reason: input.Broken},
		{name: "two objects", line: `{"text":"a"}{"text":"b"}`, reason: input.Broken},
		{name: "deep", line: strings.Repeat("[", 100_000), reason: input.Broken},
		{name: "long and broken", line: `{"text":` + strings.Repeat("x", 10_000), reason: input.Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields := c.opts.choose(fieldCount{"text": 1}, fieldCount{"id": 1})
			unit := Unit{Source: "f", Line: 3, format: JSONL, raw: []byte(c.line), fields: &fields}
			doc, err := NewExtractor(t.Context(), c.opts).Extract(unit)
			if c.reason == "" {
				want := Document{ID: c.id, Source: "f", Line: 3, Text: c.text, NoID: c.id == "f:3"}
				if diff := cmp.Diff(want, doc); diff != "" || err != nil {
					t.Error(err, diff)
				}
				return
			}
			skip, ok := errors.AsType[*input.Skip](err)
			if !ok || skip.Reason != c.reason || skip.Source != "f" || skip.Line != 3 ||
				!strings.Contains(err.Error(), c.says) || len(err.Error()) > 300 {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestNoSuchField checks that a field that no record has is an error at once. A field that a later record has is not.
func TestNoSuchField(t *testing.T) {
	without := strings.Repeat(`{"url":"u","text":"a"}`+"\n", 1200)
	for name, in := range map[string]string{"few": without[:46], "many": without + `{"txt":"b"}`,
		"after a broken line": "{\n" + without[:46], "an array": `[{"url":"u","text":"a"}]`} {
		o := Options{TextField: "txt"}
		if o.Format = JSONL; name == "an array" {
			o.Format = JSON
		}
		got, err := read(t, o, strings.NewReader(in), input.Stdin)
		if e, ok := errors.AsType[*FieldError](err); !ok || len(got) > 0 ||
			e.Error() != `no field "txt" among url, text; --text names the field` {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, c := range map[string]struct {
		in           string
		texts, skips int
	}{
		"late":              {without[:460] + `{"txt":"b"}` + "\n" + without[:46], 1, len(without[:460])/23 + 2},
		"broken lines only": {"{\n{\n", 0, 2},
		"no lines":          {"", 0, 0},
	} {
		got, err := read(t, Options{Format: JSONL, TextField: "txt"}, strings.NewReader(c.in), input.Stdin)
		skips := strings.Count(strings.Join(got, "\n"), "skip: ")
		if err != nil || len(got)-skips != c.texts || skips != c.skips {
			t.Errorf("%s: %d documents, %d skips, %v", name, len(got)-skips, skips, err)
		}
	}
}

// TestNoID checks that a record is marked if the field for IDs has no ID. The options name the field, or most records
// have it.
func TestNoID(t *testing.T) {
	tree(t, map[string]string{"a.jsonl": `{"text":"one","key":"x"}` + "\n" + `{"text":"two"}` + "\n",
		"a.csv": "text,id\none,x\ntwo,\n", "a.txt": "one\n",
		"b.jsonl": `{"text":"one","id":"x"}` + "\n" + `{"text":"two","id":null}` + "\n" + `{"text":"three","id":["x"]}` + "\n",
		"c.jsonl": `{"text":"one","id":true}` + "\n", "d.jsonl": `{"text":"one","id":null,"url":"x"}` + "\n"})
	for field, want := range map[string][]bool{"key": {false, true, true, true, false, true, true, true, true, true},
		"": {false, false, false, true, false, false, true, true, true, false}} {
		var got []bool
		for doc, err := range Read(t.Context(), []string{"a.jsonl", "a.csv", "a.txt", "b.jsonl", "c.jsonl", "d.jsonl"},
			Options{IDField: field}, nil) {
			must.Do(t, err)
			got = append(got, doc.NoID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("field %q: %v, want %v", field, got, want)
		}
	}
}

// TestRecordMemory checks that a record takes at most 16 times its size plus 1 MiB, for any content of unused fields.
func TestRecordMemory(t *testing.T) {
	keys := make([]byte, 0, 5<<20)
	for i := 0; len(keys) < 5<<20; i++ {
		keys = fmt.Appendf(keys, `"k%d":1,`, i)
	}
	for name, line := range map[string]string{
		"small values": `{"text":"a","x":[1` + strings.Repeat(",1", 5<<19) + `]}`,
		"small lists":  `{"text":"a","x":[[]` + strings.Repeat(",[]", 5<<18) + `]}`,
		"keys":         `{` + string(keys) + `"text":"a"}`,
		"no text":      `{` + string(keys) + `"t":"a"}`,
		"list":         `{"text":"a","x":[{"c":"b"}` + strings.Repeat(`,{"c":"b"}`, 5<<17) + `]}`,
	} {
		for _, o := range []Options{{}, {Format: JSON}, {TextField: "x[].c"}} {
			t.Run(fmt.Sprintf("%s, %v", name, o), func(t *testing.T) {
				hostile.Allocates(t, hostile.Limit(uint64(len(line))), func() {
					for range Read(t.Context(), []string{input.Stdin}, o, strings.NewReader(line+"\n")) {
					}
				})
			})
		}
	}
}

// FuzzJSONL checks that lines are read as by encoding/json, nothing panics, and the result is valid UTF-8.
func FuzzJSONL(f *testing.F) {
	for _, lines := range []string{`{"text":"a","id":1}`, "{\"text\":\"\xff\"}\n{}", `{"text":"\ud800"}`,
		`{"id":{},"text":"x"}`, "\n\n[", `{"text":"a","text":"b"}`} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		found := map[int]string{}
		for doc, err := range Read(t.Context(), []string{input.Stdin}, Options{Format: JSONL}, bytes.NewReader(in)) {
			if _, ok := errors.AsType[*input.Skip](err); ok {
				continue
			}
			if err != nil {
				return // bytes that claim to be gzip or zstd
			}
			if !utf8.ValidString(doc.Text) || doc.Line < 1 {
				t.Fatalf("%+v", doc)
			}
			found[doc.Line] = doc.Text
		}
		for i, line := range bytes.Split(bytes.TrimPrefix(in, []byte("\xef\xbb\xbf")), []byte("\n")) {
			var v struct {
				Text *string `json:"text"`
			}
			if !utf8.Valid(line) || bytes.Contains(line, []byte(`\u`)) || bytes.Count(bytes.ToLower(line),
				[]byte("text")) != 1 ||
				bytes.Contains(line, []byte(`\`)) || len(line) > 250 || json.Unmarshal(line, &v) != nil || v.Text == nil {
				continue // the two differ on purpose: repeated names, case, lone surrogates, depth
			}
			if !bytes.Contains(line, []byte(`"text"`)) {
				continue
			}
			if got, ok := found[i+1]; !ok || got != *v.Text {
				t.Fatalf("line %d: %q: got %q, %v; want %q", i+1, line, got, ok, *v.Text)
			}
		}
	})
}

func TestValues(t *testing.T) {
	tree(t, map[string]string{
		"a.jsonl": `{"text":"a","meta":{"score":1.50},"date":"d"}
{"text":"b","date":"d"}
{"text":"c","date":null,"later":7}
{"text":"d"}`,
		"b.csv": "later,text,date\n1,a,2\n3,b,\n,c,\n",
		"c.txt": "words",
	})
	when := time.Unix(1_700_000_000, 5)
	must.Do(t, os.Chtimes("c.txt", when, when))
	opts := Options{ValueFields: [][]string{{"meta.score", "date", "later"}, {"later"}}}
	var got bytes.Buffer
	for doc, err := range Read(t.Context(), []string{"a.jsonl", "b.csv", "c.txt"}, opts, nil) {
		must.Do(t, err)
		if doc.Line > 0 && doc.Modified != 0 || doc.Line == 0 && doc.Modified != when.UnixNano() {
			t.Errorf("%s: modified %d", doc.ID, doc.Modified)
		}
		for _, v := range doc.Values {
			if !v.Found {
				v.Text = "none"
			}
			got.WriteString(v.Text + " ")
		}
		got.WriteString("| ")
	}
	if got.String() != "1.50 none | d none | 7 7 | none none | 2 1 | 3 3 | none none | | " {
		t.Error(got.String())
	}
}

// TestFieldChoice checks that the first records of a file decide together which fields are taken of all, and of several
// that the options name each record's first one is taken.
func TestFieldChoice(t *testing.T) {
	many := func(line string) string { return strings.Repeat(line+"\n", 30) }
	for name, c := range map[string]struct {
		in    string
		opts  Options
		texts int // number of documents with the text "good" and the ID "i"
		skips int
	}{
		"null first":      {`{"id":"i","text":null}` + "\n" + many(`{"id":"i","text":"good"}`), Options{}, 30, 1},
		"a number first":  {`{"id":"i","text":5}` + "\n" + many(`{"id":"i","text":"good"}`), Options{}, 30, 1},
		"an error first":  {`{"content":"timeout","url":"u"}` + "\n" + many(`{"id":"i","text":"good"}`), Options{}, 30, 1},
		"errors first":    {strings.Repeat(`{"body":"timeout"}`+"\n", 9) + many(`{"url":"i","content":"good"}`), Options{}, 30, 9},
		"a broken first":  {"{\n" + many(`{"id":"i","text":"good"}`), Options{}, 30, 1},
		"a text in few":   {many(`{"id":"i","content":"good"}`) + `{"id":"i","text":"bad"}` + "\n", Options{}, 30, 1},
		"a skip between":  {`{"id":"i","text":""}` + "\n{" + strings.Repeat("x", 2000) + "\n" + many(`{"id":"i","text":"good"}`), Options{MaxDocumentBytes: 1000}, 30, 1},
		"either":          {many(`{"id":"i","a":"good"}`) + many(`{"id":"i","a":null,"b":"good"}`) + `{"id":"i"}` + "\n", Options{TextField: "a,b"}, 60, 1},
		"one is empty":    {many(`{"id":"i","a":"","b":"good"}`), Options{TextField: "a,b"}, 30, 0},
		"both":            {many(`{"id":"i","b":"bad","a":"good"}`), Options{TextField: "a,b"}, 30, 0},
		"table":           {"id,text,content\n" + many(`i,,good`), Options{Format: CSV}, 30, 0},
		"table, either":   {"id,a,b\n" + many(`i,good,bad`) + many(`i,,good`), Options{Format: CSV, TextField: "a,b"}, 60, 0},
		"table, one text": {"id,text,content\ni,bad,\n" + many(`i,,good`), Options{Format: CSV}, 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if c.opts.Format == "" {
				c.opts.Format = JSONL
			}
			texts, skips := 0, 0
			for doc, err := range Read(t.Context(), []string{input.Stdin}, c.opts, strings.NewReader(c.in)) {
				if _, ok := errors.AsType[*input.Skip](err); ok {
					skips++
				} else if err != nil {
					t.Fatal(err)
				} else if doc.Text == "good" && doc.ID == "i" {
					texts++
				}
			}
			if texts != c.texts || skips != c.skips {
				t.Errorf("%d documents and %d skips, want %d and %d", texts, skips, c.texts, c.skips)
			}
		})
	}
}

// TestInnerText checks that a field that holds texts within is named.
func TestInnerText(t *testing.T) {
	in := strings.Repeat(`{"id":1,"messages":[{"role":"user","content":"a"}]}`+"\n", 5)
	_, err := read(t, Options{Format: JSONL}, strings.NewReader(in), input.Stdin)
	if err == nil || !strings.HasSuffix(err.Error(), "such as messages.content") {
		t.Error(err)
	}
	got, err := read(t, Options{Format: JSONL, TextField: "messages"}, strings.NewReader(in), input.Stdin)
	if err != nil || len(got) != 5 || !strings.Contains(got[0], "--text messages.content names the texts in it") {
		t.Errorf("%q, %v", got, err)
	}
	lists := strings.NewReader(`{"text":["a","b"]}`)
	if got, err = read(t, Options{Format: JSONL, TextField: "text"}, lists, input.Stdin); err != nil || len(got) != 1 ||
		!strings.Contains(got[0], "--text text[] names the texts in it") {
		t.Errorf("%q, %v", got, err)
	}
}
