package format

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
)

// page is a row of the tables below.
type page struct {
	URL   string   `parquet:"url,dict"`
	Body  *string  `parquet:"body,optional,zstd"`
	Tags  []string `parquet:"tags,list"`
	Score int64    `parquet:"score"`
}

// chat is a row whose text is in a list of structures.
type chat struct {
	Meta struct {
		ID string `parquet:"id"`
	} `parquet:"meta"`
	Messages []struct {
		Role    string  `parquet:"role"`
		Content *string `parquet:"content,optional"`
	} `parquet:"messages,list"`
	Tags []string `parquet:"tags,list"`
}

// TestParquetLists reads texts in lists, whose rows may be longer than pages and buffers.
func TestParquetLists(t *testing.T) {
	var rows []chat
	for i := range 20 {
		var c chat
		c.Meta.ID = fmt.Sprintf("c%d", i)
		for j := range i * i {
			s := fmt.Sprintf("m%d", j)
			c.Messages = append(c.Messages, struct {
				Role    string  `parquet:"role"`
				Content *string `parquet:"content,optional"`
			}{"user", &s})
			if j%5 == 4 {
				c.Messages[j].Content = nil
				continue
			}
			c.Tags = append(c.Tags, s)
		}
		rows = append(rows, c)
	}
	tree(t, map[string]string{"c.parquet": string(written(t, rows, parquet.PageBufferSize(100),
		parquet.MaxRowsPerRowGroup(7)))})
	for _, name := range []string{"messages.content", "messages[].content", "messages.list.element.content", "tags[]"} {
		var want []string
		for i, c := range rows {
			if want = append(want, c.Meta.ID+": "+strings.Join(c.Tags, "\n")); len(c.Tags) == 0 {
				want[i] = fmt.Sprintf(`skip: c.parquet:%d: no text field: column %q has no text here`, i+1, name)
			}
		}
		got, err := read(t, Options{TextField: name, IDField: "meta.id"}, nil, "c.parquet")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(name, err, diff)
		}
	}
	if _, err := read(t, Options{TextField: "messages.text"}, nil, "c.parquet"); err == nil ||
		err.Error() != `c.parquet: no field "messages.text" among meta.id, messages.role, messages.content, tags; --text `+
			`names the field` {
		t.Error(err)
	}
}

// table returns a Parquet file with n rows, in small pages and several row groups. Every tenth row has no text.
func table(t testing.TB, n int) []byte {
	t.Helper()
	var rows []page
	for i := range n {
		body := fmt.Sprintf("text %d", i)
		p := page{URL: fmt.Sprintf("u%d", i), Body: &body, Tags: make([]string, i%3), Score: int64(i)}
		if i%10 == 9 {
			p.Body = nil
		}
		rows = append(rows, p)
	}
	return written(t, rows, parquet.PageBufferSize(300), parquet.MaxRowsPerRowGroup(40))
}

// written returns rows as a Parquet file. They are written one by one, so that pages end where they are full.
func written[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	for row := range slices.Chunk(rows, 1) {
		_, err := w.Write(row)
		must.Do(t, err)
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

func TestParquet(t *testing.T) {
	data := string(table(t, 100))
	tree(t, map[string]string{"pages.parquet": data, "dir/noextension": data, "p.parquet.gz": gz(t, data)})
	for in, file := range map[string]string{"pages.parquet": "pages.parquet", "dir": "dir/noextension"} {
		var want []string
		for i := range 100 {
			if want = append(want, fmt.Sprintf("u%d: text %d", i, i)); i%10 == 9 {
				want[i] = fmt.Sprintf(`skip: %s:%d: no text field: column "body" has no text here`, file, i+1)
			}
		}
		got, err := read(t, Options{}, nil, in)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	if got, err := read(t, Options{TextField: "url", IDField: "score"}, nil, "pages.parquet"); err != nil ||
		got[7] != "7: u7" {
		t.Error(got, err)
	}
	var values []string
	for doc, err := range Read(t.Context(), []string{"pages.parquet"},
		Options{ValueFields: [][]string{{"nosuch", "score"}}}, nil) {
		if err == nil {
			values = append(values, doc.Values[0].Text)
		}
	}
	if len(values) != 90 || values[12] != "13" {
		t.Errorf("values %q", values)
	}
	for in, want := range map[string]string{
		"-":             "-: a Parquet file is read from its end",
		"p.parquet.gz":  "p.parquet.gz: a Parquet file is read from its end",
		"pages.parquet": `pages.parquet: no field "tag" among`,
	} {
		_, err := read(t, Options{TextField: "tag"}, strings.NewReader(data), in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

// TestDamagedParquet truncates a file at every position and changes its bytes. Unreadable parts are skips, and nothing
// panics. Reading several row groups at the same time, within the memory limit, makes no difference.
func TestDamagedParquet(t *testing.T) {
	data := table(t, 100)
	tree(t, nil)
	read := func(d *unpack.Decoders) (all []string) {
		for doc, err := range Read(t.Context(), []string{"d.parquet"}, Options{TextField: "body", Decoders: d}, nil) {
			if _, skip := errors.AsType[*input.Skip](err); err != nil && !skip && !strings.Contains(err.Error(), `no field "body"`) {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(doc, err))
		}
		return all
	}
	try := func(damaged []byte) {
		must.Do(t, os.WriteFile("d.parquet", damaged, 0o644))
		want := read(nil)
		for _, bytes := range []int64{1 << 20, 40_000, 100} {
			if got := read(unpack.NewDecoders(3, bytes)); !slices.Equal(got, want) {
				t.Fatalf("%d bytes of the file, %d of memory: %q, want %q", len(damaged), bytes, got, want)
			}
		}
	}
	try(data)
	for n := 0; n < len(data); n += 41 {
		try(data[:n])
		damaged := bytes.Clone(data)
		damaged[n] ^= 0x55
		try(damaged)
	}
}

// TestParquetDictionary checks that row groups that take more memory than they claim are read in order. A dictionary,
// for example, stores a repeated text once.
func TestParquetDictionary(t *testing.T) {
	type row struct {
		Text string `parquet:"text,dict"`
	}
	rows := slices.Repeat([]row{{strings.Repeat("text ", 1000)}}, 100)
	tree(t, map[string]string{"d.parquet": string(written(t, rows, parquet.MaxRowsPerRowGroup(30)))})
	n := 0
	for doc, err := range Read(t.Context(), []string{"d.parquet"}, Options{Decoders: unpack.NewDecoders(3, 1<<20)}, nil) {
		if n++; err != nil || doc.Line != n {
			t.Fatalf("row %d of line %d: %v", n, doc.Line, err)
		}
	}
	if n != 100 {
		t.Errorf("%d rows", n)
	}
}

// TestParquetCell checks that a text that is much longer than a document may be is one skip, and takes no more memory
// than a document may. The other rows of its page are read.
func TestParquetCell(t *testing.T) {
	type row struct {
		Text string `parquet:"text,dict,zstd"`
		More string `parquet:"more,plain,gzip"`
	}
	long := strings.Repeat("x", 30<<20)
	data := written(t, []row{{"one", long}, {long, "two"}, {"three", "three"}},
		parquet.SkipPageBounds("text"),
		parquet.SkipPageBounds("more"), parquet.DataPageStatistics(false))
	long = ""
	for field, want := range map[string][]string{"text": {"one", "", "three"}, "more": {"", "two", "three"}} {
		tree(t, map[string]string{"d.parquet": string(data)})
		hostile.Allocates(t, 12<<20, func() {
			var got []string
			for doc, err := range Read(t.Context(), []string{"d.parquet"}, Options{TextField: field, MaxDocumentBytes: 1 << 20}, nil) {
				if skip, ok := errors.AsType[*input.Skip](err); ok && skip.Reason == input.TooLarge {
					err = nil
				}
				must.Do(t, err)
				got = append(got, doc.Text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q", field, got)
			}
		})
	}
}

// TestParquetChoice checks that of two columns that may hold the text, the one with texts in the first rows is taken.
func TestParquetChoice(t *testing.T) {
	type row struct {
		Text    *string `parquet:"text,optional"`
		Content string  `parquet:"content"`
	}
	tree(t, map[string]string{"d.parquet": string(written(t, slices.Repeat([]row{{Content: "good"}}, 30)))})
	got, err := read(t, Options{}, nil, "d.parquet")
	if err != nil || len(got) != 30 || !strings.HasSuffix(got[0], ": good") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestParquetBytes checks that IDs of bytes that are not UTF-8 become hexadecimal. A non-empty text has priority over
// an empty one.
func TestParquetBytes(t *testing.T) {
	type row struct {
		ID []byte `parquet:"id"`
		A  string `parquet:"a"`
		B  string `parquet:"b"`
	}
	tree(t, map[string]string{"b.parquet": string(written(t, []row{{[]byte("\xff\x00"), "", "one"}, {[]byte("\xfe\x00"), "two", "b"},
		{[]byte("é"), "", ""}}))})
	got, err := read(t, Options{TextField: "a,b"}, nil, "b.parquet")
	if want := []string{"ff00: one", "fe00: two", "é: "}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestParquetNoText checks that if the column with the name of a text has another type, the error names the type.
func TestParquetNoText(t *testing.T) {
	type list struct {
		Text []string `parquet:"text,list"`
	}
	type number struct {
		Text int64 `parquet:"text"`
	}
	tree(t, map[string]string{"l.parquet": string(written(t, []list{{[]string{"a", "b"}}})),
		"n.parquet": string(written(t, []number{{1}}))})
	for file, want := range map[string]string{
		"l.parquet": `column "text" is a list; --text text joins what a list has to a text`,
		"n.parquet": `column "text" has the type INT(64,true), which is no text; --text names the field`} {
		if _, err := read(t, Options{}, nil, file); err == nil || err.Error() != file+": "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestDamagedRowGroup checks that the lost rows of a row group are counted and reported with column and page. The other
// row groups are read.
func TestDamagedRowGroup(t *testing.T) {
	data := table(t, 120)                          // row groups have 40 rows
	magic, offset := []byte("\x28\xb5\x2f\xfd"), 0 // magic of compressed pages, which the texts have
	half := bytes.Count(data, magic) / 2           // half of the pages: in the second row group
	for range half {
		offset += 1 + bytes.Index(data[offset+1:], magic)
	}
	copy(data[offset:], "xxxx")
	tree(t, map[string]string{"d.parquet": string(data)})
	var tally input.Tally
	documents := 0
	for doc, err := range Read(t.Context(), []string{"d.parquet"}, Options{}, nil) {
		if skip, ok := errors.AsType[*input.Skip](err); ok {
			tally.Add(skip)
			continue
		}
		must.Do(t, err)
		if documents++; doc.ID != "u"+strings.TrimPrefix(doc.Text, "text ") || doc.Line < 1 || doc.ID != fmt.Sprint("u",
			doc.Line-1) {
			t.Errorf("%+v", doc)
		}
	}
	lost := tally.ByReason[input.DamagedRows]
	if lost == 0 || lost > 40 || documents+lost+tally.ByReason[input.NoText] != 120 {
		t.Errorf("%d documents and %s", documents, &tally)
	}
	for _, skip := range tally.Examples {
		if skip.Reason == input.DamagedRows {
			want := fmt.Sprintf("rows %d to %d are lost", skip.Line, skip.Line+lost-1)
			if messages := skip.Error(); !strings.Contains(messages, want) || !strings.Contains(messages,
				`row group 2, column "body": page `) {
				t.Error(messages)
			}
			if (skip.Line+lost-1)%40 != 0 {
				t.Errorf("the loss ends at row %d, within a row group", skip.Line+lost-1)
			}
		}
	}
	if text := tally.String(); !strings.Contains(text, fmt.Sprintf("%d rows of damaged Parquet files", lost)) {
		t.Error(text)
	}
}

// TestRowGroupsStop checks that a consumer that stops gives back the memory of the row groups that were read ahead, and
// one that takes more than half of all memory, or more than it claims, is not read ahead.
func TestRowGroupsStop(t *testing.T) {
	type row struct {
		Text string `parquet:"text"`
	}
	data := written(t, slices.Repeat([]row{{"text"}}, 3000), parquet.MaxRowsPerRowGroup(100))
	tree(t, map[string]string{"a.parquet": string(data)})
	file, err := columns.Open(bytes.NewReader(data), int64(len(data)), columns.Limits{PageBytes: 1 << 20})
	must.Do(t, err)
	defer file.Close()
	format, err := file.Format(0)
	must.Do(t, err)
	g := &groupReader{c: &Content{opts: Options{MaxDocumentBytes: 100}}, file: file, numbers: []int{0, -1},
		formats: []columns.Formatter{format, nil}, columns: &tableColumns{id: -1, texts: []int{0}, names: []string{"text"}}}
	claimed := g.need(0)
	if small, large := new(rowGroup), new(rowGroup); g.fill(small, 0, 100*(rowBytes+4)-1) || !g.fill(large, 0, claimed) ||
		len(large.rows) != 100 {
		t.Errorf("of %d bytes claimed, %d rows are decoded, and %d with less", claimed, len(large.rows), len(small.rows))
	}
	d := unpack.NewDecoders(8, 2*claimed-1)
	for range Units(t.Context(), input.File{Path: "a.parquet"}, Options{Decoders: d}, nil) {
		if held := d.Room.Held(); held != 0 {
			t.Fatalf("%d bytes are held", held)
		}
	}
	d = unpack.NewDecoders(8, 200_000)
	n, maximum := 0, int64(0)
	for _, err := range Units(t.Context(), input.File{Path: "a.parquet"}, Options{Decoders: d}, nil) {
		must.Do(t, err)
		maximum = max(maximum, d.Room.Held())
		if n++; n == 1000 {
			break
		}
	}
	if n != 1000 || maximum > 200_000 || maximum < 100_000 || d.Room.Held() != 0 {
		t.Errorf("%d units, %d bytes are held at most, %d at the end", n, maximum, d.Room.Held())
	}
}
