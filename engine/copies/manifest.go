package copies

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/generations"
	"ndd/engine/storage/store"
)

// The names of an index's files. The manifest is not called as that of an index of fingerprints is,
// so that neither is taken for the other.
const manifestName = "copies"

var segmentName = regexp.MustCompile(`^[0-9]{8}\.postings$`)

// A Manifest describes an index: the section "manifest" of the file "copies", as JSON, and for each
// segment with deleted documents, in order, a section "deleted". To append, delete or merge is to
// write a segment, if there is anything new, and then to replace the manifest by a rename.
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
	generations.Entry
	Documents uint64 `json:"documents"`
	// of these; the section "deleted" of the manifest's file has a bit for each document
	Deleted uint64 `json:"deleted,omitempty"`
}

// ErrNoIndex is wrapped if a folder is no index of copies, or does not exist. It wraps
// fs.ErrNotExist.
var ErrNoIndex error = noIndex{}

type noIndex struct{}

func (noIndex) Error() string { return "no index of copies" }
func (noIndex) Unwrap() error { return fs.ErrNotExist }

// noIndexAt returns the error for a path without a manifest.
func noIndexAt(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w: nothing is there: 'ndd copies build -o INDEX' makes one of documents", dir, ErrNoIndex)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %w: it is a file, and an index is a folder", dir, ErrNoIndex)
	}
	if kind, ok, err := store.Sniff(filepath.Join(dir, "manifest")); err == nil && ok && kind == store.KindManifest {
		return fmt.Errorf("%s: %w: it is one of fingerprints, for 'ndd query'", dir, ErrNoIndex)
	}
	return fmt.Errorf("%s: %w: a folder without a file %s", dir, ErrNoIndex, manifestName)
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

// ReadManifest reads the manifest of the index in folder dir. The error wraps [store.ErrCorrupt] if
// it is damaged.
func ReadManifest(dir string) (*Manifest, error) { return readManifest(nil, dir) }

func readManifest(d *disk.Disk, dir string) (_ *Manifest, err error) {
	defer store.CatchFault(&err)()
	f, err := store.OpenOn(d, filepath.Join(dir, manifestName), store.KindCopies)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, noIndexAt(dir)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &Manifest{Generation: f.Identity().Generation}
	s, err := generations.Read(f, m)
	if err != nil {
		return nil, err
	}
	for _, x := range m.Segments {
		if _, ok := generations.ParseID(x.ID); !ok || !segmentName.MatchString(x.File) || x.Documents > 1<<32 {
			return nil, s.Corrupt(0, "segment %q, %s", x.File, x.ID)
		}
	}
	return m, m.readDeleted(f)
}

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
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return generations.Write(filepath.Join(dir, manifestName), store.KindCopies, m.Generation, o, data,
		func(w *store.Writer) {
			for i, b := range m.deleted {
				if m.Segments[i].Deleted > 0 {
					w.Section(deletedSection)
					w.Write(b)
				}
			}
		})
}
