package live

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

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// ManifestMax is the most bytes that a manifest has: some thousand segments.
const ManifestMax = 1 << 20

const (
	manifestName = "manifest"
	documentsMax = 1 << 56 // of all segments
)

// segmentName is what a segment's file is called: nothing that leads out of the folder.
var segmentName = regexp.MustCompile(`^[0-9]{8,12}\.segment$`)

// A Manifest says what an index is: the section "manifest" of the file of that name, as JSON.
type Manifest struct {
	K        int               `json:"k"`
	Recipe   *simhash.Recipe   `json:"recipe"` // null when made from raw fingerprints
	Segments []ManifestSegment `json:"segments"`
	Choice   *Choice           `json:"choice,omitempty"` // of the tables, where one was made

	Generation uint64 `json:"-"` // the file's
}

// A ManifestSegment is one segment of an index.
type ManifestSegment struct {
	File      string `json:"file"`
	ID        string `json:"id"` // of the file: 32 hexadecimal digits
	Bytes     uint64 `json:"bytes"`
	Documents uint64 `json:"documents"`
}

// bytes returns the size of all segments.
func (m *Manifest) bytes() (sum uint64) {
	for _, g := range m.Segments {
		sum += min(g.Bytes, 1<<62-sum)
	}
	return sum
}

// SegmentPaths returns the paths of the segments' files of the index in folder dir, whose manifest m
// is. If one is missing, the error names it and wraps [store.ErrCorrupt].
func (m *Manifest) SegmentPaths(dir string) (paths []string, err error) {
	for _, g := range m.Segments {
		path := filepath.Join(dir, g.File)
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, g.missing(path)
		case err != nil:
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// missing returns the error that the segment's file is not at path.
func (g *ManifestSegment) missing(path string) error {
	return fmt.Errorf("%s: %w: the manifest names this file, of %s, and it is missing: copy it from where it is, or build the index again",
		path, store.ErrCorrupt, humanize.IBytes(g.Bytes))
}

func writeManifest(dir string, generation uint64, o store.Options, m *Manifest) error {
	w, err := store.CreateWith(filepath.Join(dir, manifestName), store.KindManifest, generation, o)
	if err != nil {
		return err
	}
	defer w.Abort()
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	w.Section(manifestName)
	w.Write(data)
	return w.Commit()
}

// ReadManifest reads the manifest of the index in folder dir. The errors are those of
// [ManifestPath], or wrap [store.ErrCorrupt].
func ReadManifest(dir string) (*Manifest, error) {
	path, err := ManifestPath(dir)
	if err != nil {
		return nil, err
	}
	f, err := store.Open(path, store.KindManifest)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ParseManifest(f)
}

// ParseManifest reads the manifest in an open file.
func ParseManifest(f *store.File) (_ *Manifest, err error) {
	defer store.CatchFault(&err)()
	if err := f.Verify(context.Background(), 1, nil); err != nil {
		return nil, err
	}
	s, err := f.Section(manifestName)
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
	if why := m.wrong(); why != "" {
		return nil, s.Corrupt(0, "%s", why)
	}
	return m, nil
}

// wrong returns what a manifest cannot be right about, nothing when it may be.
func (m *Manifest) wrong() string {
	if m.K < 0 || m.K > permute.MaxK {
		return fmt.Sprintf("k = %d: must be 0 to %d", m.K, permute.MaxK)
	}
	if m.Recipe != nil {
		if err := m.Recipe.Validate(); err != nil {
			return err.Error()
		}
	}
	if len(m.Segments) == 0 {
		return "no segments"
	}
	seen, documents := make(map[string]bool, len(m.Segments)), uint64(0)
	for _, g := range m.Segments {
		if !segmentName.MatchString(g.File) || seen[g.File] {
			return fmt.Sprintf("segment file name %q", g.File)
		}
		seen[g.File] = true
		if id, err := hex.DecodeString(g.ID); err != nil || len(id) != 16 {
			return fmt.Sprintf("segment identity %q", g.ID)
		}
		if documents += g.Documents; documents > documentsMax || g.Documents > documentsMax {
			return fmt.Sprintf("%d documents: at most %d", documents, uint64(documentsMax))
		}
	}
	return ""
}
