package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestJSONFields(t *testing.T) {
	for _, c := range []struct {
		name, line    string
		opts          Options
		id, text      string
		repaired      int
		reason        Reason
		errorContains string
	}{
		{name: "plain", line: `{"id":"a","text":"b"}`, id: "a", text: "b"},
		{name: "no id", line: `{"text":"b"}`, id: "f:3", text: "b"},
		{name: "empty id", line: `{"id":"","text":"b"}`, id: "f:3", text: "b"},
		{name: "null id", line: `{"id":null,"text":"b"}`, id: "f:3", text: "b"},
		{name: "number as id", line: `{"id":-1.50e3,"text":"b"}`, id: "-1.50e3", text: "b"},
		{name: "empty text", line: `{"id":"a","text":""}`, id: "a"},
		{name: "escapes", line: `{"id":"\u00e9\n","text":"\u4e2d\ud83d\ude00\"\\\/\t"}`, id: "é\n", text: "中😀\"\\/\t"},
		{name: "invalid bytes", line: "{\"text\":\"a\xff\xfeb\xffc\"}", id: "f:3", text: "a\ufffdb\ufffdc", repaired: 2},
		{name: "other fields", line: `{"url":"u","content":"c"}`, opts: Options{TextField: "content", IDField: "url"}, id: "u", text: "c"},
		{name: "field in an object", line: `{"meta":{"id":"u"},"a":{"b":{"c":"t"}}}`, opts: Options{TextField: "a.b.c", IDField: "meta.id"}, id: "u", text: "t"},
		{name: "field with a dot in its name", line: `{"a.b":"t","a":{"b":"no"}}`, opts: Options{TextField: "a.b"}, id: "f:3", text: "t"},
		{name: "no text", line: `{"id":"a"}`, reason: NoText, errorContains: `no field "text"`},
		{name: "text is null", line: `{"text":null}`, reason: NoText, errorContains: "JSON null"},
		{name: "an array", line: `[1]`, reason: Broken, errorContains: "JSON array"},
		{name: "nothing after the colon", line: `{"text":`, reason: Broken},
		{name: "two objects", line: `{"text":"a"}{"text":"b"}`, reason: Broken},
		{name: "deep", line: strings.Repeat("[", 100_000), reason: Broken},
		{name: "long and broken", line: `{"text":` + strings.Repeat("x", 10_000), reason: Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := NewExtractor(c.opts).Extract(Unit{Source: "f", Line: 3, format: JSONL, raw: []byte(c.line)})
			if c.reason == "" {
				want := Document{ID: c.id, Source: "f", Line: 3, Text: c.text, Bytes: len(c.line), Repaired: c.repaired}
				if diff := cmp.Diff(want, doc); diff != "" || err != nil {
					t.Error(err, diff)
				}
				return
			}
			skip, ok := errors.AsType[*Skip](err)
			if !ok || skip.Reason != c.reason || skip.Source != "f" || skip.Line != 3 ||
				!strings.Contains(err.Error(), c.errorContains) || len(err.Error()) > 300 {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestLongLines has lines around the sizes of the buffers, with and without an end of line at the end.
func TestLongLines(t *testing.T) {
	for _, size := range []int{1, 4095, 4096, 4097, diskBufferBytes - 1, diskBufferBytes, diskBufferBytes + 1, 3 * diskBufferBytes} {
		for _, end := range []string{"", "\n", "\r\n", "\n\n\r\n"} {
			text := strings.Repeat("x", size)
			in := "\xef\xbb\xbf{\"text\":\"" + text + "\"}\n{\"text\":\"" + text + "y\"}" + end
			n := 0
			for doc, err := range Read(t.Context(), []string{Stdin}, Options{Format: JSONL}, strings.NewReader(in)) {
				n++
				if err != nil || doc.Text != (text + "y")[:size+n-1] || doc.Line != n {
					t.Fatalf("size %d: line %d: %d bytes, %v", size, doc.Line, len(doc.Text), err)
				}
			}
			if n != 2 {
				t.Fatalf("size %d, end %q: %d documents", size, end, n)
			}
		}
	}
}

// FuzzJSONL: what encoding/json reads is read alike; nothing panics; what comes out is valid UTF-8.
func FuzzJSONL(f *testing.F) {
	for _, lines := range []string{`{"text":"a","id":1}`, "{\"text\":\"\xff\"}\n{}", `{"text":"\ud800"}`, `{"id":{},"text":"x"}`, "\n\n[", `{"text":"a","text":"b"}`} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		found := map[int]string{}
		for doc, err := range Read(t.Context(), []string{Stdin}, Options{Format: JSONL}, bytes.NewReader(in)) {
			if _, ok := errors.AsType[*Skip](err); ok {
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
			if !utf8.Valid(line) || bytes.Contains(line, []byte(`\u`)) || bytes.Count(bytes.ToLower(line), []byte("text")) != 1 ||
				bytes.Contains(line, []byte(`\`)) || len(line) > 250 || json.Unmarshal(line, &v) != nil || v.Text == nil {
				continue // beyond what the two promise to read alike: repeated names, case, lone surrogates, depth
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
