package document

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/columns"
	"ndd/engine/oracle/must"
)

// TestLinePlaces: lines have their numbers and places, behind a byte order mark and blank lines, where they
// are longer than buffers or than the limit, and however few bytes a pipe gives at a time.
func TestLinePlaces(t *testing.T) {
	content := utf8Mark + " one \r\n\n \t\n" + strings.Repeat("long ", 30_000) + "\n" + utf8Mark + "two\n" +
		strings.Repeat("short\n", 3000) + "end"
	for _, most := range []int64{5, 20, 1 << 20} {
		var want []string
		at := int64(0)
		for i, line := range strings.SplitAfter(content, "\n") {
			from, text := at, strings.TrimSpace(line)
			if at += int64(len(line)); i == 0 {
				text = strings.TrimSpace(strings.TrimPrefix(line, utf8Mark))
			}
			switch {
			case int64(len(line)) > most:
				want = append(want, fmt.Sprintf("-:%d: too large: more than %d bytes 0 0 0", i+1, most))
			case text != "":
				want = append(want, fmt.Sprintf("%d %d %d \"\" %q", i+1, from, at, text))
			}
		}
		for _, byBytes := range []bool{false, true} {
			in := iotest.HalfReader(strings.NewReader(content))
			if byBytes {
				in = iotest.OneByteReader(strings.NewReader(content))
			}
			var got []string
			for u, err := range Scan(t.Context(), []string{Stdin}, Options{Format: Lines, MaxDocumentBytes: most}, in) {
				got = append(got, unitText(u, err))
				if b := content[u.From:u.To]; err == nil && !strings.HasPrefix(content[u.at:u.To], string(u.raw)) {
					t.Fatalf("%q at byte %d of %q", u.raw, u.at-u.From, b)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("at most %d bytes: %.2000q, want %.2000q", most, got, want)
			}
		}
	}
}

// TestRecordPlaces: the bytes of a CSV record are a record with its text, with quotes, blank lines and line ends
// anywhere, and records lie one behind the other.
func TestRecordPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for n := range 200 {
		name := []string{"a.csv", "a.tsv"}[n%2]
		var b strings.Builder
		b.WriteString(utf8Mark + "id" + separator(name) + "text\n")
		for range 100 {
			b.WriteString([]string{"a", "b c", "\"", "\"\"", "\n", "\r\n", "\n1" + separator(name), ",", "\t"}[r.IntN(9)])
		}
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(b.String()), 0o644))
		end := int64(0)
		for u, err := range (File{Path: path}).Scan(t.Context(), Options{}, nil) {
			if err != nil {
				continue
			}
			one := csv.NewReader(strings.NewReader(b.String()[u.From:u.To]))
			one.Comma, one.LazyQuotes = rune(separator(name)[0]), name == "a.tsv"
			record, err := one.Read()
			if err != nil || len(record) != 2 || record[0] != u.id || record[1] != string(u.raw) || u.From < end ||
				strings.Count(b.String()[:u.To], "\n") < u.Line-1 {
				t.Fatalf("%q: %s in line %d is %q, %v", b.String(), unitText(u, nil), u.Line, record, err)
			}
			end = u.To
		}
	}
}

// TestLongRecord: the limits of the record that names the fields are not those of the others.
func TestLongRecord(t *testing.T) {
	text := strings.Repeat("a,", 1<<20)
	n := 0
	for u, err := range Scan(t.Context(), []string{Stdin}, Options{Format: CSV},
		strings.NewReader("id,text\n1,\""+text+"\"\n")) {
		if n++; err != nil || string(u.raw) != text {
			t.Error(u.Line, err)
		}
	}
	if n != 1 {
		t.Errorf("%d records", n)
	}
}

// TestRowGroupsStop: a consumer that stops gives back the memory of the row groups that were read ahead, and one
// that takes more than half of all memory, or more than it claims, is not read ahead.
func TestRowGroupsStop(t *testing.T) {
	type row struct {
		Text string `parquet:"text"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.MaxRowsPerRowGroup(100))
	_, err := w.Write(slices.Repeat([]row{{"text"}}, 3000))
	must.Do(t, err)
	must.Do(t, w.Close())
	path := filepath.Join(t.TempDir(), "a.parquet")
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o644))
	file, err := columns.Open(bytes.NewReader(b.Bytes()), int64(b.Len()), 1<<20)
	must.Do(t, err)
	defer file.Close()
	g := &groups{s: &stream{opts: Options{MaxDocumentBytes: 100}}, file: file, numbers: []int{0, -1},
		columns: recordColumns{id: -1}}
	claimed := g.need(0)
	if small, large := new(rowGroup), new(rowGroup); g.fill(small, 0, 100*(rowBytes+4)-1) || !g.fill(large, 0, claimed) ||
		len(large.rows) != 100 {
		t.Errorf("of %d bytes claimed, %d rows are decoded, and %d with less", claimed, len(large.rows), len(small.rows))
	}
	d := NewDecoders(8, 2*claimed-1)
	for range (File{Path: path}).Scan(t.Context(), Options{Decoders: d}, nil) {
		if held := d.room.Held(); held != 0 {
			t.Fatalf("%d bytes are held", held)
		}
	}
	d = NewDecoders(8, 200_000)
	n, most := 0, int64(0)
	for _, err := range (File{Path: path}).Scan(t.Context(), Options{Decoders: d}, nil) {
		must.Do(t, err)
		most = max(most, d.room.Held())
		if n++; n == 1000 {
			break
		}
	}
	if n != 1000 || most > 200_000 || most < 100_000 || d.room.Held() != 0 {
		t.Errorf("%d units, %d bytes are held at most, %d at the end", n, most, d.room.Held())
	}
}
