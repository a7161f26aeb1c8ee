package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/highwayhash"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/simhash"
	"ndd/engine/result"
	"ndd/engine/storage/object"
)

// Decisions are the documents that a table drops: by file and row, 16 bytes each, or by ID, some 40
// bytes each. Where the table has IDs, too, the document in a row must have that of the row. IDs are held by 128 bits of a hash.
type Decisions struct {
	Path string
	ByID bool
	Rows int64 // of the table that drop a document

	files   map[string]*decided // by file as written, the inputs of the share
	others  map[string]bool     // inputs of other shares
	ids     map[[highwayhash.Size128]byte]uint8
	unknown []string // rows of files that are no input, the first few
	strange int64    // how many there are
}

// decided are the rows of a file that are dropped, ascending; 0 is the file.
type decided struct {
	rows []decidedRow
	seen bitmap
}

// A decidedRow is a row with the hash of the ID that the table has for it, 0 for none.
type decidedRow struct {
	row int64
	id  uint64
}

func (r decidedRow) compare(row int64) int { return cmp.Compare(r.row, row) }

// An OtherIDError says that the document in a row has another ID than the table has for it.
type OtherIDError struct {
	File      string
	Row       int64
	Table, ID string // IDs in the table and in the file
}

func (e *OtherIDError) Error() string {
	return fmt.Sprintf("%s: the document has the ID %q, and in the table the row has %q: give the files that the table was made "+
		"of, and --id as then", document.Place(e.File, e.Row), e.ID, e.Table)
}

// Unwrap returns [simhash.ErrMixed].
func (e *OtherIDError) Unwrap() error { return simhash.ErrMixed }

// Leftover says what a copy by decisions found of them.
type Leftover struct {
	Dropped   int64    // documents
	Unmatched int64    // rows of the table that no document has; by ID only where all files were read
	Named     []string // the first few of them
	Repeated  int64    // documents with an ID that another dropped one has
}

// leftoverMost is how many rows without a document are named.
const leftoverMost = 10

// ErrNoDecisions is wrapped by the error for a table whose columns do not name documents.
var ErrNoDecisions = errors.New("no columns that name documents")

// ReadDecisions reads a table of documents to drop, of the inputs' files of a share, which may be
// nil for all: TSV, JSON lines or Parquet with the columns file and row, or the column id. A row
// without a number is a file that is one document. Where there is a column kept, rows that have it
// set stay. That no file of the table is an input is an error.
func ReadDecisions(ctx context.Context, path string, inputs []string, share *document.Share) (*Decisions, error) {
	d := &Decisions{Path: path, files: map[string]*decided{}, others: map[string]bool{},
		ids: map[[highwayhash.Size128]byte]uint8{}}
	first := filesOf(ctx, inputs, share, d.others, d.files)
	hasKept, hasID, known := false, false, false
	choose := func(have []string) (want []string, err error) {
		has := func(name string) bool { return slices.Contains(have, name) }
		switch {
		case has("reason") && !has("kept_id"):
			return nil, fmt.Errorf("%w to drop: a column reason, as the table of kept documents has", ErrNoDecisions)
		case has("file") && has("row"):
			if want = []string{"file", "row"}; has("id") {
				hasID, want = true, append(want, "id")
			}
		case has("id"):
			want, d.ByID = []string{"id"}, true
		default:
			return nil, fmt.Errorf("%w: file and row, or id; the columns are %.300s", ErrNoDecisions, strings.Join(have, ", "))
		}
		if hasKept = has("kept"); hasKept {
			want = append(want, "kept")
		}
		return want, nil
	}
	err := result.ReadTable(ctx, path, choose, func(cells []result.Cell) error {
		if kept := cells[len(cells)-1].Text; hasKept && (kept == "1" || kept == "true") {
			return nil
		}
		d.Rows++
		if !cells[0].Found {
			return fmt.Errorf("no %s", map[bool]string{true: "id", false: "file"}[d.ByID])
		}
		if d.ByID {
			d.ids[idKey(cells[0].Text)] = 0
			return nil
		}
		row, err := rowOf(cells[1])
		if err != nil {
			return err
		}
		key := fileKey(cells[0].Text)
		f := d.files[key]
		switch {
		case f != nil:
			known = true
			at := decidedRow{row: row}
			if hasID && cells[2].Found {
				at.id = hashID(cells[2].Text)
			}
			f.rows = append(f.rows, at)
		case d.others[key]:
			known = true
		default:
			d.strange++
			if len(d.unknown) < leftoverMost {
				d.unknown = append(d.unknown, document.Place(cells[0].Text, row)+" (no input)")
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !d.ByID && d.Rows > 0 && !known {
		return nil, fmt.Errorf("%s: none of its files is an input: it has %s, and an input is %s: "+
			"give the inputs as they were given then", path, d.unknown[0], first)
	}
	for _, f := range d.files {
		slices.SortStableFunc(f.rows, func(a, b decidedRow) int { return a.compare(b.row) })
		f.rows = slices.CompactFunc(f.rows, func(a, b decidedRow) bool { return a.row == b.row })
	}
	return d, nil
}

// filesOf adds the files of inputs to all, and those of a share, or all of them if it is nil, to mine. It
// returns one of them.
func filesOf[T any](ctx context.Context, inputs []string, share *document.Share, all map[string]bool,
	mine map[string]*T) (one string) {
	one = "none"
	for f, err := range document.Files(ctx, inputs) {
		if err == nil {
			all[fileKey(f.Path)] = true
			one = f.Path
		}
	}
	opts := document.Options{Share: share}
	for f, err := range opts.Files(ctx, inputs) {
		if err == nil {
			mine[fileKey(f.Path)] = new(T)
		}
	}
	return one
}

// rowOf returns the row of a file that a cell has, 0 for none.
func rowOf(c result.Cell) (row int64, err error) {
	if !c.Found {
		return 0, nil
	}
	if row, err = strconv.ParseInt(c.Text, 10, 64); err != nil || row < 0 {
		return 0, fmt.Errorf("row %.30q is no number", c.Text)
	}
	return row, nil
}

// fileKey returns the name by which a file is looked up.
func fileKey(path string) string {
	if object.Is(path) {
		return path
	}
	return filepath.Clean(path)
}

// hashID returns a hash of an ID, never 0.
func hashID(id string) uint64 { return max(1, xxhash.Sum64String(id)) }

// findID reads the table again, for the ID that it has in a row.
func (d *Decisions) findID(ctx context.Context, e *OtherIDError) error {
	only := func([]string) ([]string, error) { return []string{"file", "row", "id"}, nil }
	return result.ReadTable(ctx, d.Path, only, func(cells []result.Cell) error {
		if row, err := rowOf(cells[1]); err == nil && row == e.Row && fileKey(cells[0].Text) == fileKey(e.File) {
			e.Table = cells[2].Text
		}
		return nil
	})
}

func idKey(id string) [highwayhash.Size128]byte {
	return highwayhash.Sum128([]byte(id), make([]byte, highwayhash.Size))
}

// A decider finds out which units of one file are dropped.
type decider struct {
	d       *Decisions
	rows    *decided
	ids     [][highwayhash.Size128]byte // that were dropped
	dropped int64
}

func (x *decider) drops(e *document.Extractor, u document.Unit) (bool, error) {
	if !x.d.ByID {
		i, found := slices.BinarySearchFunc(x.rows.rows, int64(u.Line), decidedRow.compare)
		if !found {
			return false, nil
		}
		if want := x.rows.rows[i].id; want != 0 {
			doc, err := e.Borrow(u)
			if err != nil {
				return false, nil // it is no document, and stays
			}
			if hashID(doc.ID) != want {
				return false, &OtherIDError{File: u.Source, Row: int64(u.Line), ID: strings.Clone(doc.ID)}
			}
		}
		x.rows.seen.set(i)
		x.dropped++
		return true, nil
	}
	doc, err := e.Borrow(u)
	if err != nil {
		return false, nil // it is no document, and has no ID
	}
	key := idKey(doc.ID)
	_, found := x.d.ids[key]
	if found {
		x.ids = append(x.ids, key)
		x.dropped++
	}
	return found, nil
}

// Copy copies the files of opts.Share without the documents that are dropped, as [Result.Copy] does.
// What cannot be read is named in the report.
func (d *Decisions) Copy(ctx context.Context, inputs []string, opts document.Options, threads int, to *Copies) (
	CopyReport, Leftover, error) {
	opts.Strict = false // what cannot be read stays in the copies
	var deciders []*decider
	w := Rewriting{Inputs: inputs, Options: opts, Threads: threads,
		Judge: func(f document.File, _ int) (Judge, func() int) {
			x := &decider{d: d, rows: d.files[fileKey(f.Path)]}
			deciders = append(deciders, x)
			return func(e *document.Extractor, u document.Unit) (Verdict, error) {
				drop, err := x.drops(e, u)
				return Verdict{Drop: drop}, err
			}, nil
		}}
	report, err := w.Copy(ctx, to)
	if other, is := errors.AsType[*OtherIDError](err); is {
		err = cmp.Or(d.findID(ctx, other), err)
	}
	if err != nil {
		return report, Leftover{}, err
	}
	left, err := d.leftover(ctx, deciders, opts.Share)
	return report, left, err
}

// leftover finds out which decisions no document had.
func (d *Decisions) leftover(ctx context.Context, deciders []*decider, share *document.Share) (l Leftover, err error) {
	for _, x := range deciders {
		l.Dropped += x.dropped
		for _, key := range x.ids {
			if d.ids[key] == 1 {
				l.Repeated++
			}
			d.ids[key] = 1
		}
	}
	if d.ByID {
		if share != nil && share.Of > 1 {
			return l, nil // others have the rest
		}
		return l, d.unmatchedIDs(ctx, &l)
	}
	if share == nil || share.Number == 0 {
		l.Unmatched, l.Named = d.strange, d.unknown
	}
	for _, file := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[file]
		for i, at := range f.rows {
			if !f.seen.has(i) {
				if l.Unmatched++; len(l.Named) < leftoverMost {
					l.Named = append(l.Named, document.Place(file, at.row))
				}
			}
		}
	}
	return l, nil
}

// unmatchedIDs counts and names the IDs that no document had. It reads the table again.
func (d *Decisions) unmatchedIDs(ctx context.Context, l *Leftover) error {
	for _, matched := range d.ids {
		if matched == 0 {
			l.Unmatched++
		}
	}
	if l.Unmatched == 0 {
		return nil
	}
	only := func([]string) ([]string, error) { return []string{"id"}, nil }
	return result.ReadTable(ctx, d.Path, only, func(cells []result.Cell) error {
		key := idKey(cells[0].Text)
		if matched, dropped := d.ids[key]; dropped && matched == 0 && len(l.Named) < leftoverMost {
			l.Named = append(l.Named, cells[0].Text)
			d.ids[key] = 1
		}
		return nil
	})
}
