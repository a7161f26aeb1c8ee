package ndf

import (
	"context"
	"fmt"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/storage/idlist"
	"example.org/ndd/engine/storage/store"
)

// A File is an open fingerprint file of any format. Many goroutines may read it.
type File struct {
	path        string
	recipe      *simhash.Recipe // nil for raw files, which are arrays and fingerprints as text
	chunks      []chunk
	docs        uint64
	file        *store.File // nil for raw files
	unmap       func() error
	unmarkedIDs *idlist.List

	share   *Share // nil if the file has no places
	sources []source

	hasSketches bool

	hasHashes      bool
	unmarkedHashes []Hash // nil without hashes
	idBytes        uint64 // size of the IDs of an .ndf file

	hasIDs   bool     // for fingerprints as text: the lines have IDs
	unmarked []string // for fingerprints as text: IDs of documents without a fingerprint
}

type chunk struct {
	fingerprints []uint64
	lengths      []uint32     // nil for raw files
	ids          *idlist.List // nil for raw files
	textIDs      []string     // IDs of fingerprints as text, else nil
	sketches     []sketch.Sketch
	hashes       []Hash
}

// Path returns the path with which the file was opened.
func (f *File) Path() string { return f.path }

// Recipe returns the recipe of the fingerprints, or nil for a raw file.
func (f *File) Recipe() *simhash.Recipe { return f.recipe }

// Len returns the number of documents.
func (f *File) Len() uint64 { return f.docs }

// MadeBy sets the recipe of fingerprints in a file without a recipe. If the file has a different recipe, the error
// wraps [simhash.ErrMixed]. MadeBy must not be called while the file is in use.
func (f *File) MadeBy(r *simhash.Recipe) error {
	if f.recipe != nil {
		return simhash.Compatible(f.path, f.recipe, "the recipe that is named", r)
	}
	f.recipe = r
	return nil
}

// HasLengths reports whether the file has the lengths of the documents' texts.
func (f *File) HasLengths() bool { return f.file != nil }

// HasSketches reports whether the file has the sketches of its documents. It is true for a file without documents.
func (f *File) HasSketches() bool { return f.hasSketches || f.docs == 0 }

// Sketches yields the documents' sketches in row order, one chunk at a time. It yields nothing if [File.HasSketches]
// is false. A document without a sketch has the zero sketch.
func (f *File) Sketches(yield func([]sketch.Sketch) bool) {
	for i := range f.chunks {
		if f.hasSketches && !yield(f.chunks[i].sketches) {
			return
		}
	}
}

// HasHashes reports whether the file has the hashes of the documents' texts.
func (f *File) HasHashes() bool { return f.hasHashes }

// HasIDs reports whether documents have IDs in addition to their rows.
func (f *File) HasIDs() bool { return f.file != nil || f.hasIDs }

// HaveIDs reports whether the documents of some files have IDs. If only some files have them, it returns an error
// that wraps [simhash.ErrMixed], because a row could then get the ID of another document. Files without documents
// count only if there are no other files.
func HaveIDs(files []*File) (bool, error) {
	var first *File
	for _, f := range files {
		switch {
		case first == nil || first.Len() == 0 && f.Len() > 0:
			first = f
		case f.Len() > 0 && f.HasIDs() != first.HasIDs():
			withIDs, withoutIDs := first, f
			if f.HasIDs() {
				withIDs, withoutIDs = f, first
			}
			return false, fmt.Errorf("%w: the documents of %s have IDs, those of %s have none", simhash.ErrMixed,
				withIDs.path, withoutIDs.path)
		}
	}
	return first != nil && first.HasIDs(), nil
}

// ErrSketches is the error for a mix of files with and without sketches. It wraps [simhash.ErrMixed].
var ErrSketches = fmt.Errorf("%w", simhash.ErrMixed)

// HaveSketches reports whether some files have sketches. If only some files have them, it returns an error that wraps
// [ErrSketches]. Files without documents do not count.
func HaveSketches(files []*File) (bool, error) {
	var withSketches, withoutSketches *File
	for _, f := range files {
		switch {
		case f.Len() == 0:
		case f.HasSketches():
			withSketches = f
		default:
			withoutSketches = f
		}
	}
	if withSketches != nil && withoutSketches != nil {
		return false, fmt.Errorf("%w: %s has sketches, and %s has none", ErrSketches, withSketches.path, withoutSketches.path)
	}
	return withoutSketches == nil, nil
}

// IDBytes returns the size of the documents' IDs in the file, in bytes.
func (f *File) IDBytes() (sum uint64) {
	if f.file != nil {
		return f.idBytes
	}
	for i := range f.chunks {
		for _, id := range f.chunks[i].textIDs {
			sum += uint64(len(id))
		}
	}
	return sum
}

// Store returns the underlying checksummed file, or nil for a raw file, which has no checksums.
func (f *File) Store() *store.File { return f.file }

// Verify verifies the checksums of all blocks of an .ndf file. Other files have no checksums.
func (f *File) Verify(ctx context.Context, threads int) error {
	if f.file == nil {
		return nil
	}
	return f.file.Verify(ctx, threads, nil)
}

// Chunks yields the fingerprints in row order, one chunk at a time. They must not be modified, and not be used after
// Close.
func (f *File) Chunks(yield func([]uint64) bool) {
	for i := range f.chunks {
		if !yield(f.chunks[i].fingerprints) {
			return
		}
	}
}

// Fingerprints returns all fingerprints in row order. They are mapped if the file has one chunk, and copied
// otherwise.
func (f *File) Fingerprints() []uint64 {
	if len(f.chunks) == 1 {
		return f.chunks[0].fingerprints
	}
	all := make([]uint64, 0, f.docs)
	for i := range f.chunks {
		all = append(all, f.chunks[i].fingerprints...)
	}
	return all
}

// TextBytes yields the lengths of the documents' texts in row order, one chunk at a time. It yields nothing for a raw
// file.
func (f *File) TextBytes(yield func([]uint32) bool) {
	for i := range f.chunks {
		if f.chunks[i].lengths != nil && !yield(f.chunks[i].lengths) {
			return
		}
	}
}

// IDs yields the documents' IDs in row order. It yields nothing if [File.HasIDs] is false.
func (f *File) IDs(yield func(string, error) bool) {
	for _, c := range f.chunks {
		if !yieldIDs(c.textIDs, c.ids, yield) {
			return
		}
	}
}

// Unmarked yields the IDs of documents without a fingerprint.
func (f *File) Unmarked(yield func(string, error) bool) { yieldIDs(f.unmarked, f.unmarkedIDs, yield) }

func yieldIDs(ids []string, n *idlist.List, yield func(string, error) bool) bool {
	for _, id := range ids {
		if !yield(id, nil) {
			return false
		}
	}
	if n == nil {
		return true
	}
	for s, err := range n.All() {
		if !yield(s, err) || err != nil {
			return false
		}
	}
	return true
}

// Close releases the file.
func (f *File) Close() error {
	for _, c := range f.chunks {
		if c.ids != nil {
			c.ids.Close()
		}
	}
	if f.unmarkedIDs != nil {
		f.unmarkedIDs.Close()
	}
	if f.file != nil {
		return f.file.Close()
	}
	return f.unmap()
}

// A Lookup finds IDs by row. It belongs to one goroutine.
type Lookup struct {
	file    *File
	cursors []*idlist.Cursor // cursors by chunk
}

// Lookup returns a new lookup. The file must have IDs.
func (f *File) Lookup() *Lookup { return &Lookup{f, make([]*idlist.Cursor, len(f.chunks))} }

// ID returns the ID of the document with this row.
func (l *Lookup) ID(row uint64) (string, error) {
	if l.file.hasIDs {
		return l.file.chunks[0].textIDs[row], nil
	}
	for i := range l.file.chunks {
		list := l.file.chunks[i].ids
		if row >= list.Len() {
			row -= list.Len()
			continue
		}
		if l.cursors[i] == nil {
			l.cursors[i] = list.Cursor()
		}
		return l.cursors[i].ID(row)
	}
	panic("ndf: no such row")
}
