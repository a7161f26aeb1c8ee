package ndf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/idlist"
	"ndd/engine/storage/store"
)

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

// Read returns the fingerprint file that comes from a pipe. All of it is read into
// memory, up to three times its size while that goes on. name is for messages, and says what the file is as for [Open].
func Read(r io.Reader, name string) (*File, error) {
	words, n, err := readWords(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data := store.Bytes64(words)[:n]
	if store.IsOurs(data) || filepath.Ext(name) == ".ndf" {
		file, err := store.OpenBytes(name, data, store.KindFingerprints)
		if err != nil {
			return nil, err
		}
		return of(file)
	}
	return raw(name, data, func() error { return nil })
}

// readWords returns all of r, n bytes, in words, since fingerprints must be aligned.
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

// raw returns the file of an array of uint64, or of fingerprints as text.
func raw(path string, data []byte, unmap func() error) (*File, error) {
	switch {
	case IsText(data) && (filepath.Ext(path) != ".bin" || isText(data)):
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

// array returns the file of numbers as they lie in memory.
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

// of returns the fingerprint file that a container holds; it closes the container on an error.
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
		if uint64(len(s[i].Data)) != 8*uint64(recipe.PrintsEach())*n.Len() || uint64(len(s[i+1].Data)) != 4*n.Len() {
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
