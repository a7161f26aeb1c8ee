package copies

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"example.org/ndd/engine/storage/idlist"
	"example.org/ndd/engine/storage/spill"
	"example.org/ndd/engine/storage/store"
)

// A Writer writes a signature file: the IDs and signatures of documents. [Writer.Commit] makes the file appear. It
// never changes. A Writer belongs to one goroutine. The sections are
//
//	names, names.ends   IDs (package idlist)
//	sets                uvarints for each document: the index of its method in methods, the share of its text that its own
//	                    signatures cover, in percent, the sizes of its three sets
//	hashes              the sets, each ascending, 8 bytes for a signature
//	manifest            recipe and number of documents, as JSON
type Writer struct {
	file      *store.Writer
	ids       *idlist.Writer
	head      fileHead
	sets      []byte
	hashes    spill.Column[uint64]
	signature Options
}

// fileHead is the JSON of the section "manifest".
type fileHead struct {
	Recipe    Recipe `json:"recipe"`
	Documents uint64 `json:"documents"`
}

// Create starts the signature file at path. If signatures exceed the Room of the options, they are kept in a temporary
// file until Commit.
func Create(path string, o Options, to store.Options) (*Writer, error) {
	o.complete()
	file, err := store.CreateWith(path, store.KindSignatures, 0, to)
	if err != nil {
		return nil, err
	}
	file.Section("names")
	return &Writer{file: file, ids: idlist.NewWriter(file), head: fileHead{Recipe: o.Recipe()}, signature: o,
		hashes: spill.NewColumn[uint64](o.Room.Disk, o.Room.Dir, "signatures", o.Room.Bytes)}, nil
}

// Add adds the next document. Compared is false if it has too few signatures to be compared. Commit returns an error of
// the disk if Add does not.
func (w *Writer) Add(id string, s Sets) (compared bool, err error) {
	w.sets = binary.AppendUvarint(binary.AppendUvarint(w.sets, uint64(order(s.Method))), uint64(s.Covered))
	for _, set := range [][]uint64{s.Own, s.Winnow, s.Shingles} {
		w.sets = binary.AppendUvarint(w.sets, uint64(len(set)))
		w.hashes.AppendAll(set)
	}
	w.head.Documents++
	c := w.signature.comparedSets(s)
	return c.Own != nil || c.Winnow != nil || c.Shingles != nil, w.ids.Append(id)
}

// Commit completes the file and gives it its name.
func (w *Writer) Commit() (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	ends, err := w.ids.Close()
	if err != nil {
		return err
	}
	if err := w.hashes.End(); err != nil {
		return err
	}
	store.WriteSection(w.file, "names.ends", store.Bytes64(ends)) // the Writer keeps errors until its Commit
	store.WriteSection(w.file, "sets", w.sets)
	store.WriteSection(w.file, "hashes", store.Bytes64(w.hashes.All))
	head, err := json.Marshal(&w.head)
	if err != nil {
		return err
	}
	store.WriteSection(w.file, "manifest", head)
	return w.file.Commit()
}

// Abort removes temporary files, and the file itself unless it was committed.
func (w *Writer) Abort() error {
	w.file.Abort()
	return w.hashes.Close()
}

// A File is an open signature file. It is safe for concurrent use.
type File struct {
	file   *store.File
	head   fileHead
	ids    *idlist.List
	sets   store.Section
	hashes []uint64
}

// Open opens and verifies the signature file at path. The error wraps [store.ErrCorrupt] if the file is damaged or this
// program does not make signatures by its recipe.
func Open(ctx context.Context, path string, threads int) (f *File, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	file, err := store.Open(path, store.KindSignatures)
	if err != nil {
		return nil, err
	}
	if err := file.Verify(ctx, max(threads, 1), nil); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return fileOf(file)
}

// fileOf opens the sections of a file. It closes the file if they are damaged.
func fileOf(file *store.File) (*File, error) {
	f := &File{file: file}
	if err := f.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *File) open() (err error) {
	section := func(name string) (s store.Section) {
		if err == nil {
			s, err = f.file.Section(name)
		}
		return s
	}
	manifest, names, ends, hashes := section("manifest"), section("names"), section("names.ends"), section("hashes")
	if f.sets = section("sets"); err != nil {
		return err
	}
	if err := manifest.JSON(&f.head); err != nil {
		return err
	}
	if _, err := f.head.Recipe.Options(); err != nil {
		return manifest.Corrupt(0, "%v", err)
	}
	if f.ids, err = idlist.Open(names, ends); err != nil {
		return err
	}
	if f.ids.Len() != f.head.Documents || len(hashes.Data)%8 > 0 {
		return manifest.Corrupt(0, "%d documents, %d IDs, %d bytes of signatures", f.head.Documents, f.ids.Len(), len(hashes.Data))
	}
	f.hashes = store.Uint64s(hashes.Data)
	return nil
}

// Path returns the path that was given to Open.
func (f *File) Path() string { return f.file.Path() }

// Recipe returns the recipe of the signatures.
func (f *File) Recipe() *Recipe { return &f.head.Recipe }

// Documents returns the number of documents.
func (f *File) Documents() uint64 { return f.head.Documents }

// All yields the sets of all documents, in order. They are valid until Close. An error wraps [store.ErrCorrupt].
func (f *File) All() iter.Seq2[Sets, error] {
	return func(yield func(Sets, error) bool) {
		data, hashes := f.sets.Data, f.hashes
		corrupt := func(why string) {
			yield(Sets{}, f.sets.Corrupt(uint64(len(f.sets.Data)-len(data)), "%s", why))
		}
		// Read the numbers of the document, and check them.
		for range f.head.Documents {
			var numbers [5]uint64
			for i := range numbers {
				v, n := binary.Uvarint(data)
				if n <= 0 {
					corrupt("a number is cut off")
					return
				}
				numbers[i], data = v, data[n:]
			}
			if numbers[0] >= uint64(len(methods)) {
				corrupt(fmt.Sprintf("method %d", numbers[0]))
				return
			}
			if numbers[1] > 100 {
				corrupt(fmt.Sprintf("a share of %d percent", numbers[1]))
				return
			}
			// Take its sets from the section of hashes.
			s := Sets{Method: methods[numbers[0]].method, Covered: uint8(numbers[1])}
			for i, to := range []*[]uint64{&s.Own, &s.Winnow, &s.Shingles} {
				n := numbers[i+2]
				if n > uint64(len(hashes)) || !ascending(hashes[:n]) {
					corrupt(fmt.Sprintf("a set of %d signatures, of %d left, or not in order", n, len(hashes)))
					return
				}
				*to, hashes = hashes[:n:n], hashes[n:]
			}
			if !yield(s, nil) {
				return
			}
		}
		// All bytes must belong to documents.
		if len(data) > 0 || len(hashes) > 0 {
			corrupt(fmt.Sprintf("%d bytes, %d signatures after the last document", len(data), len(hashes)))
		}
	}
}

func ascending(set []uint64) bool {
	for i := 1; i < len(set); i++ {
		if set[i-1] >= set[i] {
			return false
		}
	}
	return true
}

// Names returns a cursor of the documents' IDs. It belongs to one goroutine.
func (f *File) Names() *idlist.Cursor { return f.ids.Cursor() }

// Check reads all IDs and sets.
func (f *File) Check() (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	for _, err := range f.ids.All() {
		if err != nil {
			return err
		}
	}
	for _, err := range f.All() {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close closes the file. Its sets are no longer valid.
func (f *File) Close() error {
	if f.ids != nil {
		f.ids.Close()
	}
	return f.file.Close()
}
