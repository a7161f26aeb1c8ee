package document

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ndd/engine/oracle/must"
)

// TestPlaces cuts parts of texts out of files by their places, and demands files that are otherwise
// the same, byte for byte, and have the texts without the parts.
func TestPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	pieces := []string{"a", "word ", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\ud83d\ude00`,
		"é", "漢", "🙂", `\t`, `\q`, `\uzz`}
	quotedText := func() string {
		var b strings.Builder
		for range rng.IntN(40) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	for _, format := range []Format{JSONL, JSON, Lines, Text} {
		for round := range 60 {
			var file strings.Builder
			if round%3 == 0 && format != JSON {
				file.WriteString(utf8Mark)
			}
			for i := range 1 + rng.IntN(5) {
				switch format {
				case JSONL:
					fmt.Fprintf(&file, `%s{"x": [1, "text"], "text" : "%s","id":"%d" } %s`, strings.Repeat(" ", i%2),
						quotedText(), i, "\r\n")
				case JSON:
					fmt.Fprintf(&file, "%s {\n\"text\":\"%s\", \"id\": %d}", []string{"[", ","}[min(i, 1)], quotedText(), i)
				default:
					var text string
					json.Unmarshal([]byte(`"`+strings.NewReplacer(`\q`, "q", `\uzz`, "z", `\n`, "").Replace(quotedText())+`"`), &text)
					fmt.Fprintf(&file, " %s \r\n", text)
				}
			}
			if format == JSON {
				file.WriteString("\n]\n")
			}
			checkPlaces(t, rng, format, file.String())
		}
	}
}

func checkPlaces(t *testing.T, rng *rand.Rand, format Format, file string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	opts := Options{Format: format}
	extractor := NewExtractor(opts)
	write := func(content string) (units []Unit, texts []string) {
		must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		for u, err := range Scan(context.Background(), []string{path}, opts, nil) {
			must.Do(t, err)
			doc, err := extractor.Extract(u)
			must.Do(t, err)
			units, texts = append(units, u), append(texts, doc.Text)
		}
		return units, texts
	}
	units, texts := write(file)
	var all []Range
	var want []string
	end := int64(0)
	for i, u := range units {
		if format == JSONL && u.From != end {
			t.Fatalf("%q: a unit begins at byte %d, and the one before ends at %d", file, u.From, end)
		}
		end = u.To
		var parts []Range
		for at := 0; at < len(texts[i]); {
			_, size := utf8.DecodeRuneInString(texts[i][at:])
			if last := len(parts) - 1; rng.IntN(4) == 0 {
				if last >= 0 && parts[last].To == int64(at) {
					parts[last].To += int64(size)
				} else {
					parts = append(parts, Range{int64(at), int64(at + size)})
				}
			}
			at += size
		}
		places, ok := extractor.Places(u, parts)
		if !ok { // of an escape that is none, half may not go
			if !strings.Contains(file, `\q`) && !strings.Contains(file, `\uzz`) {
				t.Fatalf("%s: %q: no places of %v in %q", format, file, parts, texts[i])
			}
			parts = nil
		}
		all = append(all, places...)
		want = append(want, string(without(nil, []byte(texts[i]), parts)))
	}
	_, got := write(string(without(nil, []byte(file), all)))
	if format == Lines { // a line has no white space at its ends, and there may be none
		want = strings.FieldsFunc(strings.Join(want, "\n"), func(r rune) bool { return r == '\n' })
		for i := range want {
			want[i] = strings.TrimSpace(want[i])
		}
		want = strings.FieldsFunc(strings.Join(want, "\n"), func(r rune) bool { return r == '\n' })
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Fatalf("%s: %q without %v has %q, want %q", format, file, all, got, want)
	}
}

// TestNoPlaces: texts that do not lie in their files have no places.
func TestNoPlaces(t *testing.T) {
	for name, file := range map[string]string{
		"a.csv": "id,text\n1,abc\n", "a.html": "<p>abc</p>", "a.txt": "abc \xff\xfe\xe9",
		"a.jsonl": `{"text":["abc","d"]}` + "\n", "b.jsonl": `{"html":"abc"}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(file), 0o600))
		n := 0
		opts := Options{TextField: map[string]string{"a.jsonl": "text[]"}[name]}
		for u, err := range Scan(context.Background(), []string{path}, opts, nil) {
			must.Do(t, err)
			n++
			if places, ok := NewExtractor(opts).Places(u, []Range{{0, 1}}); ok {
				t.Errorf("%s: %v", name, places)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d units", name, n)
		}
	}
}
