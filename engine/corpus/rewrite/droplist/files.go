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

	"github.com/cespare/xxhash/v2"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/object"
	"example.org/ndd/engine/storage/store"
)

// The decisions about a corpus by input file, so that a share of a copy reads only those about its own files:
//
//	decisions.tsv   file | bytes | content | dropped | check   for each input file, in order
//	decisions.rows  row | hash of the ID | ...                 for each dropped document, in the order of the table
//
// bytes is the size of the file, and content the checksum of its units. They are empty if they are unknown. dropped is
// the number of dropped documents. check is the hash of file, bytes, content and the rows of the file, so that a share
// detects damage in what it reads. Both numbers of
// decisions.rows are little-endian uint64. The hash is never 0.
const (
	FilesName = "decisions.tsv"
	RowsName  = "decisions.rows"
	rowBytes  = 16
)

// fileColumns are the columns of decisions.tsv.
var fileColumns = []result.Column{{Name: "file", Kind: result.Text}, {Name: "bytes", Kind: result.Integer, Optional: true},
	{Name: "content", Kind: result.Text, Optional: true},
	{Name: "dropped", Kind: result.Integer}, {Name: "check", Kind: result.Text}}

// An InputFile is a row of decisions.tsv.
type InputFile struct {
	Path    string
	Bytes   int64           // size; -1 if it is unknown
	Content format.Checksum // checksum of its units; 0 if it is unknown
	Dropped int64           // number of dropped documents

	check *xxhash.Digest // hash of the path, the size and the rows
}

// begin returns the hash of a file before its rows.
func (f *InputFile) begin() *xxhash.Digest {
	check := xxhash.New()
	fmt.Fprintf(check, "%s\x00%d\x00%x\x00", f.Path, f.Bytes, f.Content)
	return check
}

// checkText returns the hash of a file as decisions.tsv has it.
func checkText(check *xxhash.Digest) string { return fmt.Sprintf("%016x", check.Sum64()) }

// A Drop is a dropped document.
type Drop struct {
	File string
	Row  int64 // 0 if the file is the document
	ID   string
}

// WriteRows writes decisions.rows and counts the dropped documents of each file. Both are in the order of the inputs.
func WriteRows(w *bufio.Writer, files []InputFile, drops iter.Seq[Drop]) error {
	for i := range files {
		files[i].check = files[i].begin()
	}
	i := 0
	var record [rowBytes]byte
	for d := range drops {
		for i < len(files) && files[i].Path != d.File {
			i++
		}
		if i == len(files) {
			return fmt.Errorf("%s: dropped, but its file is no input", input.Place(d.File, d.Row))
		}
		files[i].Dropped++
		binary.LittleEndian.PutUint64(record[:], uint64(d.Row))
		binary.LittleEndian.PutUint64(record[8:], shortHash(d.ID))
		files[i].check.Write(record[:])
		if _, err := w.Write(record[:]); err != nil {
			return err
		}
	}
	return nil
}

// WriteFiles writes decisions.tsv, after [WriteRows] for the same files.
func WriteFiles(w *bufio.Writer, files []InputFile) error {
	t := result.NewTableWriter(w, result.TSV, fileColumns...)
	for _, f := range files {
		if t.Text(f.Path); f.Bytes < 0 {
			t.Null()
		} else {
			t.Integer(f.Bytes)
		}
		if f.Content == 0 {
			t.Null()
		} else {
			t.Text(fmt.Sprintf("%016x", f.Content))
		}
		if err := t.Integer(f.Dropped).Text(checkText(f.check)).End(); err != nil {
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
	columns := func(have []string) (names []string, err error) {
		for _, c := range fileColumns {
			names = append(names, c.Name)
		}
		if !slices.Equal(have, names) {
			err = fmt.Errorf("%w: the columns are %.300q, not %q: make decisions again", store.ErrCorrupt, have, names)
		}
		return names, err
	}
	err = result.ReadTable(ctx, dir+"/"+FilesName, columns, func(cells []result.Cell) error {
		in, err := inputFileOf(cells)
		if err == nil && in.Dropped > rows.Bytes/rowBytes-l.Rows {
			err = fmt.Errorf("%w: %d dropped, where %s has %d bytes", store.ErrCorrupt, in.Dropped, RowsName, rows.Bytes)
		}
		if err != nil {
			return err
		}
		section := io.NewSectionReader(rows, l.Rows*rowBytes, in.Dropped*rowBytes)
		l.Rows += in.Dropped
		return l.readRows(&in, section, cells[4].Text)
	})
	if err == nil && l.Rows*rowBytes != rows.Bytes {
		err = fmt.Errorf("%s: %w: %d bytes, where %s has %d dropped documents", in.Path, store.ErrCorrupt, rows.Bytes, FilesName,
			l.Rows)
	}
	return err
}

// inputFileOf returns the input file of a row of decisions.tsv.
func inputFileOf(cells []result.Cell) (f InputFile, err error) {
	f = InputFile{Path: cells[0].Text, Bytes: -1}
	if cells[1].Found {
		f.Bytes, err = strconv.ParseInt(cells[1].Text, 10, 64)
	}
	if err == nil {
		f.Dropped, err = strconv.ParseInt(cells[3].Text, 10, 64)
	}
	if err == nil && cells[2].Found {
		var content uint64
		content, err = strconv.ParseUint(cells[2].Text, 16, 64)
		f.Content = format.Checksum(content)
	}
	if err != nil || f.Dropped < 0 {
		err = fmt.Errorf("%w: %.30q bytes, content %.30q and %.30q dropped", store.ErrCorrupt, cells[1].Text, cells[2].Text, cells[3].Text)
	}
	return f, err
}

// readRows reads the rows of an input file, if the list's share has the file.
func (l *List) readRows(in *InputFile, from io.Reader, check string) error {
	key := object.Clean(in.Path)
	f := l.files[key]
	switch {
	case f == nil && l.others[key]:
		return nil
	case f == nil:
		l.addStrange(in.Path, in.Dropped)
		return nil
	case f.isDecided:
		return fmt.Errorf("%w: %s is listed twice", store.ErrCorrupt, in.Path)
	case f.bytes >= 0 && in.Bytes >= 0 && f.bytes != in.Bytes:
		return mixedError(fmt.Sprintf("%s has %d bytes, and had %d when the decisions were made: give the same files, or make "+
			"decisions again", in.Path, f.bytes, in.Bytes))
	}
	f.isDecided, f.content, f.rows = true, in.Content, make([]row, in.Dropped)
	digest := in.begin()
	r := io.TeeReader(bufio.NewReader(from), digest)
	for i := range f.rows {
		var record [rowBytes]byte
		if _, err := io.ReadFull(r, record[:]); err != nil {
			return fmt.Errorf("%s: %w", RowsName, err)
		}
		f.rows[i] = row{int64(binary.LittleEndian.Uint64(record[:])), binary.LittleEndian.Uint64(record[8:])}
		if i > 0 && f.rows[i].number <= f.rows[i-1].number {
			return fmt.Errorf("%w: the rows of %s in %s are not in order", store.ErrCorrupt, in.Path, RowsName)
		}
	}
	if checkText(digest) != check {
		return fmt.Errorf("%w: %s and its rows in %s have the check %s, not %.30s", store.ErrCorrupt, in.Path, RowsName,
			checkText(digest), check)
	}
	return nil
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
