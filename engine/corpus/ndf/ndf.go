// Package ndf reads and writes fingerprint files: what `ndd fingerprint -o`
// writes (.ndf), raw arrays of little-endian uint64 (.bin), NumPy's arrays of
// them (.npy), and what `ndd fingerprint` prints: hexadecimal digits, a
// fingerprint a line.
//
// An .ndf file is a checksummed file of package store with the sections
//
//	recipe         how texts became fingerprints, JSON      once, first
//	fingerprints   uint64 each                              \
//	text.bytes     length of the text, uint32 each           | once per 2^20
//	names          package idlist's blocks of IDs            | documents
//	names.ends     package idlist's ends                    /
//	unmarked       IDs of the documents with too few        \
//	unmarked.ends  features for a fingerprint               /  once, last
//
// so that it is written as documents arrive, with memory for 2^20 of them.
// The row of a document counts through all chunks from 0.
package ndf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/idlist"
	"ndd/engine/storage/store"
)

// chunkDocs is how many documents make a chunk: 8 MiB of fingerprints.
const chunkDocs = 1 << 20

// A Writer writes an .ndf file. Call [Writer.Commit] at the end, or
// [Writer.Abort]; until then nothing stands under the file's name.
type Writer struct {
	file    *store.Writer
	ids     *idlist.Writer
	idData  bytes.Buffer
	prints  []uint64
	lengths []uint32

	unmarked     *idlist.Writer
	unmarkedData bytes.Buffer
}

// Create begins the file at path.
func Create(path string, recipe simhash.Recipe, o store.Options) (*Writer, error) {
	file, err := store.CreateWith(path, store.KindFingerprints, 0, o)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file}
	w.ids = idlist.NewWriter(&w.idData)
	w.unmarked = idlist.NewWriter(&w.unmarkedData)
	data, err := json.Marshal(recipe)
	if err != nil {
		file.Abort()
		return nil, err
	}
	file.Section("recipe")
	file.Write(data)
	return w, nil
}

// A Document is what the file holds of one.
type Document struct {
	ID          string
	Fingerprint simhash.Fingerprint
	TextBytes   int // length of the text, kept up to 2^32-1
}

// Append adds a document.
func (w *Writer) Append(d Document) error {
	if err := w.ids.Append(d.ID); err != nil {
		return err
	}
	w.prints = append(w.prints, uint64(d.Fingerprint))
	w.lengths = append(w.lengths, uint32(min(uint64(d.TextBytes), math.MaxUint32)))
	if len(w.prints) == chunkDocs {
		return w.flush()
	}
	return nil
}

// AppendUnmarked notes a document that got no fingerprint.
func (w *Writer) AppendUnmarked(id string) error { return w.unmarked.Append(id) }

func (w *Writer) flush() error {
	ends, err := w.ids.Close()
	if err != nil {
		return err
	}
	w.file.Section("fingerprints")
	w.file.Write(store.Bytes64(w.prints))
	w.file.Section("text.bytes")
	w.file.Write(store.Bytes32(w.lengths))
	err = writeIDs(w.file, "names", &w.idData, ends)
	w.prints, w.lengths = w.prints[:0], w.lengths[:0]
	w.ids = idlist.NewWriter(&w.idData)
	return err
}

func writeIDs(file *store.Writer, section string, blocks *bytes.Buffer, ends []uint64) error {
	file.Section(section)
	file.Write(blocks.Bytes())
	blocks.Reset()
	file.Section(section + ".ends")
	_, err := file.Write(store.Bytes64(ends))
	return err
}

// Commit writes what is left and publishes the file.
func (w *Writer) Commit() error {
	if err := w.flush(); err != nil {
		w.Abort()
		return err
	}
	ends, err := w.unmarked.Close()
	if err == nil {
		err = writeIDs(w.file, "unmarked", &w.unmarkedData, ends)
	}
	if err != nil {
		w.Abort()
		return err
	}
	return w.file.Commit()
}

// Abort removes what was written, unless it was committed.
func (w *Writer) Abort() { w.file.Abort() }

// A File is an open fingerprint file of either format. It may be read from
// many goroutines.
type File struct {
	path   string
	recipe *simhash.Recipe // nil for raw files
	chunks []chunk
	docs   uint64
	file   *store.File // nil for raw files
	raw    []byte
	unmap  func() error
	noted  *idlist.List

	hasIDs   bool     // of fingerprints as text
	unmarked []string // likewise
}

type chunk struct {
	fingerprints []uint64
	lengths      []uint32     // nil for raw files
	ids          *idlist.List // nil for raw files
	listed       []string     // the IDs of fingerprints as text; else nil
}

// Open opens an .ndf file, a NumPy array or fingerprints as text, known by their
// content, or else takes the file as a raw array of little-endian uint64, whose
// size must be a multiple of 8, unless its name ends in .ndf or its first bytes
// are those of another format. The blocks of an .ndf file are not verified: see [File.Store].
func Open(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: a folder where a fingerprint file, .ndf or .bin, is needed", path)
	}
	kind, ok, err := store.Sniff(path)
	if err != nil {
		return nil, err
	}
	if !ok && filepath.Ext(path) != ".ndf" {
		return openRaw(path)
	}
	if kind == store.KindSegment || kind == store.KindManifest {
		return nil, fmt.Errorf("%s: a part of an index (%s) where a fingerprint file is needed", path, kind)
	}
	return openSections(path)
}

// Read is [Open] for what comes from a pipe: all of it is read into memory, up to
// twice its size while that goes on. name is for messages.
func Read(r io.Reader, name string) (*File, error) {
	words, n, err := readWords(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data := store.Bytes64(words)[:n]
	if store.IsOurs(data) {
		file, err := store.OpenBytes(name, data, store.KindFingerprints)
		if err != nil {
			return nil, err
		}
		return of(file)
	}
	return raw(name, data, func() error { return nil })
}

// readWords is all of r, n bytes, in words, since fingerprints must be aligned.
func readWords(r io.Reader) (words []uint64, n int, err error) {
	const firstWords = 1 << 17
	words = make([]uint64, firstWords)
	for {
		k, err := io.ReadFull(r, store.Bytes64(words)[n:])
		n += k
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return words, n, nil
		case err != nil:
			return nil, 0, err
		}
		words = append(words, make([]uint64, len(words))...)
	}
}

func openRaw(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, unmap, err := store.Map(file)
	if err != nil {
		return nil, err
	}
	return raw(path, data, unmap)
}

// raw is the file of an array of uint64.
func raw(path string, data []byte, unmap func() error) (*File, error) {
	switch {
	case isText(data) && isPrintText(data) || filepath.Ext(path) != ".bin" && isPrintText(data):
		defer unmap()
		return readText(path, data)
	case isNpy(data):
		numbers, err := npyNumbers(path, data)
		if err != nil {
			unmap()
			return nil, err
		}
		return array(path, numbers, unmap), nil
	}
	if err := checkRaw(path, data); err != nil {
		unmap()
		return nil, err
	}
	return array(path, data, unmap), nil
}

// array is the file of numbers as they lie in memory.
func array(path string, numbers []byte, unmap func() error) *File {
	f := &File{path: path, raw: numbers, unmap: unmap, docs: uint64(len(numbers) / 8)}
	f.chunks = []chunk{{fingerprints: store.Uint64s(numbers)}}
	return f
}

func openSections(path string) (*File, error) {
	file, err := store.Open(path, store.KindFingerprints)
	if err != nil {
		return nil, err
	}
	return of(file)
}

// of is the fingerprint file that a container holds; it closes the container on an error.
func of(file *store.File) (*File, error) {
	f := &File{path: file.Path(), file: file}
	if err := f.parse(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) parse() (err error) {
	defer store.CatchFault(&err)()
	s := f.file.Sections()
	const perChunk = 4
	if len(s) < 3 || s[0].Name != "recipe" || (len(s)-3)%perChunk != 0 {
		return f.file.Corrupt("%d sections, not those of a fingerprint file", len(s))
	}
	recipe, err := simhash.ParseRecipe(s[0].Data)
	if err != nil {
		return s[0].Corrupt(0, "%v", err)
	}
	f.recipe = &recipe
	last := len(s) - 2
	for i := 1; i < last; i += perChunk {
		if s[i].Name != "fingerprints" || s[i+1].Name != "text.bytes" || s[i+2].Name != "names" || s[i+3].Name != "names.ends" {
			return s[i].Corrupt(0, "where fingerprints, lengths and IDs are due")
		}
		n, err := idlist.Open(s[i+2], s[i+3])
		if err != nil {
			return err
		}
		c := chunk{fingerprints: store.Uint64s(s[i].Data), lengths: store.Uint32s(s[i+1].Data), ids: n}
		f.chunks = append(f.chunks, c)
		if uint64(len(s[i].Data)) != 8*n.Len() || uint64(len(s[i+1].Data)) != 4*n.Len() {
			return s[i].Corrupt(0, "%d bytes of fingerprints and %d of lengths for %d IDs", len(s[i].Data), len(s[i+1].Data), n.Len())
		}
		f.docs += n.Len()
	}
	if s[last].Name != "unmarked" || s[last+1].Name != "unmarked.ends" {
		return s[last].Corrupt(0, "where the IDs of unmarked documents are due")
	}
	f.noted, err = idlist.Open(s[last], s[last+1])
	return err
}

// Path is where the file was opened.
func (f *File) Path() string { return f.path }

// Recipe is how the fingerprints were made, nil for a raw file.
func (f *File) Recipe() *simhash.Recipe { return f.recipe }

// Len is the number of documents.
func (f *File) Len() uint64 { return f.docs }

// HasIDs reports whether documents have IDs beside their rows.
func (f *File) HasIDs() bool { return f.file != nil || f.hasIDs }

// IDBytes returns how many bytes the documents' IDs take in the file, about.
func (f *File) IDBytes() (sum uint64) {
	if f.file != nil {
		return f.file.Bytes() - min(8*f.docs, f.file.Bytes())
	}
	for i := range f.chunks {
		for _, id := range f.chunks[i].listed {
			sum += uint64(len(id))
		}
	}
	return sum
}

// Store is the checksummed file below, nil for a raw file, which has no
// checksums.
func (f *File) Store() *store.File { return f.file }

// Chunks yields the fingerprints in order of row, a chunk at a time. They
// must not be written, nor used after Close.
func (f *File) Chunks(yield func([]uint64) bool) {
	for i := range f.chunks {
		if !yield(f.chunks[i].fingerprints) {
			return
		}
	}
}

// Fingerprints are all of the file's, in order of row: mapped where it is one
// chunk, copied together otherwise.
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

// TextBytes yields the lengths of the documents' texts in order of row, a
// chunk at a time; nothing for a raw file.
func (f *File) TextBytes(yield func([]uint32) bool) {
	for i := range f.chunks {
		if f.chunks[i].lengths != nil && !yield(f.chunks[i].lengths) {
			return
		}
	}
}

// IDs yields the documents' IDs in order of row; nothing for a raw file.
func (f *File) IDs(yield func(string, error) bool) {
	for i := range f.chunks {
		for _, id := range f.chunks[i].listed {
			if !yield(id, nil) {
				return
			}
		}
		if !yieldIDs(f.chunks[i].ids, yield) {
			return
		}
	}
}

// Unmarked yields the IDs of documents that got no fingerprint.
func (f *File) Unmarked(yield func(string, error) bool) {
	for _, id := range f.unmarked {
		if !yield(id, nil) {
			return
		}
	}
	yieldIDs(f.noted, yield)
}

func yieldIDs(n *idlist.List, yield func(string, error) bool) bool {
	if n == nil {
		return true
	}
	cursor := n.Cursor()
	for i := range n.Len() {
		if s, err := cursor.ID(i); !yield(s, err) || err != nil {
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
	if f.noted != nil {
		f.noted.Close()
	}
	if f.file != nil {
		return f.file.Close()
	}
	return f.unmap()
}

// A Lookup finds IDs by row. It belongs to one goroutine.
type Lookup struct {
	file    *File
	cursors []*idlist.Cursor // by chunk
}

// Lookup returns a new lookup. The file must have IDs.
func (f *File) Lookup() *Lookup { return &Lookup{f, make([]*idlist.Cursor, len(f.chunks))} }

// ID returns the ID of the document of a row.
func (l *Lookup) ID(row uint64) (string, error) {
	if l.file.hasIDs {
		return l.file.chunks[0].listed[row], nil
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
