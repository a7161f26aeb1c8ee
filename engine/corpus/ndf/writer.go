package ndf

import (
	"bytes"
	"math"
	"path/filepath"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/idlist"
	"example.org/ndd/engine/storage/store"
)

// A chunk is written when it reaches one of these limits: its number of documents (8 MiB of fingerprints) or the
// bytes of its compressed IDs.
const (
	chunkDocs    = 1 << 20
	chunkIDBytes = 16 << 20
)

// sketchesSection is the name of the section with the sketches of a chunk. It contains their version.
const (
	sketchesName    = "sketches."
	sketchesSection = sketchesName + "1"
)

// The names of the sections with the hashes of texts. The number changes with the key of the hashes.
const (
	hashesName      = "hashes."
	hashesSection   = hashesName + "1"
	unmarkedSection = "unmarked." + hashesSection
)

// A Writer writes a fingerprint file. Call [Writer.Commit] or [Writer.Abort] at the end. The file appears
// under its name only after Commit.
type Writer struct {
	file         *store.Writer // nil if array is set
	array        *disk.File    // array of fingerprints without other data; nil for .ndf
	leftOut      int           // documents without a fingerprint, which an array cannot hold
	ids          *idlist.Writer
	idData       bytes.Buffer
	fingerprints []uint64
	lengths      []uint32

	sketches     []sketch.Sketch
	keepSketches bool
	hashes       []Hash
	keepHashes   bool

	unmarked       *idlist.Writer
	unmarkedData   bytes.Buffer
	unmarkedHashes []Hash

	places *places // nil unless [Writer.KeepPlaces] was called
}

// Endings are the file name endings that a [Writer] supports.
var Endings = []string{".ndf", arrayEnding}

const arrayEnding = ".bin"

// IsBare reports whether a file with this name holds only fingerprints, without IDs, lengths and recipe.
func IsBare(path string) bool { return filepath.Ext(path) == arrayEnding }

// Create begins the file at path. A name that ends in .bin makes an array of integers, which holds only fingerprints.
// Any other name makes an .ndf file.
func Create(path string, recipe simhash.Recipe, o store.Options) (*Writer, error) {
	if IsBare(path) {
		array, err := o.Disk.Create(path)
		if err != nil {
			return nil, err
		}
		return &Writer{array: array}, nil
	}
	o.Private = recipe.Private
	file, err := store.CreateWith(path, store.KindFingerprints, 0, o)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file}
	w.ids = idlist.NewWriter(&w.idData)
	w.unmarked = idlist.NewWriter(&w.unmarkedData)
	store.WriteSection(file, "recipe", []byte(recipe.String())) // later calls return the error again, here and below
	return w, nil
}

// A Document is a document's entry in a fingerprint file.
type Document struct {
	ID          string
	Fingerprint simhash.Fingerprint
	TextBytes   int // length of the text, kept up to 2^32-1
	Place           // kept after [Writer.KeepPlaces]

	Sketch sketch.Sketch // kept after [Writer.KeepSketches]; zero for none
	Hash   Hash          // kept after [Writer.KeepHashes]; zero for none
}

// A Hash is the hash of a document's text. Package ingest makes it.
type Hash = [2]uint64

// KeepSketches makes the file keep the sketch of each document. It must be called before the first document is
// appended. It has no effect on an array.
func (w *Writer) KeepSketches() { w.keepSketches = w.array == nil }

// KeepHashes makes the file keep the hash of each document's text. It must be called before the first document is
// appended. It has no effect on an array.
func (w *Writer) KeepHashes() { w.keepHashes = w.array == nil }

// Append adds a document.
func (w *Writer) Append(d Document) error {
	if w.array == nil {
		if err := w.ids.Append(d.ID); err != nil {
			return err
		}
	}
	if err := w.places.append(d.Place, false); err != nil {
		return err
	}
	w.fingerprints = append(w.fingerprints, uint64(d.Fingerprint))
	w.lengths = append(w.lengths, uint32(min(uint64(d.TextBytes), math.MaxUint32)))
	if w.keepSketches {
		w.sketches = append(w.sketches, d.Sketch)
	}
	if w.keepHashes {
		w.hashes = append(w.hashes, d.Hash)
	}
	if len(w.lengths) == chunkDocs || w.idData.Len() >= chunkIDBytes {
		return w.flush()
	}
	return nil
}

// AppendUnmarked records the ID, the hash and the place of a document without a fingerprint. An array cannot hold it
// and only counts it.
func (w *Writer) AppendUnmarked(d Document) error {
	if w.array != nil {
		w.leftOut++
		return nil
	}
	if err := w.places.append(d.Place, true); err != nil {
		return err
	}
	if w.keepHashes {
		w.unmarkedHashes = append(w.unmarkedHashes, d.Hash)
	}
	return w.unmarked.Append(d.ID)
}

// LeftOut returns the number of documents that an array cannot hold because they have no fingerprint. It is 0 for
// .ndf.
func (w *Writer) LeftOut() int { return w.leftOut }

func (w *Writer) flush() error {
	if w.array != nil {
		_, err := w.array.Write(store.Bytes64(w.fingerprints))
		w.fingerprints, w.lengths = w.fingerprints[:0], w.lengths[:0]
		return err
	}
	store.WriteSection(w.file, "fingerprints", store.Bytes64(w.fingerprints))
	store.WriteSection(w.file, "text.bytes", store.Bytes32(w.lengths))
	err := writeIDs(w.file, "names", w.ids, &w.idData)
	if w.keepSketches && err == nil {
		err = store.WriteSection(w.file, sketchesSection, memory.Cast[byte](w.sketches))
	}
	if w.keepHashes && err == nil {
		err = store.WriteSection(w.file, hashesSection, memory.Cast[byte](w.hashes))
	}
	w.fingerprints, w.lengths, w.sketches, w.hashes = w.fingerprints[:0], w.lengths[:0], w.sketches[:0], w.hashes[:0]
	w.ids = idlist.NewWriter(&w.idData)
	return err
}

// writeIDs writes the sections of a list of IDs whose blocks are in a buffer.
func writeIDs(file *store.Writer, section string, list *idlist.Writer, blocks *bytes.Buffer) error {
	ends, err := list.Close()
	if err != nil {
		return err
	}
	store.WriteSection(file, section, blocks.Bytes())
	blocks.Reset()
	return store.WriteSection(file, section+".ends", store.Bytes64(ends))
}

// Commit writes the last chunk and publishes the file.
func (w *Writer) Commit() error {
	if err := w.flush(); err != nil {
		w.Abort()
		return err
	}
	if w.array != nil {
		return w.array.Commit()
	}
	err := writeIDs(w.file, "unmarked", w.unmarked, &w.unmarkedData)
	if err == nil && w.keepHashes {
		err = store.WriteSection(w.file, unmarkedSection, memory.Cast[byte](w.unmarkedHashes))
	}
	if err == nil && w.places != nil {
		err = w.places.write(w.file)
	}
	if err != nil {
		w.Abort()
		return err
	}
	return w.file.Commit()
}

// Abort removes the file unless it was committed.
func (w *Writer) Abort() {
	if w.array != nil {
		w.array.Abort()
		return
	}
	w.file.Abort()
}
