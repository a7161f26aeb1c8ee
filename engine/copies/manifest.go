package copies

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"ndd/engine/storage/store"
)

// The names of an index's files. The manifest is not called as that of an index of fingerprints is, so that neither is taken
// for the other.
const (
	manifestName = "copies"
	lockName     = "lock"
)

var segmentName = regexp.MustCompile(`^[0-9]{8}\.postings$`)

// ManifestMax is the most bytes that a manifest has: some thousand segments.
const ManifestMax = 1 << 20

// A Manifest says what an index is: the section "manifest" of the file "copies", as JSON, and for each segment with deleted documents,
// in order, a section "deleted" that says which. To append, to delete or to merge is to write a segment, if there is anything
// new, and then a new manifest that replaces this one by a rename.
type Manifest struct {
	Recipe   Recipe            `json:"recipe"`
	Segments []ManifestSegment `json:"segments"`

	Generation uint64 `json:"-"` // the file's

	deleted []bitmap // by segment
}

// delete marks a document of a segment as deleted.
func (m *Manifest) delete(segment int, doc uint32) {
	if !m.deleted[segment].has(doc) {
		m.deleted[segment].set(doc)
		m.Segments[segment].Deleted++
	}
}

// A ManifestSegment is one file of postings.
type ManifestSegment struct {
	File      string `json:"file"`
	ID        string `json:"id"` // of the file: 32 hexadecimal digits
	Documents uint64 `json:"documents"`
	Deleted   uint64 `json:"deleted,omitempty"` // of these; the section "deleted" of the manifest's file has a bit for each document
}

// ErrNoIndex is wrapped where a folder is no index to find copies in, or does not exist. It wraps fs.ErrNotExist.
var ErrNoIndex error = noIndex{}

type noIndex struct{}

func (noIndex) Error() string { return "no index of copies" }
func (noIndex) Unwrap() error { return fs.ErrNotExist }

// A NoIndexError says what stands in the place of an index to find copies in. It wraps [ErrNoIndex].
type NoIndexError struct {
	Path         string
	Fingerprints bool // it is an index of fingerprints
	found        string
}

func (e *NoIndexError) Error() string { return fmt.Sprintf("%s: %v: %s", e.Path, ErrNoIndex, e.found) }
func (e *NoIndexError) Unwrap() error { return ErrNoIndex }

// noIndexAt returns the error for a path at which there is no manifest.
func noIndexAt(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &NoIndexError{dir, false, "nothing is there"}
	case err != nil:
		return err
	case !info.IsDir():
		return &NoIndexError{dir, false, "it is a file, and an index is a folder"}
	}
	if kind, ok, err := store.Sniff(filepath.Join(dir, "manifest")); err == nil && ok && kind == store.KindManifest {
		return &NoIndexError{dir, true, "it is one of fingerprints"}
	}
	return &NoIndexError{dir, false, "a folder without a file " + manifestName}
}

// IsIndex reports whether there is an index that can be searched for copies in folder dir.
func IsIndex(dir string) bool {
	kind, ok, err := store.Sniff(filepath.Join(dir, manifestName))
	return err == nil && ok && kind == store.KindCopies
}

// Paths returns the files of the index in folder dir, the manifest first.
func (m *Manifest) Paths(dir string) []string {
	all := []string{filepath.Join(dir, manifestName)}
	for _, s := range m.Segments {
		all = append(all, filepath.Join(dir, s.File))
	}
	return all
}

// ReadManifest reads the manifest of the index in folder dir. The error wraps [store.ErrCorrupt] where there is one that is
// damaged.
func ReadManifest(dir string) (_ *Manifest, err error) {
	defer store.CatchFault(&err)()
	f, err := store.Open(filepath.Join(dir, manifestName), store.KindCopies)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, noIndexAt(dir)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Verify(context.Background(), 1, nil); err != nil {
		return nil, err
	}
	s, err := f.Section("manifest")
	if err != nil {
		return nil, err
	}
	if len(s.Data) > ManifestMax {
		return nil, s.Corrupt(0, "%d bytes: a manifest has at most %d", len(s.Data), ManifestMax)
	}
	m := &Manifest{Generation: f.Identity().Generation}
	if err := s.JSON(m); err != nil {
		return nil, err
	}
	for _, x := range m.Segments {
		if id, err := hex.DecodeString(x.ID); !segmentName.MatchString(x.File) || err != nil || len(id) != 16 || x.Documents > 1<<32 {
			return nil, s.Corrupt(0, "segment %q, %s", x.File, x.ID)
		}
	}
	return m, m.readDeleted(f)
}

// readDeleted reads which documents are deleted.
func (m *Manifest) readDeleted(f *store.File) error {
	m.deleted = make([]bitmap, len(m.Segments))
	segment := 0
	for _, s := range f.Sections() {
		if s.Name != deletedSection {
			continue
		}
		for segment < len(m.Segments) && m.Segments[segment].Deleted == 0 {
			segment++
		}
		if segment == len(m.Segments) {
			return s.Corrupt(0, "deleted documents of no segment")
		}
		x := &m.Segments[segment]
		b := bitmap(slices.Clone(s.Data))
		if b.count() != x.Deleted || !b.fits(x.Documents) {
			return s.Corrupt(0, "%d deleted documents of %s, not %d", b.count(), x.File, x.Deleted)
		}
		m.deleted[segment] = b
		segment++
	}
	for i, x := range m.Segments {
		if x.Deleted > 0 && m.deleted[i] == nil {
			return f.Corrupt("%d deleted documents of %s, and it is not said which", x.Deleted, x.File)
		}
	}
	return nil
}

const deletedSection = "deleted"

// write makes the manifest that of the index in folder dir.
func (m *Manifest) write(dir string, o store.Options) error {
	w, err := store.CreateWith(filepath.Join(dir, manifestName), store.KindCopies, m.Generation, o)
	if err != nil {
		return err
	}
	defer w.Abort()
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	w.Section("manifest")
	w.Write(data)
	for i, b := range m.deleted {
		if m.Segments[i].Deleted > 0 {
			w.Section(deletedSection)
			w.Write(b)
		}
	}
	return w.Commit()
}
