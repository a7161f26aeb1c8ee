package rewrite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/result"
)

// page is a row of a table of documents: optional and repeated columns, groups, and several compressions.
type page struct {
	URL   string            `parquet:"url,dict,snappy"`
	Text  string            `parquet:"text,zstd"`
	Score *float64          `parquet:"score,optional"`
	Tags  []string          `parquet:"tags,list,gzip"`
	Meta  struct{ N int32 } `parquet:"meta"`
	Day   int32             `parquet:"day,date"`
}

// pages returns n rows. Every third one repeats the first.
func pages(n int) (rows []page) {
	for i := range n {
		p := page{URL: fmt.Sprint("http://example.org/", i), Day: int32(i),
			Text: "The fence around the orchard is old and a goat of the neighbours has been through the hole."}
		if i%3 != 0 {
			p.Text = fmt.Sprintf("Document %d is about %d, %d and %d, and about nothing else that is in document %d", i, i*i,
				i*7919, i*i*i, i*31)
			score := float64(i) / 8
			p.Score, p.Tags = &score, []string{fmt.Sprint(i), "", "x"}
		}
		p.Meta.N = int32(-i)
		rows = append(rows, p)
	}
	return rows
}

// parquetOf returns a file of several row groups, with metadata.
func parquetOf(t *testing.T, rows []page, perGroup int) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[page](&b, parquet.MaxRowsPerRowGroup(int64(perGroup)),
		parquet.KeyValueMetadata("made by", "a test"))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	must.Do(t, w.Close())
	return b.String()
}

// TestCopyColumns checks that the copy of a Parquet file lacks the removed rows and nothing else. Columns, values,
// order, compression, types and metadata are the same.
func TestCopyColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	original := parquetOf(t, pages(200), 70)
	files.Write(t, map[string]string{"in.parquet": original})
	got, _ := copied(t, equalTexts(format.Options{}, "in.parquet"))
	raw := got["in.parquet"]
	copied, err := parquet.Read[page](strings.NewReader(raw), int64(len(raw)))
	must.Do(t, err)
	rows, err := parquet.Read[page](strings.NewReader(original), int64(len(original)))
	must.Do(t, err)
	var want []page
	for i, p := range rows {
		if i == 0 || i%3 != 0 {
			want = append(want, p)
		}
	}
	if d := cmp.Diff(want, copied); d != "" {
		t.Error(d)
	}
	before, after := metadata(t, original), metadata(t, raw)
	if d := cmp.Diff(before.KeyValueMetadata, after.KeyValueMetadata); d != "" {
		t.Error(d)
	}
	if len(after.RowGroups) != len(before.RowGroups) {
		t.Errorf("%d row groups, want %d", len(after.RowGroups), len(before.RowGroups))
	}
	for i := range before.RowGroups[0].Columns {
		b, a := before.RowGroups[0].Columns[i].MetaData, after.RowGroups[0].Columns[i].MetaData
		if b.Codec != a.Codec || !slices.Equal(b.PathInSchema, a.PathInSchema) || b.Type != a.Type {
			t.Errorf("%v %v %v, want %v %v %v", a.PathInSchema, a.Type, a.Codec, b.PathInSchema, b.Type, b.Codec)
		}
	}
	if b, a := schema(t, original), schema(t, raw); a != b {
		t.Error(cmp.Diff(b, a))
	}
}

// TestCopyGroups checks that for any number of goroutines, the copy of a Parquet file has the kept rows, in order. A
// row group that loses no row has the same bytes. A row group that loses all rows is omitted, with its entries in
// dictionaries.
func TestCopyGroups(t *testing.T) {
	rows := pages(90)
	original := parquetOf(t, rows, 10)
	var drop []int64
	var want []page
	for i, p := range rows {
		if (i%4 == 1 || i >= 30 && i < 40 || i == 89) && i < 50 || i == 88 {
			drop = append(drop, int64(i)+1)
		} else {
			want = append(want, p)
		}
	}
	var first []byte
	for _, threads := range []int{1, 4} {
		p, err := newPacker(threads, 2*threads, blockBytes)
		must.Do(t, err)
		var out bytes.Buffer
		in := &format.Content{Columns: strings.NewReader(original), Size: int64(len(original))}
		must.Do(t, p.copyColumns(t.Context(), &out, in, drop, nil, nil))
		got, err := parquet.Read[page](bytes.NewReader(out.Bytes()), int64(out.Len()))
		must.Do(t, err)
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
		if threads == 1 {
			first = out.Bytes()
		} else if !bytes.Equal(first, out.Bytes()) {
			t.Error("the copy depends on the number of goroutines")
		}
	}
	before, after := metadata(t, original), metadata(t, string(first))
	if len(after.RowGroups) != 8 {
		t.Fatalf("%d row groups, want 8", len(after.RowGroups))
	}
	bytesOf := func(raw string, group parquetformat.RowGroup) string {
		return raw[group.FileOffset:][:group.TotalCompressedSize]
	}
	if bytesOf(original, before.RowGroups[6]) != bytesOf(string(first), after.RowGroups[5]) {
		t.Error("a row group that loses nothing has other bytes")
	}
	if nulls := after.RowGroups[0].Columns[2].MetaData.Statistics.NullCount; nulls != 3 {
		t.Errorf("%d nulls, want 3", nulls)
	}
	for i := range drop {
		if url := fmt.Sprintf("/%d\x00", drop[i]-1); bytes.Contains(first, []byte(url)) {
			t.Errorf("row %d is still there", drop[i])
		}
	}
	// The error names the first of two damaged groups, whichever goroutine finds it.
	damaged := []byte(original)
	for i := 4; i < len(damaged)-3000; i++ {
		if i%700 < 300 {
			damaged[i] ^= 0x55
		}
	}
	says := ""
	for _, threads := range []int{1, 4, 4, 4} {
		p, err := newPacker(threads, 2*threads, blockBytes)
		must.Do(t, err)
		in := &format.Content{Columns: bytes.NewReader(damaged), Size: int64(len(damaged))}
		err = p.copyColumns(t.Context(), io.Discard, in, drop, nil, nil)
		if err == nil || says != "" && err.Error() != says {
			t.Fatalf("%v, want %s", err, says)
		}
		says = err.Error()
	}
}

// TestCopyRest checks that a row group is read to the end of its columns, so data after the last row is an error.
func TestCopyRest(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, parquet.Write(&b, []struct{ N int64 }{{1}, {2}, {3}}))
	original := withFooter(t, b.String(), func(m *parquetformat.FileMetaData) {
		m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize += 20
	})
	p, err := newPacker(1, 2, blockBytes)
	must.Do(t, err)
	in := &format.Content{Columns: strings.NewReader(original), Size: int64(len(original))}
	if err := p.copyColumns(t.Context(), io.Discard, in, []int64{1}, nil, nil); !errors.Is(err, columns.ErrCorrupt) ||
		!strings.Contains(err.Error(), "page 2") {
		t.Errorf("%v", err)
	}
}

func open(t *testing.T, raw string) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(strings.NewReader(raw), int64(len(raw)))
	must.Do(t, err)
	return f
}

func metadata(t *testing.T, raw string) *parquetformat.FileMetaData { return open(t, raw).Metadata() }
func schema(t *testing.T, raw string) string                        { return open(t, raw).Schema().String() }

// withFooter returns a file with its footer changed.
func withFooter(t *testing.T, raw string, change func(m *parquetformat.FileMetaData)) string {
	t.Helper()
	m := metadata(t, raw)
	change(m)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	must.Do(t, err)
	pages := len(raw) - 8 - int(binary.LittleEndian.Uint32([]byte(raw[len(raw)-8:])))
	changed := append([]byte(raw[:pages]), footer...)
	return string(append(binary.LittleEndian.AppendUint32(changed, uint32(len(footer))), "PAR1"...))
}

// TestCopyUnjudged checks that a file that cannot be judged is copied as it is and reported. A file that loses nothing
// is copied byte for byte.
func TestCopyUnjudged(t *testing.T) {
	t.Chdir(t.TempDir())
	whole := parquetOf(t, pages(3), 2)
	all := map[string]string{
		"in/a.parquet": whole, "in/cut.parquet": whole[:len(whole)-20], "in/picture": "\x89PNG\x00",
		"in/fields.jsonl": "{\"n\":1}\n{\"n\":2}\n", "in/long.txt": strings.Repeat("long ", 1000),
		"in/text.txt": "The boats at the quay have been painted and the sails are with the maker until the spring.",
	}
	files.Write(t, all)
	if names := targetOf(t, nil, "in").names; len(names) != len(all) {
		t.Fatal(names)
	}
	copies, said := copied(t, equalTexts(format.Options{MaxDocumentBytes: 4000}, "in"))
	want := map[string]string{}
	for name, content := range all {
		want[strings.TrimPrefix(name, "in/")] = content
	}
	unjudged := []string{"in/cut.parquet", "in/fields.jsonl", "in/long.txt", "in/picture"}
	if d := cmp.Diff(want, copies); d != "" || !slices.Equal(said.Unjudged, unjudged) {
		t.Errorf("%q, %s", said.Unjudged, d)
	}
}

// TestCopyForeignColumns copies a file of pyarrow: a column without a dictionary lists RLE first, and a row group
// without rows gives no offsets of its columns.
func TestCopyForeignColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		Meta struct {
			Text string `parquet:"text,plain"`
		} `parquet:"meta"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	rows := make([]row, 3)
	rows[0].Meta.Text, rows[1].Meta.Text, rows[2].Meta.Text = rivers, bread, rivers
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	must.Do(t, w.Close())
	raw := withFooter(t, b.String(), func(m *parquetformat.FileMetaData) {
		m.RowGroups[0].Columns[0].MetaData.Encoding = []parquetformat.Encoding{parquetformat.RLE, parquetformat.Plain}
		empty := m.RowGroups[0]
		empty.NumRows, empty.TotalByteSize = 0, 0
		empty.Columns = slices.Clone(empty.Columns)
		of := &empty.Columns[0].MetaData
		of.NumValues, of.DataPageOffset, of.TotalCompressedSize = 0, 0, 0
		m.RowGroups = append(m.RowGroups, empty)
	})
	files.Write(t, map[string]string{"in.parquet": raw})
	j := equalTexts(format.Options{TextField: "meta.text"}, "in.parquet")
	got, _ := copied(t, j)
	kept, err := parquet.Read[row](strings.NewReader(got["in.parquet"]), int64(len(got["in.parquet"])))
	if err != nil || !slices.Equal(kept, rows[:2]) {
		t.Errorf("%v, %+v", err, kept)
	}
	j.Fields = &Fields{Columns: []result.Column{{Name: "n", Kind: result.Integer}},
		Values: func(note int) []any { return []any{int64(note)} }}
	if got, _ = copied(t, j); len(got["in.parquet"]) == 0 {
		t.Error("no copy with fields")
	}
}

// encodingsRow has a column of every encoding, and lists.
type encodingsRow struct {
	Plain  string     `parquet:"plain,plain"`
	Dict   string     `parquet:"dict,dict"`
	Maybe  *string    `parquet:"maybe,optional,dict"`
	Delta  string     `parquet:"delta,delta"`
	Length string     `parquet:"length,optional,delta"`
	Number int64      `parquet:"number,delta"`
	Split  float64    `parquet:"split,split"`
	Flag   bool       `parquet:"flag"`
	Flags  []bool     `parquet:"flags,list"`
	UUID   [16]byte   `parquet:"uuid,uuid"`
	Spans  [][]string `parquet:"spans,list"`
	Tiny   int8       `parquet:"tiny"` // 4 bytes each in a page, as Small and Port
	Small  int16      `parquet:"small,dict"`
	Port   *uint16    `parquet:"port"`
}

// TestCopyEncodings drops rows, in pages of every encoding, compression and version.
func TestCopyEncodings(t *testing.T) {
	var rows, want []encodingsRow
	var drop []int64
	for i := range 300 {
		text := fmt.Sprint("text ", i)
		r := encodingsRow{Plain: text, Dict: fmt.Sprint("entry ", i%50), Delta: text, Number: int64(i * i), Split: float64(i) / 3,
			Flag: i%3 == 0, UUID: [16]byte{byte(i)}, Tiny: int8(i), Small: int16(i * 100)}
		if i%5 > 0 {
			port := uint16(i * 200)
			r.Maybe, r.Length, r.Port = &text, text, &port
		}
		for k := range i % 4 {
			r.Flags = append(r.Flags, k > 1)
			r.Spans = append(r.Spans, strings.Fields(strings.Repeat("span ", i*k%6)))
		}
		if rows = append(rows, r); i%7 < 2 || i > 120 && i < 180 || i%50 == 13 {
			drop = append(drop, int64(i)+1)
		} else {
			want = append(want, r)
		}
	}
	for name, codec := range map[string]compress.Codec{"none": &parquet.Uncompressed, "snappy": &parquet.Snappy,
		"gzip": &parquet.Gzip, "brotli": &parquet.Brotli, "zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw} {
		for version := 1; version <= 2; version++ {
			var b, out bytes.Buffer
			w := parquet.NewGenericWriter[encodingsRow](&b, parquet.PageBufferSize(300), parquet.MaxRowsPerRowGroup(120),
				parquet.DataPageVersion(version), parquet.Compression(codec))
			_, err := w.Write(rows)
			must.Do(t, errors.Join(err, w.Close()))
			p, err := newPacker(2, 4, blockBytes)
			must.Do(t, err)
			in := &format.Content{Columns: bytes.NewReader(b.Bytes()), Size: int64(b.Len())}
			must.Do(t, p.copyColumns(t.Context(), &out, in, drop, nil, nil))
			got, err := parquet.Read[encodingsRow](bytes.NewReader(out.Bytes()), int64(out.Len()))
			must.Do(t, err)
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%s, version %d: %s", name, version, d)
			}
			if strings.Contains(out.String(), "entry 13") && name == "none" {
				t.Errorf("version %d: an entry of a dictionary that no row has is still there", version)
			}
		}
	}
}
