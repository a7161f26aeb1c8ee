package format

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/oracle/must"
)

const mark = text.ByteOrderMark

// TestLinePlaces checks that lines have their numbers and positions: after a byte order mark and blank lines, if they
// are longer than buffers or the limit, and for any size of the reads from a pipe.
func TestLinePlaces(t *testing.T) {
	content := mark + " one \r\n\n \t\n" + strings.Repeat("long ", 30_000) + "\n" + mark + "two\n" +
		strings.Repeat("short\n", 3000) + "end"
	for _, maximum := range []int64{5, 20, 1 << 20} {
		var want []string
		offset := int64(0)
		for i, line := range strings.SplitAfter(content, "\n") {
			from, text := offset, strings.TrimSpace(line)
			if offset += int64(len(line)); i == 0 {
				text = strings.TrimSpace(strings.TrimPrefix(line, mark))
			}
			switch {
			case int64(len(line)) > maximum:
				want = append(want, fmt.Sprintf("-:%d: too large: more than %d bytes 0 0 0", i+1, maximum))
			case text != "":
				want = append(want, fmt.Sprintf("%d %d %d \"\" %q", i+1, from, offset, text))
			}
		}
		for _, byBytes := range []bool{false, true} {
			in := iotest.HalfReader(strings.NewReader(content))
			if byBytes {
				in = iotest.OneByteReader(strings.NewReader(content))
			}
			var got []string
			for u, err := range Scan(t.Context(), []string{input.Stdin}, Options{Format: Lines, MaxDocumentBytes: maximum}, in) {
				got = append(got, unitText(u, err))
				if b := content[u.From:u.To]; err == nil && !strings.HasPrefix(content[u.rawOffset:u.To], string(u.raw)) {
					t.Fatalf("%q at byte %d of %q", u.raw, u.rawOffset-u.From, b)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("at most %d bytes: %.2000q, want %.2000q", maximum, got, want)
			}
		}
	}
}

// TestRecordPlaces checks that the bytes of a CSV record, parsed alone, give the same text, with quotes, blank lines
// and line ends anywhere. Records follow each other without gaps.
func TestRecordPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for n := range 200 {
		name := []string{"a.csv", "a.tsv"}[n%2]
		comma := separator(name)
		header := mark + "id" + comma + "text\n"
		var b strings.Builder
		b.WriteString(header)
		for range 100 {
			b.WriteString([]string{"a", "b c", "\"", "\"\"", "\n", "\r\n", "\n1" + comma, ",", "\t"}[r.IntN(9)])
		}
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(b.String()), 0o644))
		end := int64(0)
		for u, err := range Units(t.Context(), input.File{Path: path}, Options{}, nil) {
			if err != nil {
				continue
			}
			record := b.String()[u.From:u.To]
			must.Do(t, os.WriteFile(path, []byte(header+record), 0o644))
			again := 0
			for v, err := range Units(t.Context(), input.File{Path: path}, Options{}, nil) {
				if again++; err != nil || v.id != u.id || string(v.raw) != string(u.raw) {
					t.Fatalf("%q in %q: %s, %v", record, b.String(), unitText(v, nil), err)
				}
			}
			if name == "a.csv" {
				fields, err := csv.NewReader(strings.NewReader(record)).Read()
				if err != nil || !slices.Equal(fields, []string{u.id, string(u.raw)}) {
					t.Fatalf("%q in %q: %q, %v", record, b.String(), fields, err)
				}
			}
			if again != 1 || u.From < end || strings.Count(b.String()[:u.To], "\n") < u.Line-1 {
				t.Fatalf("%q: %s in line %d is %d records", b.String(), unitText(u, nil), u.Line, again)
			}
			end = u.To
		}
	}
}

// TestLongRecord checks that the header record has limits of its own.
func TestLongRecord(t *testing.T) {
	text := strings.Repeat("a,", 1<<20)
	n := 0
	for u, err := range Scan(t.Context(), []string{input.Stdin}, Options{Format: CSV},
		strings.NewReader("id,text\n1,\""+text+"\"\n")) {
		if n++; err != nil || string(u.raw) != text {
			t.Error(u.Line, err)
		}
	}
	if n != 1 {
		t.Errorf("%d records", n)
	}
}

// TestPlaces cuts parts of texts out of files by their positions. The files must otherwise be the same, byte for byte,
// and have the texts without the parts.
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
				file.WriteString(mark)
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
	extractor := NewExtractor(t.Context(), opts)
	write := func(content string) (units []Unit, texts []string) {
		must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		for u, err := range Scan(t.Context(), []string{path}, opts, nil) {
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
		for offset := 0; offset < len(texts[i]); {
			_, size := utf8.DecodeRuneInString(texts[i][offset:])
			if last := len(parts) - 1; rng.IntN(4) == 0 {
				if last >= 0 && parts[last].To == int64(offset) {
					parts[last].To += int64(size)
				} else {
					parts = append(parts, Range{int64(offset), int64(offset + size)})
				}
			}
			offset += size
		}
		places, ok := extractor.Places(u, parts)
		if !ok { // half of an invalid escape must not be removed
			if !strings.Contains(file, `\q`) && !strings.Contains(file, `\uzz`) {
				t.Fatalf("%s: %q: no places of %v in %q", format, file, parts, texts[i])
			}
			parts = nil
		}
		all = append(all, places...)
		want = append(want, string(removeRanges([]byte(texts[i]), parts)))
	}
	_, got := write(string(removeRanges([]byte(file), all)))
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

// TestNoPlaces checks that texts that are not a range of bytes of their file have no positions.
func TestNoPlaces(t *testing.T) {
	for name, file := range map[string]string{
		"a.csv": "id,text\n1,abc\n", "a.html": "<p>abc</p>", "a.txt": "abc \xff\xfe\xe9",
		"a.jsonl": `{"text":["abc","d"]}` + "\n", "b.jsonl": `{"html":"abc"}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(file), 0o600))
		n := 0
		opts := Options{TextField: map[string]string{"a.jsonl": "text[]"}[name]}
		for u, err := range Scan(t.Context(), []string{path}, opts, nil) {
			must.Do(t, err)
			n++
			if places, ok := NewExtractor(t.Context(), opts).Places(u, []Range{{0, 1}}); ok {
				t.Errorf("%s: %v", name, places)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d units", name, n)
		}
	}
}
