package ndf

import (
	"bytes"
	"encoding/json"
	"math"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/idlist"
	"ndd/engine/storage/store"
)

// A chunk is written when it has so many documents, 8 MiB of fingerprints, or so many bytes of compressed IDs.
const (
	chunkDocs    = 1 << 20
	chunkIDBytes = 16 << 20
)

// A Writer writes an .ndf file. Call [Writer.Commit] at the end, or
// [Writer.Abort]; until then nothing stands under the file's name.
type Writer struct {
	file    *store.Writer
	ids     *idlist.Writer
	idData  bytes.Buffer
	each    int // fingerprints of a document
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
	w := &Writer{file: file, each: recipe.PrintsEach()}
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

// A Document is what a fingerprint file holds of a document.
type Document struct {
	ID          string
	Fingerprint simhash.Fingerprint
	Second      simhash.Fingerprint // of a recipe that makes two
	TextBytes   int                 // length of the text, kept up to 2^32-1
}

// Append adds a document.
func (w *Writer) Append(d Document) error {
	if err := w.ids.Append(d.ID); err != nil {
		return err
	}
	w.prints = append(w.prints, uint64(d.Fingerprint))
	if w.each > 1 {
		w.prints = append(w.prints, uint64(d.Second))
	}
	w.lengths = append(w.lengths, uint32(min(uint64(d.TextBytes), math.MaxUint32)))
	if len(w.lengths) == chunkDocs || w.idData.Len() >= chunkIDBytes {
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
