package droplist

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/object"
	"example.org/ndd/engine/storage/store"
)

// The decisions about a corpus by input file, so that a share of a copy reads only those about its own files:
//
//	decisions.tsv   file | bytes | dropped           for each input file, in order
//	decisions.rows  row | hash of the ID | ...       for each dropped document, in the order of the table
//
// bytes is the size of the file, empty if it is unknown. dropped is the number of dropped documents. Both numbers of
// decisions.rows are little-endian uint64. The hash is never 0.
const (
	FilesName = "decisions.tsv"
	RowsName  = "decisions.rows"
	rowBytes  = 16
)

// fileColumns are the columns of decisions.tsv.
var fileColumns = []result.Column{{Name: "file", Kind: result.Text}, {Name: "bytes", Kind: result.Integer, Optional: true},
	{Name: "dropped", Kind: result.Integer}}

// An InputFile is a row of decisions.tsv.
type InputFile struct {
	Path    string
	Bytes   int64 // size; -1 if it is unknown
	Dropped int64 // number of dropped documents
}

// A Drop is a dropped document.
type Drop struct {
	File string
	Row  int64 // 0 if the file is the document
	ID   string
}

// WriteRows writes decisions.rows and counts the dropped documents of each file. Both are in the order of the inputs.
func WriteRows(w *bufio.Writer, files []InputFile, drops iter.Seq[Drop]) error {
	i := 0
	var record [rowBytes]byte
	for d := range drops {
		for i < len(files) && files[i].Path != d.File {
			i++
		}
		if i == len(files) {
			return fmt.Errorf("%s: dropped, and no input in its place", input.Place(d.File, d.Row))
		}
		files[i].Dropped++
		binary.LittleEndian.PutUint64(record[:], uint64(d.Row))
		binary.LittleEndian.PutUint64(record[8:], shortHash(d.ID))
		if _, err := w.Write(record[:]); err != nil {
			return err
		}
	}
	return nil
}

// WriteFiles writes decisions.tsv.
func WriteFiles(w *bufio.Writer, files []InputFile) error {
	t := result.NewTableWriter(w, result.TSV, fileColumns...)
	for _, f := range files {
		if t.Text(f.Path); f.Bytes < 0 {
			t.Null()
		} else {
			t.Integer(f.Bytes)
		}
		if err := t.Integer(f.Dropped).End(); err != nil {
			return err
		}
	}
	return t.Close()
}

// readFiles reads the decisions in a folder: the table, and the rows of the list's files.
func (l *List) readFiles(ctx context.Context) error {
	dir := strings.TrimSuffix(l.Path, "/")
	in := input.File{Path: dir + "/" + RowsName}
	rows, err := in.Open(ctx, nil, &input.Meter{})
	if err != nil {
		return in.Named(err)
	}
	defer rows.Close()
	columns := func([]string) (names []string, err error) {
		for _, c := range fileColumns {
			names = append(names, c.Name)
		}
		return names, nil
	}
	err = result.ReadTable(ctx, dir+"/"+FilesName, columns, func(cells []result.Cell) error {
		size, n, err := int64(-1), int64(0), error(nil)
		if cells[1].Found {
			size, err = strconv.ParseInt(cells[1].Text, 10, 64)
		}
		if err == nil {
			n, err = strconv.ParseInt(cells[2].Text, 10, 64)
		}
		if err != nil || n < 0 || n > rows.Bytes/rowBytes-l.Rows {
			return fmt.Errorf("%w: %s bytes and %s dropped, where %s has %d bytes", store.ErrCorrupt, cells[1].Text,
				cells[2].Text, RowsName, rows.Bytes)
		}
		offset := l.Rows * rowBytes
		l.Rows += n
		key := object.Clean(cells[0].Text)
		f := l.files[key]
		switch {
		case f == nil && l.others[key]:
			return nil
		case f == nil:
			l.addStrange(cells[0].Text, n)
			return nil
		case f.bytes >= 0 && size >= 0 && f.bytes != size:
			return mixedError(fmt.Sprintf("%s has %d bytes, and had %d when the decisions were made: give the same files, or make "+
				"decisions again", cells[0].Text, f.bytes, size))
		}
		f.isDecided, f.rows = true, make([]row, n)
		own := bufio.NewReader(io.NewSectionReader(rows, offset, n*rowBytes))
		for i := range f.rows {
			var record [rowBytes]byte
			if _, err := io.ReadFull(own, record[:]); err != nil {
				return fmt.Errorf("%s: %w", RowsName, err)
			}
			f.rows[i] = row{int64(binary.LittleEndian.Uint64(record[:])), binary.LittleEndian.Uint64(record[8:])}
		}
		if !slices.IsSortedFunc(f.rows, func(a, b row) int { return a.compare(b.number) }) {
			return fmt.Errorf("%w: the rows in %s are not in order", store.ErrCorrupt, RowsName)
		}
		return nil
	})
	if err == nil && l.Rows*rowBytes != rows.Bytes {
		err = fmt.Errorf("%s: %w: %d bytes, where %s has %d dropped documents", in.Path, store.ErrCorrupt, rows.Bytes, FilesName,
			l.Rows)
	}
	return err
}

// A mixedError reports that decisions and files do not belong together.
type mixedError string

func (e mixedError) Error() string { return string(e) }

// Unwrap returns [simhash.ErrMixed].
func (e mixedError) Unwrap() error { return simhash.ErrMixed }

// checkDecided returns an error for a file without decisions.
func (l *List) checkDecided() error {
	for path, f := range l.files {
		if !f.isDecided {
			return mixedError(fmt.Sprintf("%s has no decision about %s: give the inputs of that run, or make decisions again",
				l.Path, path))
		}
	}
	return nil
}
