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
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// ManifestMax is the most bytes that a manifest has: some thousand segments.
const ManifestMax = 1 << 20

const (
	manifestName = "manifest"
	documentsMax = 1 << 56 // of all segments
)

// Names of an index's files: nothing that leads out of the folder.
var (
	segmentName   = regexp.MustCompile(`^[0-9]{8,12}\.segment$`)
	documentsName = regexp.MustCompile(`^[0-9]{8,12}\.documents$`)
)

// A Manifest says what an index is: the section "manifest" of the file of that name, as JSON. Each
// change of the index's files is a whole new manifest, of the next generation, which replaces the
// one before by a rename: an index is what one file says, which is there or is not, and nothing has
// to be replayed to know it. A manifest of a thousand segments is 250 KB, and one is written for
// each flush of a million documents.
type Manifest struct {
	K        int               `json:"k"`
	Recipe   *simhash.Recipe   `json:"recipe"` // null when made from raw fingerprints
	Segments []ManifestSegment `json:"segments"`
	Choice   *Choice           `json:"choice,omitempty"` // of the tables, where one was made
	Live     *ManifestLive     `json:"live,omitempty"`   // of an index that was written to

	Generation uint64 `json:"-"` // the file's
}

// A ManifestSegment is one segment of an index.
type ManifestSegment struct {
	ManifestFile
	Documents uint64        `json:"documents"`        // rows
	Beside    *ManifestFile `json:"beside,omitempty"` // numbers, deletions and IDs of the documents
}

// A ManifestFile is a file of an index.
type ManifestFile struct {
	File  string `json:"file"`
	ID    string `json:"id"` // of the file: 32 hexadecimal digits
	Bytes uint64 `json:"bytes"`
}

// A ManifestLive is what an index has that is written to: where its log begins, and what it makes
// segments with.
type ManifestLive struct {
	Log    string         `json:"log"`      // what its log files belong to: 32 hexadecimal digits
	Key    string         `json:"key"`      // of the hash of IDs, likewise
	From   uint64         `json:"log_from"` // log files below this number are not needed
	Last   uint64         `json:"log_last"` // the last record in those
	Next   uint64         `json:"next"`     // number of the first document that the log may have
	Files  uint64         `json:"files"`    // number of the next file
	Design permute.Design `json:"design"`
	Layout table.Layout   `json:"layout"`
	IDs    bool           `json:"ids"`

	Lengths bool `json:"lengths,omitempty"` // of texts are kept
}

// bytes returns the size of all segments.
func (m *Manifest) bytes() (sum uint64) {
	for _, g := range m.Segments {
		sum += min(g.Bytes, 1<<62-sum)
		if g.Beside != nil {
			sum += min(g.Beside.Bytes, 1<<62-sum)
		}
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

// missing returns the error that a file of the index is not at path.
func (g *ManifestFile) missing(path string) error {
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
	if why := m.Live.wrong(m.K); why != "" {
		return why
	}
	if len(m.Segments) == 0 && m.Live == nil {
		return "no segments"
	}
	seen, documents := make(map[string]bool, len(m.Segments)), uint64(0)
	for _, g := range m.Segments {
		if !segmentName.MatchString(g.File) || seen[g.File] {
			return fmt.Sprintf("segment file name %q", g.File)
		}
		seen[g.File] = true
		if _, ok := identity(g.ID); !ok {
			return fmt.Sprintf("segment identity %q", g.ID)
		}
		if b := g.Beside; b != nil {
			if _, ok := identity(b.ID); !ok || !documentsName.MatchString(b.File) || seen[b.File] || m.Live == nil {
				return fmt.Sprintf("file %q, identity %q, beside %s", b.File, b.ID, g.File)
			}
			seen[b.File] = true
		}
		if documents += g.Documents; documents > documentsMax || g.Documents > documentsMax {
			return fmt.Sprintf("%d documents: at most %d", documents, uint64(documentsMax))
		}
	}
	return ""
}

// wrong returns what cannot be right for an index of that k.
func (l *ManifestLive) wrong(k int) string {
	if l == nil {
		return ""
	}
	if err := l.Design.Validate(); err != nil || l.Design.K != k {
		return fmt.Sprintf("a design for k = %d: %v", l.Design.K, err)
	}
	if l.Layout != table.LayoutPlanar && l.Layout != table.LayoutHuffman {
		return fmt.Sprintf("unknown layout %q", l.Layout)
	}
	_, log := identity(l.Log)
	_, key := identity(l.Key)
	if !log || !key || l.Next > documentsMax || l.Files == 0 || l.Files > 1<<32 {
		return "a log, a key or a counter that cannot be"
	}
	return ""
}

// identity reads 32 hexadecimal digits.
func identity(text string) (id [16]byte, ok bool) {
	n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))]))
	return id, err == nil && n == len(id) && len(text) == 2*n
}
