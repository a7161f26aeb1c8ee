package droplist

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// contentOf returns the checksum of a file's units.
func contentOf(t *testing.T, path string) (content format.Checksum) {
	report, err := ingest.Extract(t.Context(), []string{path}, ingest.Config{}, ingest.Steps[struct{}]{
		Worker: func(context.Context) (func(int, *format.Document) (struct{}, error), error) {
			return func(int, *format.Document) (struct{}, error) { return struct{}{}, nil }, nil
		}})
	must.Do(t, err)
	return report.FileUnits[0].Content
}

// testFolder writes the rows of a table as decisions by input file. They make the wanted copies, in one share or
// several, and a share reads only its own rows. Files without decisions, changed files and damage are errors.
func testFolder(t *testing.T, table string, want map[string]string) {
	t.Helper()
	var list []InputFile
	for f, err := range input.Files(t.Context(), []string{"in"}) {
		must.Do(t, err)
		list = append(list, InputFile{Path: f.Path, Bytes: f.Size(), Content: contentOf(t, f.Path)})
	}
	byFile := map[string][]Decision{}
	for _, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n")[1:] {
		cells := strings.Split(line, "\t")
		row, _ := strconv.ParseInt(cells[2], 10, 64)
		path := strings.TrimPrefix(cells[1], "./")
		byFile[path] = append(byFile[path], Decision{File: path, Row: row, ID: cells[0]})
	}
	var rows, names bytes.Buffer
	w := bufio.NewWriter(&rows)
	must.Do(t, WriteRows(w, list, func(yield func(Decision) bool) {
		for _, f := range list {
			for _, d := range byFile[f.Path] {
				yield(d)
			}
		}
	}))
	must.Do(t, w.Flush())
	w.Reset(&names)
	must.Do(t, WriteFiles(w, list))
	must.Do(t, w.Flush())
	write := func(table, rows string) {
		files.Write(t, map[string]string{"done/" + FilesName: table, "done/" + RowsName: rows})
	}
	write(names.String(), rows.String())
	changed := "in/3.jsonl" // the IDs and the size stay
	before, err := os.ReadFile(changed)
	must.Do(t, err)
	must.Do(t, os.WriteFile(changed, bytes.Replace(before, []byte("words"), []byte("wards"), 1), 0o644))
	d, err := Read(t.Context(), "done", []string{"in"}, nil)
	must.Do(t, err)
	_, _, err = d.Copy(t.Context(), []string{"in"}, format.Options{}, 2, targetOf(t, map[string]string{}))
	if !errors.Is(err, simhash.ErrMixed) || !strings.Contains(err.Error(), changed+" has other content than when") {
		t.Errorf("changed content: %v", err)
	}
	must.Do(t, os.WriteFile(changed, before, 0o644))
	for _, of := range []int{1, 4} {
		got, dropped := map[string]string{}, int64(0)
		for i := range of {
			opts := format.Options{}
			var err error
			opts.Share, err = input.NewShare(t.Context(), []string{"in"}, i, of)
			must.Do(t, err)
			d, err := Read(t.Context(), "done", []string{"in"}, opts.Share)
			must.Do(t, err)
			held := 0
			for _, f := range d.files {
				held += len(f.rows)
			}
			_, left, err := d.Copy(t.Context(), []string{"in"}, opts, 2, targetOf(t, got))
			must.Do(t, err)
			if dropped += left.Dropped; int64(held) != left.Dropped || left.Unmatched != 0 {
				t.Errorf("share %d of %d holds %d rows and drops %d, %d unmatched", i, of, held, left.Dropped, left.Unmatched)
			}
		}
		if !maps.Equal(got, want) || leastRow*dropped != int64(rows.Len()) {
			t.Errorf("%d shares: other copies, or %d dropped", of, dropped)
		}
	}

	const header = "file\tbytes\tcontent\tdocuments\tlength\tcheck\n"
	size := fmt.Sprint(len("a text of some words that says nothing"))
	for _, c := range []struct {
		name, table, rows string
		kind              error
		want              string
	}{
		{"a file without a decision", regexp.MustCompile("in/b/c.txt\t.*\n").ReplaceAllString(names.String(), ""), rows.String(),
			simhash.ErrMixed, "done has no decision about in/b/c.txt: give the inputs of that run"},
		{"another size", strings.Replace(names.String(), "in/b/c.txt\t"+size, "in/b/c.txt\t7", 1), rows.String(),
			simhash.ErrMixed, "in/b/c.txt has " + size + " bytes, and had 7 when the decisions were made"},
		{"rows cut short", names.String(), rows.String()[:rows.Len()-1], store.ErrCorrupt, "decisions.rows has"},
		{"more rows", names.String(), rows.String() + rows.String(), store.ErrCorrupt, "bytes, where decisions.tsv has"},
		{"a negative number", strings.Replace(names.String(), "\t0\t", "\t-1\t", 1), rows.String(), store.ErrCorrupt, `"-1" documents`},
		{"a huge number", strings.Replace(names.String(), "\t0\t", "\t1152921504606846976\t", 1), rows.String(),
			store.ErrCorrupt, "1152921504606846976 documents in 0 bytes"},
		{"a content that is none", strings.Replace(names.String(), "\t0\t", "x\t0\t", 1), rows.String(), store.ErrCorrupt, "x\", "},
		{"a number that is none", strings.Replace(names.String(), "\t0\t", "\tx\t", 1), rows.String(), store.ErrCorrupt, `"x" documents`},
		{"another number of columns", "file\tbytes\tcontent\tdocuments\nin/1.jsonl\t\t\t2\n", rows.String(), store.ErrCorrupt, "the columns are"},
		{"another column", strings.Replace(names.String(), "bytes", "Bytes", 1), rows.String(), store.ErrCorrupt, "the columns are"},
		{"a file twice", header + strings.Repeat(strings.Split(names.String(), "\n")[1]+"\n", 2), rows.String() + rows.String(),
			store.ErrCorrupt, "in/1.jsonl is listed twice"},
		{"another row", names.String(), "\x01" + rows.String()[1:], store.ErrCorrupt, "in/1.jsonl and its rows in decisions.rows have the check"},
		{"another check", strings.Replace(names.String(), "\t1\t10\t", "\t1\t10\tx", 1), rows.String(), store.ErrCorrupt, "have the check"},
		{"a length beyond the rows", strings.Replace(names.String(), "\t1\t10\t", "\t1\t71\t", 1), rows.String(), store.ErrCorrupt, "71 bytes"},
		{"a negative length", strings.Replace(names.String(), "\t1\t10\t", "\t1\t-1\t", 1), rows.String(), store.ErrCorrupt, `in "-1" bytes`},
		{"files of another run", header + "out/1.jsonl\t\t\t1\t10\tx\n", rows.String()[:10], nil, "none of its files is an input"},
	} {
		write(c.table, c.rows)
		if _, err := Read(t.Context(), "done", []string{"in"}, nil); err == nil || c.kind != nil && !errors.Is(err, c.kind) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := os.Remove("done/" + RowsName); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), "done", []string{"in"}, nil); err == nil || !strings.Contains(err.Error(), "done/"+RowsName) {
		t.Errorf("no rows: %v", err)
	}
	err = WriteRows(w, list, func(yield func(Decision) bool) { yield(Decision{File: "elsewhere", Row: 1, ID: "x"}) })
	if err == nil || !strings.Contains(err.Error(), "elsewhere:1: dropped") {
		t.Errorf("a document of no input: %v", err)
	}
}

// TestDecode: rows that were appended are read, with their cuts. Rows that contradict themselves are errors.
func TestDecode(t *testing.T) {
	list := []Decision{{Row: 0, ID: "a"}, {Row: 7, ID: "b", Cuts: []format.Range{{From: 0, To: 3}, {From: 300, To: 301}}, TextHash: 5},
		{Row: 8, ID: "c"}}
	var data []byte
	before := int64(0)
	for _, d := range list {
		data, before = d.append(data, before), d.Row
	}
	var f fileRows
	must.Do(t, f.decode(data, 3))
	for i, d := range list {
		if got := f.rows[i]; got != (row{d.Row, shortHash(d.ID)}) || !slices.Equal(f.cuts[d.Row].ranges, d.Cuts) ||
			f.cuts[d.Row].hash != d.TextHash {
			t.Errorf("row %d: %+v %+v", i, got, f.cuts[d.Row])
		}
	}
	number := func(n uint64) string { return string(binary.AppendUvarint(nil, n)) }
	const id = "12345678"
	for _, c := range []struct {
		data      string
		documents int64
		want      string
	}{
		{string(data), 2, "too long"}, {string(data), 4, "cut off"}, {string(data[:len(data)-1]), 3, "cut off"},
		{number(2) + id + number(0) + number(0) + id + number(0), 2, "not in order"},
		{number(2) + id + number(0) + number(1<<64-1) + id + number(0), 2, "not in order"},
		{number(1<<64-1) + id + number(0), 1, "not in order"},
		{number(2) + id + number(1<<63) + id + number(1) + number(1), 1, "cut off"},
		{number(2) + id + number(1) + id + number(1) + number(1<<64-5), 1, "not in order"},
		{number(2) + id + number(1) + id + number(1<<64-5) + number(1), 1, "not in order"},
	} {
		if err := new(fileRows).decode(store.Fields(c.data), c.documents); err == nil || err.Error() != c.want {
			t.Errorf("%q, %d: %v, want %s", c.data, c.documents, err, c.want)
		}
	}
}
