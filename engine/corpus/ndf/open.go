package ndf

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/idlist"
	"example.org/ndd/engine/storage/store"
)

// OpenOptions configure how a fingerprint file is opened. The zero value is for files on disk.
type OpenOptions struct {
	Raw bool // treat the file as an array of little-endian uint64, whatever its content is

	// Stream opens a path that is read rather than mapped: standard input, a pipe or an object. It returns nil for a
	// file on disk, and the name of the source for messages. A nil function means that all paths are files on disk.
	Stream func(path string) (in io.ReadCloser, name string, err error)
}

// Open opens an .ndf file, fingerprints as text or an array of little-endian uint64. The content
// decides which format it is. A name that ends in .ndf requires that format. If a file has another known format, the
// error names it. A stream is read into memory, which takes up to three times its size while it is read. Open does
// not verify the blocks of an .ndf file: see [File.Verify].
func Open(path string, o OpenOptions) (*File, error) {
	if o.Stream != nil {
		in, name, err := o.Stream(path)
		if err != nil {
			return nil, err
		}
		if in != nil {
			return read(in, name, o.Raw)
		}
	}
	if o.Raw {
		return openData(path, true)
	}
	kind, ours, err := store.Sniff(path)
	switch {
	case err != nil:
		return nil, err
	case !ours && filepath.Ext(path) != ".ndf":
		return openData(path, false)
	case kind == store.KindSegment || kind == store.KindManifest || kind == store.KindLog:
		return nil, fmt.Errorf("%s: a part of an index (%s) where a fingerprint file is needed", path, kind)
	}
	file, err := store.Open(path, store.KindFingerprints)
	if err != nil {
		return nil, err
	}
	return fromStore(file)
}

// openData maps a file that ndd did not write.
func openData(path string, raw bool) (*File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: a folder where a fingerprint file, .ndf or .bin, is needed", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, unmap, err := store.Map(file)
	if err != nil {
		return nil, err
	}
	return openForeign(path, data, raw, unmap)
}

// read reads a stream into memory.
func read(in io.ReadCloser, name string, raw bool) (*File, error) {
	stream, err := io.ReadAll(in)
	if err = cmp.Or(err, in.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data := memory.Cast[byte](make([]uint64, len(stream)/8+1))[:len(stream)] // aligned for fingerprints
	copy(data, stream)
	if !raw && (store.HasMagic(data) || filepath.Ext(name) == ".ndf") {
		file, err := store.OpenBytes(name, data, store.KindFingerprints)
		if err != nil {
			return nil, err
		}
		return fromStore(file)
	}
	return openForeign(name, data, raw, noUnmap)
}

func noUnmap() error { return nil }

// openForeign returns the file of data that ndd did not write. For raw data it ignores up to seven bytes at the end.
func openForeign(path string, data []byte, raw bool, unmap func() error) (f *File, err error) {
	switch {
	case raw:
		data = data[:len(data)/8*8]
	case IsText(data):
		defer unmap()
		return readText(path, data)
	default:
		if err = checkArray(path, data); err == nil {
			err = checkLength(path, len(data))
		}
	}
	if err != nil {
		unmap()
		return nil, err
	}
	return array(path, data, unmap), nil
}

// array returns the file for an array of numbers.
func array(path string, numbers []byte, unmap func() error) *File {
	f := &File{path: path, unmap: unmap, docs: uint64(len(numbers) / 8)}
	f.chunks = []chunk{{fingerprints: store.Uint64s(numbers)}}
	return f
}

// fromStore returns the fingerprint file in a container. It closes the container after an error.
func fromStore(file *store.File) (*File, error) {
	f := &File{path: file.Path(), file: file}
	if err := f.parse(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) parse() (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	s := f.file.Sections()
	// A file with places has their four sections at its end.
	var placed []store.Section
	if n := len(s) - placeSections; n >= 0 && s[n].Name == "files" &&
		s[n+1].Name == "files.ends" && s[n+2].Name == settingsSection && s[n+3].Name == placesSection {
		s, placed = s[:n], s[n:]
	}
	// Sketches and hashes are optional sections of each chunk. The first chunk shows whether all have them.
	perChunk, last := 4, 2
	if f.hasSketches, err = hasOptional(s, 1+perChunk, sketchesName, sketchesSection); f.hasSketches {
		perChunk++
	}
	if err == nil {
		if f.hasHashes, err = hasOptional(s, 1+perChunk, hashesName, hashesSection); f.hasHashes {
			perChunk, last = perChunk+1, 3
		}
	}
	if err != nil {
		return err
	}
	// The recipe is first, chunks follow, and the IDs of documents without a fingerprint are last.
	if last = len(s) - last; last < 1 || s[0].Name != "recipe" || (last-1)%perChunk != 0 {
		return f.file.Corrupt("%d sections, not those of a fingerprint file", len(s))
	}
	recipe, err := simhash.ParseRecipe(s[0].Data)
	if err != nil {
		return s[0].Corrupt(0, "%v", err)
	}
	f.recipe = &recipe
	// Each chunk has as many fingerprints and lengths as IDs.
	for i := 1; i < last; i += perChunk {
		if s[i].Name != "fingerprints" || s[i+1].Name != "text.bytes" || s[i+2].Name != "names" ||
			s[i+3].Name != "names.ends" {
			return s[i].Corrupt(0, "expected the sections of fingerprints, lengths and IDs")
		}
		n, err := idlist.Open(s[i+2], s[i+3])
		if err != nil {
			return err
		}
		c := chunk{fingerprints: store.Uint64s(s[i].Data), lengths: store.Uint32s(s[i+1].Data), ids: n}
		f.chunks = append(f.chunks, c)
		if uint64(len(s[i].Data)) != 8*n.Len() || uint64(len(s[i+1].Data)) != 4*n.Len() {
			return s[i].Corrupt(0, "%d bytes of fingerprints and %d of lengths for %d IDs", len(s[i].Data),
				len(s[i+1].Data), n.Len())
		}
		// The optional sections of a chunk must have a value for each document, too.
		current, next := &f.chunks[len(f.chunks)-1], i+4
		if f.hasSketches {
			current.sketches, err = optional[sketch.Sketch](s[next], sketchesSection, n.Len())
			next++
		}
		if f.hasHashes && err == nil {
			current.hashes, err = optional[Hash](s[next], hashesSection, n.Len())
		}
		if err != nil {
			return err
		}
		// Count the documents of the chunk and the bytes of their IDs.
		f.idBytes += uint64(len(s[i+2].Data) + len(s[i+3].Data))
		f.docs += n.Len()
	}
	// Read the documents without a fingerprint, and then the places.
	if s[last].Name != "unmarked" || s[last+1].Name != "unmarked.ends" {
		return s[last].Corrupt(0, "expected the IDs of unmarked documents")
	}
	if f.unmarkedIDs, err = idlist.Open(s[last], s[last+1]); err != nil {
		return err
	}
	if f.hasHashes {
		f.unmarkedHashes, err = optional[Hash](s[last+2], unmarkedSection, f.unmarkedIDs.Len())
	}
	if err != nil || placed == nil {
		return err
	}
	return f.parsePlaces(placed)
}

// hasOptional reports whether the section at a place is an optional one of a chunk. Another version of it is an error.
func hasOptional(s []store.Section, index int, name, section string) (bool, error) {
	if index >= len(s) || !strings.HasPrefix(s[index].Name, name) {
		return false, nil
	}
	if s[index].Name != section {
		return false, s[index].Corrupt(0, "%s of another version, want %q", strings.TrimSuffix(name, "."), section)
	}
	return true, nil
}

// optional returns the values of a section, one for each of some documents.
func optional[T any](s store.Section, name string, documents uint64) ([]T, error) {
	var size T
	if s.Name != name || uint64(len(s.Data)) != uint64(unsafe.Sizeof(size))*documents {
		return nil, s.Corrupt(0, "%d bytes, want %q for %d documents", len(s.Data), name, documents)
	}
	return memory.Cast[T](s.Data), nil
}
