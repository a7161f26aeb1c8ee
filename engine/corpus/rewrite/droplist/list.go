// Package droplist reads tables of documents to remove, such as the table that ndd dedup -o writes, and copies the
// files without them. It also writes and reads decisions by input file (files.go).
package droplist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/object"
)

// A List names the documents to drop: by file and row, 16 bytes each, or by ID, about 40 bytes each. If the
// table has rows and IDs, the document in a row must have the ID of the row. IDs are held as hashes of 128 bits.
type List struct {
	Path string
	ByID bool
	Rows int64 // number of rows of the table that drop a document

	files   map[string]*fileRows // rows of each input of the share, by file name
	others  map[string]bool      // inputs of other shares
	ids     map[hash]bool        // IDs to drop; true if a document had the ID
	unknown []string             // the first rows with files that are not inputs
	strange int64                // number of these rows
}

// A hash is the hash of an ID.
type hash [highwayhash.Size128]byte

// fileRows are the rows of a file that are dropped, ascending; row 0 is the whole file.
type fileRows struct {
	rows      []row
	seen      []bool
	bytes     int64 // size of the file; -1 if it is unknown
	isDecided bool  // the folder has decisions about this file

	content format.Checksum    // checksum of the units when the decisions were made; 0 if unknown
	cuts    map[int64]textCuts // cuts of rows that are not dropped, by row
}

// textCuts are the ranges that are cut out of a text, and the hash of the text.
type textCuts struct {
	ranges []format.Range
	hash   uint64
}

// A row is the number of a row and the hash of its ID in the table, 0 for none.
type row struct {
	number int64
	id     uint64
}

func (r row) compare(number int64) int { return cmp.Compare(r.number, number) }

// A Leftover counts the documents that a copy dropped, and the rows of the table without a document.
type Leftover struct {
	Dropped   int64    // documents
	Cut       int64    // documents
	Unmatched int64    // rows without a document; by ID only if all files were read
	Named     []string // the first of these rows, unless they are IDs
	Repeated  int64    // documents with an ID that another dropped one has
}

// namedMax is the number of rows without a document that are named.
const namedMax = 10

// ErrColumns is wrapped by the error for a table whose columns do not name documents.
var ErrColumns = errors.New("no columns that name documents")

// Read reads a table of documents to drop from the inputs' files of a share, or from all of them if share is
// nil. The table is TSV, JSON lines or Parquet with the columns file and row, or the column id. A row without a
// number is a file that is one document. If the table has a column kept, rows with that set stay. It is an error
// if no file of the table is an input. The path of a folder means its decisions by input file. Then it is also an error
// if a file of the share has no decision, or another size.
func Read(ctx context.Context, path string, inputs []string, share *input.Share) (*List, error) {
	l := &List{Path: path, files: map[string]*fileRows{}, others: map[string]bool{}, ids: map[hash]bool{}}
	if _, err := os.Stat(path); err != nil && !object.Is(path) {
		return nil, input.File{Path: path}.Named(err)
	}
	// Look up the inputs first, because rows of other files are only counted.
	anInput := l.findFiles(ctx, inputs, share)
	isFolder := isFolder(path)
	var c columns
	var err error
	if isFolder {
		err = l.readFiles(ctx)
	} else {
		err = result.ReadTable(ctx, path, c.choose, func(cells []result.Cell) error { return l.add(&c, cells) })
	}
	if err != nil {
		return nil, err
	}
	// Refuse a list that belongs to other inputs.
	l.ByID = c.byID
	isInput := l.strange < l.Rows
	for _, f := range l.files {
		isInput = isInput || f.isDecided
	}
	if !l.ByID && l.Rows > 0 && !isInput {
		return nil, fmt.Errorf("%s: none of its files is an input: it has %s, and an input is %s: "+
			"give the inputs as they were given then", path, l.unknown[0], anInput)
	}
	if isFolder {
		if err := l.checkDecided(); err != nil {
			return nil, err
		}
	}
	for _, f := range l.files {
		// Sort the rows of each file for the judge, and remove repeated ones.
		slices.SortStableFunc(f.rows, func(a, b row) int { return a.compare(b.number) })
		f.rows = slices.CompactFunc(f.rows, func(a, b row) bool { return a.number == b.number })
		f.seen = make([]bool, len(f.rows))
	}
	return l, nil
}

// isFolder reports whether a path is a folder, or a prefix of objects, and no table.
func isFolder(path string) bool {
	if object.Is(path) {
		_, err := result.FormatOf(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst"))
		return err != nil
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// columns are the columns of a table that are read: file, row and perhaps id, or id alone; then perhaps kept.
type columns struct{ byID, hasID, hasKept bool }

// choose chooses the columns to read from the columns of a table.
func (c *columns) choose(have []string) (want []string, err error) {
	has := func(name string) bool { return slices.Contains(have, name) }
	switch {
	case has("reason") && !has("kept_id"):
		return nil, fmt.Errorf("%w to drop: a column reason, as the table of kept documents has", ErrColumns)
	case has("file") && has("row"):
		if want = []string{"file", "row"}; has("id") {
			c.hasID, want = true, append(want, "id")
		}
	case has("id"):
		want, c.byID = []string{"id"}, true
	default:
		return nil, fmt.Errorf("%w: file and row, or id; the columns are %.300s", ErrColumns, strings.Join(have, ", "))
	}
	if c.hasKept = has("kept"); c.hasKept {
		want = append(want, "kept")
	}
	return want, nil
}

// add adds a row of the table.
func (l *List) add(c *columns, cells []result.Cell) error {
	if kept := cells[len(cells)-1].Text; c.hasKept && (kept == "1" || kept == "true") {
		return nil
	}
	l.Rows++
	if !cells[0].Found {
		return fmt.Errorf("no %s", map[bool]string{true: "id", false: "file"}[c.byID])
	}
	if c.byID {
		l.ids[hashOf(cells[0].Text)] = false
		return nil
	}
	number, err := rowOf(cells[1])
	if err != nil {
		return err
	}
	key := object.Clean(cells[0].Text)
	f := l.files[key]
	switch {
	case f != nil:
		r := row{number: number}
		if c.hasID && cells[2].Found {
			r.id = shortHash(cells[2].Text)
		}
		f.rows = append(f.rows, r)
	case !l.others[key]:
		l.addStrange(input.Place(cells[0].Text, number), 1)
	}
	return nil
}

// addStrange counts rows of a file that is no input.
func (l *List) addStrange(place string, rows int64) {
	if l.strange += rows; rows > 0 && len(l.unknown) < namedMax {
		l.unknown = append(l.unknown, place+" (no input)")
	}
}

// findFiles finds the files of the inputs and of the share, which has all of them if it is nil. It returns the name of
// one file, or "none".
func (l *List) findFiles(ctx context.Context, inputs []string, share *input.Share) (example string) {
	example = "none"
	for f, err := range input.Files(ctx, inputs) {
		if err == nil {
			l.others[object.Clean(f.Path)] = true
			example = f.Path
		}
	}
	for f, err := range share.List(ctx, inputs) {
		if err == nil {
			l.files[object.Clean(f.Path)] = &fileRows{bytes: f.Size()}
		}
	}
	return example
}

// rowOf returns the row number in a cell, or 0 if there is none.
func rowOf(c result.Cell) (number int64, err error) {
	if !c.Found {
		return 0, nil
	}
	if number, err = strconv.ParseInt(c.Text, 10, 64); err != nil || number < 0 {
		return 0, fmt.Errorf("row %.30q is no number", c.Text)
	}
	return number, nil
}

// shortHash returns a hash of an ID, never 0.
func shortHash(id string) uint64 { return max(1, xxhash.Sum64String(id)) }

func hashOf(id string) hash { return highwayhash.Sum128([]byte(id), make([]byte, highwayhash.Size)) }

// A judge finds the units of one file that are dropped.
type judge struct {
	l       *List
	rows    *fileRows
	ids     []hash // IDs of dropped documents
	dropped int64
	cut     int64
	content format.Checksum // checksum of the units so far
}

// missing returns 1 if the file had other units when its decisions were made, and otherwise 0.
func (j *judge) missing() int {
	if then := j.rows.content; then != 0 && then != j.content {
		return 1
	}
	return 0
}

// unit returns the verdict about a unit. A unit that is no document stays.
func (j *judge) unit(x *format.Extractor, u format.Unit) (v rewrite.Verdict, err error) {
	// Add the unit to the checksum, which is compared at the end of the file.
	if j.rows.content != 0 {
		j.content.Add(u.Sum())
	}
	// A list of IDs needs the ID of every document.
	if j.l.ByID {
		doc, err := x.Borrow(u)
		if err != nil {
			return v, nil
		}
		id := hashOf(doc.ID)
		if _, v.Drop = j.l.ids[id]; v.Drop {
			j.ids = append(j.ids, id)
			j.dropped++
		}
		return v, nil
	}
	// A list of rows needs the document only to check it.
	i, found := slices.BinarySearchFunc(j.rows.rows, int64(u.Line), row.compare)
	if !found {
		return v, nil
	}
	cuts, isCut := j.rows.cuts[int64(u.Line)]
	// The document must have the ID that the row has.
	if want := j.rows.rows[i].id; want != 0 {
		doc, err := x.Borrow(u)
		if err != nil {
			return v, nil
		}
		if shortHash(doc.ID) != want {
			return v, simhash.Mixed("%s: the document has the ID %q, but the decisions have another one for this row: "+
				"give the input files of the decisions, and the same --id", input.Place(u.Source, u.Line), doc.ID)
		}
		// The ranges are valid only in the same text.
		if isCut {
			last := cuts.ranges[len(cuts.ranges)-1]
			if xxhash.Sum64String(doc.Text) != cuts.hash || last.To > int64(len(doc.Text)) {
				return v, ingest.Changed(input.Place(u.Source, u.Line))
			}
			j.rows.seen[i] = true
			j.cut++
			return rewrite.CutText(doc.Text, cuts.ranges), nil
		}
	}
	j.rows.seen[i] = true
	j.dropped++
	return rewrite.Verdict{Drop: true}, nil
}

// Copy copies the files of a share without the documents that are dropped. Its report names files that cannot
// be read.
func (l *List) Copy(ctx context.Context, inputs []string, opts format.Options, threads int, to *rewrite.Target) (
	rewrite.Report, Leftover, error) {
	opts.Strict = false // files that cannot be read stay in the copies
	var judges []*judge
	job := rewrite.Job{Inputs: inputs, Options: opts, Threads: threads,
		Judge: func(f input.File, _, _ int) rewrite.Judge {
			j := &judge{l: l, rows: cmp.Or(l.files[object.Clean(f.Path)], &fileRows{})}
			judges = append(judges, j)
			return rewrite.Judge{Unit: j.unit, Whole: !l.ByID && len(j.rows.rows) == 0, Missing: j.missing}
		}}
	report, err := job.Copy(ctx, to)
	if changed, is := errors.AsType[*ingest.ChangedError](err); is {
		err = simhash.Mixed("%s has other content than when the decisions were made: give the same files, with --text, --extract, "+
			"--max-document and --input-format as then, or make decisions again", changed.Place)
	}
	if err != nil {
		return report, Leftover{}, err
	}
	return report, l.leftover(judges, opts.Share), nil
}

// leftover finds the rows of the table that no document had.
func (l *List) leftover(judges []*judge, share *input.Share) (result Leftover) {
	for _, j := range judges {
		result.Dropped += j.dropped
		result.Cut += j.cut
		for _, id := range j.ids {
			if l.ids[id] {
				result.Repeated++
			}
			l.ids[id] = true
		}
	}
	if l.ByID && share != nil && share.Count > 1 {
		return result // the other rows may belong to other shares
	}
	for _, matched := range l.ids {
		if !matched {
			result.Unmatched++
		}
	}
	if l.ByID {
		return result
	}
	if share == nil || share.Number == 0 {
		result.Unmatched, result.Named = l.strange, l.unknown
	}
	for _, file := range slices.Sorted(maps.Keys(l.files)) {
		f := l.files[file]
		for i, r := range f.rows {
			if !f.seen[i] {
				if result.Unmatched++; len(result.Named) < namedMax {
					result.Named = append(result.Named, input.Place(file, r.number))
				}
			}
		}
	}
	return result
}
