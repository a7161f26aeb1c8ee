package droplist

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
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
//	decisions.tsv   file | bytes | content | documents | length | check   for each input file, in order
//	decisions.rows  step | hash of the ID | cuts | ...                    for each document of them, in the same order
//
// bytes is the size of the file, and content the checksum of its units. They are empty if they are unknown. documents
// is the number of documents that are dropped or cut, and length the number of their bytes in decisions.rows. check is
// the hash of the other columns and of these bytes, so that a share detects damage in what it reads.
//
// step is the row minus that of the document before in the file. The hash is a little-endian uint64, and never 0. cuts
// is the number of ranges that are cut out of the text, 0 if the document is dropped. If it is not 0, it is followed by
// a hash of the text like that of the ID, and for each cut by two numbers: the bytes since the cut before, and its
// length. step, cuts and the numbers of cuts are uvarints.
const (
	FilesName = "decisions.tsv"
	RowsName  = "decisions.rows"
	leastRow  = 10 // bytes of the shortest row
)

// fileColumns are the columns of decisions.tsv.
var fileColumns = []result.Column{{Name: "file", Kind: result.Text}, {Name: "bytes", Kind: result.Integer, Optional: true},
	{Name: "content", Kind: result.Text, Optional: true},
	{Name: "documents", Kind: result.Integer}, {Name: "length", Kind: result.Integer}, {Name: "check", Kind: result.Text}}

// An InputFile is a row of decisions.tsv.
type InputFile struct {
	Path    string
	Bytes   int64           // size; -1 if it is unknown
	Content format.Checksum // checksum of its units; 0 if it is unknown

	documents, length int64          // decided documents, and the bytes of their rows
	check             *xxhash.Digest // hash of the path, the size, the content and the rows
}

// begin returns the hash of a file before its rows.
func (f *InputFile) begin() *xxhash.Digest {
	check := xxhash.New()
	fmt.Fprintf(check, "%s\x00%d\x00%x\x00", f.Path, f.Bytes, f.Content)
	return check
}

// checkText returns the hash of a file as decisions.tsv has it.
func checkText(check *xxhash.Digest) string { return fmt.Sprintf("%016x", check.Sum64()) }

// A Decision says that a document is dropped or cut.
type Decision struct {
	File string
	Row  int64 // 0 if the file is the document
	ID   string

	Cuts     []format.Range // ranges of the text that are cut out, in order; none if the document is dropped
	TextHash uint64         // xxHash of the text if there are cuts
}

// append appends the row of a decision after another row of the file.
func (d *Decision) append(b []byte, before int64) []byte {
	b = binary.AppendUvarint(b, uint64(d.Row-before))
	b = binary.LittleEndian.AppendUint64(b, shortHash(d.ID))
	if b = binary.AppendUvarint(b, uint64(len(d.Cuts))); len(d.Cuts) > 0 {
		b = binary.LittleEndian.AppendUint64(b, d.TextHash)
	}
	end := int64(0)
	for _, c := range d.Cuts {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.From-end)), uint64(c.To-c.From))
		end = c.To
	}
	return b
}

// WriteRows writes decisions.rows and counts the documents of each file. Both are in the order of the inputs.
func WriteRows(w *bufio.Writer, files []InputFile, decisions iter.Seq[Decision]) error {
	for i := range files {
		files[i].check = files[i].begin()
	}
	i, before := 0, int64(0)
	var b []byte
	for d := range decisions {
		for i < len(files) && files[i].Path != d.File {
			i, before = i+1, 0
		}
		if i == len(files) {
			return fmt.Errorf("%s: dropped, and no input in its place", input.Place(d.File, d.Row))
		}
		f := &files[i]
		b = d.append(b[:0], before)
		before = d.Row
		f.documents, f.length = f.documents+1, f.length+int64(len(b))
		f.check.Write(b)
		if _, err := w.Write(b); err != nil {
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
		if err := t.Integer(f.documents).Integer(f.length).Text(checkText(f.check)).End(); err != nil {
			return err
		}
	}
	return t.Close()
}

// readFiles reads the decisions in a folder: the table, and the rows of the list's files.
func (l *List) readFiles(ctx context.Context) error {
	// Open the rows of all input files, which are in one file.
	dir := strings.TrimSuffix(l.Path, "/")
	in := input.File{Path: dir + "/" + RowsName}
	rows, err := in.Open(ctx, nil, &input.Meter{})
	if err != nil {
		return fmt.Errorf("%w: 'ndd dedup -o' writes it for documents and for shares; for other inputs, give its table dropped.tsv",
			in.Named(err))
	}
	defer rows.Close()
	// The table must have exactly the columns of this version.
	columns := func(have []string) (names []string, err error) {
		for _, c := range fileColumns {
			names = append(names, c.Name)
		}
		if !slices.Equal(have, names) {
			err = fmt.Errorf("%w: the columns are %.300q, not %q: make decisions again", store.ErrCorrupt, have, names)
		}
		return names, err
	}
	// Read the table. Each of its rows has the length of its input file's part in the file of rows.
	offset := int64(0)
	err = result.ReadTable(ctx, dir+"/"+FilesName, columns, func(cells []result.Cell) error {
		in, err := inputFileOf(cells)
		if err == nil && (in.length > rows.Bytes-offset || in.documents > in.length/leastRow) {
			err = fmt.Errorf("%w: %d documents in %d bytes, where %s has %d bytes", store.ErrCorrupt, in.documents, in.length, RowsName,
				rows.Bytes)
		}
		if err != nil {
			return err
		}
		section := io.NewSectionReader(rows, offset, in.length)
		offset, l.Rows = offset+in.length, l.Rows+in.documents
		return l.readRows(&in, section, cells[5].Text)
	})
	// The parts must fill the file of rows.
	if err == nil && offset != rows.Bytes {
		err = fmt.Errorf("%s: %w: %d bytes, where %s has %d", in.Path, store.ErrCorrupt, rows.Bytes, FilesName, offset)
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
		f.documents, err = strconv.ParseInt(cells[3].Text, 10, 64)
	}
	if err == nil {
		f.length, err = strconv.ParseInt(cells[4].Text, 10, 64)
	}
	if err == nil && cells[2].Found {
		var content uint64
		content, err = strconv.ParseUint(cells[2].Text, 16, 64)
		f.Content = format.Checksum(content)
	}
	if err != nil || f.documents < 0 || f.length < 0 {
		err = fmt.Errorf("%w: %.30q bytes, content %.30q, %.30q documents in %.30q bytes", store.ErrCorrupt, cells[1].Text, cells[2].Text,
			cells[3].Text, cells[4].Text)
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
		l.addStrange(in.Path, in.documents)
		return nil
	case f.isDecided:
		return fmt.Errorf("%w: %s is listed twice", store.ErrCorrupt, in.Path)
	case f.bytes >= 0 && in.Bytes >= 0 && f.bytes != in.Bytes:
		return simhash.Mixed("%s has %d bytes, and had %d when the decisions were made: give the same files, or make decisions again",
			in.Path, f.bytes, in.Bytes)
	}
	f.isDecided, f.content = true, in.Content
	data := make([]byte, in.length)
	if _, err := io.ReadFull(from, data); err != nil {
		return fmt.Errorf("%s: %w", RowsName, err)
	}
	digest := in.begin()
	if digest.Write(data); checkText(digest) != check {
		return fmt.Errorf("%w: %s and its rows in %s have the check %s, not %.30s", store.ErrCorrupt, in.Path, RowsName,
			checkText(digest), check)
	}
	if err := f.decode(data, in.documents); err != nil {
		return fmt.Errorf("%w: the rows of %s in %s are %w", store.ErrCorrupt, in.Path, RowsName, err)
	}
	return nil
}

// decode reads the rows of a file.
func (f *fileRows) decode(data store.Fields, documents int64) (err error) {
	defer func() {
		if recover() != nil { // numbers that its bytes contradict
			err = errors.New("cut off")
		}
	}()
	// Each row has the distance to the previous one, which is not 0 except in the first row.
	f.rows, f.cuts = make([]row, documents), map[int64]textCuts{}
	number := int64(0)
	for i := range f.rows {
		step := data.Uvarint()
		before := number
		if number += int64(step); number < before || number == before && i > 0 {
			return errors.New("not in order")
		}
		f.rows[i] = row{number, data.Word()}
		// The ranges to cut out of the text ascend and do not overlap.
		if n := data.Uvarint(); n > 0 {
			c, end := textCuts{hash: data.Word()}, int64(0)
			for range n {
				from := end + int64(data.Uvarint())
				to := from + int64(data.Uvarint())
				if from < end || to < from {
					return errors.New("not in order")
				}
				end = to
				c.ranges = append(c.ranges, format.Range{From: from, To: end})
			}
			f.cuts[number] = c
		}
	}
	if len(data) > 0 {
		return errors.New("too long")
	}
	return nil
}

// checkDecided returns an error for a file without decisions.
func (l *List) checkDecided() error {
	for path, f := range l.files {
		if !f.isDecided {
			return simhash.Mixed("%s has no decision about %s: give the inputs of that run, or make decisions again", l.Path, path)
		}
	}
	return nil
}
