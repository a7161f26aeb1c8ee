package live

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// manifestName is the name of the manifest, and of its only section.
const manifestName = "manifest"

// ManifestMax is the maximum number of bytes of a manifest, enough for some thousand segments.
const ManifestMax = 1 << 20

// Names of the other files of an index. They cannot name a file outside the folder.
var (
	segmentName   = regexp.MustCompile(`^[0-9]{8,12}\.segment$`)
	documentsName = regexp.MustCompile(`^[0-9]{8,12}\.documents$`)
	sketchesName  = regexp.MustCompile(`^[0-9]{8,12}\.sketches$`)
)

// A Manifest describes an index: the section "manifest" of the file of that name, as JSON. Each change of the files is
// a whole new manifest with the next generation, which replaces the previous one by a rename. So one file describes the
// index, and nothing has to be replayed. A manifest of a thousand segments has 250 KB, and one is written for each
// flush of a million documents.
type Manifest struct {
	K        int               `json:"k"`
	Recipe   *simhash.Recipe   `json:"recipe"` // null if made from raw fingerprints
	Segments []ManifestSegment `json:"segments"`
	Live     *ManifestLive     `json:"live,omitempty"` // set once the index was open for writing

	NoSketches bool `json:"no_sketches,omitempty"` // the index was made to keep none

	Generation uint64 `json:"-"` // generation of the file
}

// A ManifestSegment is one segment of an index.
type ManifestSegment struct {
	ManifestFile
	Documents uint64        `json:"documents"`                // rows
	DocsFile  *ManifestFile `json:"documents_file,omitempty"` // numbers, deletions and IDs of the documents
	Sketches  *ManifestFile `json:"sketches,omitempty"`
}

// A ManifestFile names a file in a manifest.
type ManifestFile struct {
	File  string `json:"file"`
	ID    string `json:"id"` // ID of the file: 32 hexadecimal digits
	Bytes uint64 `json:"bytes,omitempty"`
}

// A ManifestLive describes an index that was open for writing: its log, and the options of new segments.
type ManifestLive struct {
	Log      string         `json:"log"`                // identity of its log: 32 hexadecimal digits
	Key      string         `json:"key"`                // key of the hash of IDs: 32 hexadecimal digits
	FirstLog uint64         `json:"log_from"`           // log files below this number are not needed
	Last     uint64         `json:"log_last"`           // position of the last record in these files
	File     uint64         `json:"log_file,omitempty"` // a log file that exists; 0: none yet
	Held     uint64         `json:"log_held,omitempty"` // the log has records up to this one, at least
	Time     rows.Time      `json:"time,omitempty"`     // latest time at which it was open; 0 if nothing expires
	Next     uint64         `json:"next"`               // number of the first document that the log may have
	Files    uint64         `json:"files"`              // number of the next file
	Design   permute.Design `json:"design"`
	Layout   table.Layout   `json:"layout"`
	IDs      bool           `json:"ids"`

	Sketches bool `json:"sketches,omitempty"` // the index keeps sketches
}

// writeFile writes a file by write, and returns its entry for the manifest. After an error there is no new file.
func writeFile(path string, kind store.Kind, generation uint64, o store.Options,
	write func(*store.Writer) error) (file ManifestFile, err error) {
	w, err := store.CreateWith(path, kind, generation, o)
	if err != nil {
		return file, err
	}
	defer w.Abort()
	if err := write(w); err != nil {
		return file, err
	}
	if err := w.Commit(); err != nil { // the length is known afterwards
		return file, err
	}
	id := w.Identity()
	return ManifestFile{File: filepath.Base(path), ID: hex.EncodeToString(id.ID[:]), Bytes: w.Bytes()}, nil
}

// parseID parses 32 hexadecimal digits.
func parseID(text string) (id [16]byte, ok bool) {
	n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))]))
	return id, err == nil && n == len(id) && len(text) == 2*n
}

// missing returns the error for a file that is missing in folder dir. It wraps [store.ErrCorrupt].
func (n *ManifestFile) missing(dir string) error {
	return fmt.Errorf("%s: %w: the manifest names this file, of %s, and it is missing: copy it from where it is, or "+
		"build the index again", filepath.Join(dir, n.File), store.ErrCorrupt, humanize.IBytes(n.Bytes))
}

// open opens the file in folder dir by get, and reads it by parse. The error wraps [store.ErrCorrupt] if it is not the
// file that a manifest of that generation names. After an error it is closed.
func (n *ManifestFile) open(dir string, kind store.Kind, generation uint64, get getter,
	parse func(*store.File) error) (*store.File, error) {
	f, err := get(filepath.Join(dir, n.File), kind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, n.missing(dir)
	}
	if err != nil {
		return nil, err
	}
	id := f.Identity()
	if hex.EncodeToString(id.ID[:]) != n.ID || id.Generation > generation || n.Bytes > 0 && f.Bytes() != n.Bytes {
		const identityOffset = 16
		f.Close()
		return nil, &store.CorruptError{File: f.Path(), Section: "header", Block: -1, Offset: identityOffset,
			Reason: fmt.Sprintf("a sound %s, but not the one that the manifest names: copy that, or build the index again", kind)}
	}
	if err := parse(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A getter opens a file: it maps or loads it.
type getter func(path string, kind store.Kind) (*store.File, error)

// onDisk returns a getter that maps files of d.
func onDisk(d *disk.Disk) getter {
	return func(path string, kind store.Kind) (*store.File, error) { return store.OpenOn(d, path, kind) }
}

// files yields the files of the segments.
func (m *Manifest) files(yield func(*ManifestFile) bool) {
	for i := range m.Segments {
		g := &m.Segments[i]
		for _, file := range []*ManifestFile{&g.ManifestFile, g.DocsFile, g.Sketches} {
			if file != nil && !yield(file) {
				return
			}
		}
	}
}

// bytes returns the size of all segments without their sketches, which need no memory.
func (m *Manifest) bytes() (sum uint64) {
	for f := range m.files {
		if !sketchesName.MatchString(f.File) {
			sum += min(f.Bytes, 1<<62-sum)
		}
	}
	return sum
}

// Paths returns the paths of the manifest and the files of segments of the index in folder dir.
func (m *Manifest) Paths(dir string) []string {
	paths := []string{filepath.Join(dir, manifestName)}
	for f := range m.files {
		paths = append(paths, filepath.Join(dir, f.File))
	}
	return paths
}

// writeManifest replaces the manifest in folder dir. After an error either of the two may be in place.
func writeManifest(dir string, generation uint64, o store.Options, m *Manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	o.Private = m.Recipe != nil && m.Recipe.Private
	_, err = writeFile(filepath.Join(dir, manifestName), store.KindManifest, generation, o, func(w *store.Writer) error {
		store.WriteSection(w, manifestName, data) // Commit reports errors of these writes
		return nil
	})
	return err
}

// ReadManifest reads the manifest of the index in folder dir. If there is none, the error wraps [ErrNoIndex], or
// [store.ErrCorrupt] if the folder has other files of an index. A damaged manifest is also [store.ErrCorrupt].
func ReadManifest(dir string) (*Manifest, error) { return readManifest(nil, dir) }

func readManifest(d *disk.Disk, dir string) (*Manifest, error) {
	path, err := manifestPath(d, dir)
	if err != nil {
		return nil, err
	}
	f, err := store.OpenOn(d, path, store.KindManifest)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ParseManifest(f)
}

// ParseManifest verifies an open file and reads its manifest. The error wraps [store.ErrCorrupt].
func ParseManifest(f *store.File) (_ *Manifest, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
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
	if reason := m.wrong(); reason != "" {
		return nil, s.Corrupt(0, "%s", reason)
	}
	return m, nil
}

// wrong describes an error of a manifest. It returns "" if there is none.
func (m *Manifest) wrong() string {
	// Check the options.
	if m.K < 0 || m.K > permute.MaxK {
		return fmt.Sprintf("k = %d: must be 0 to %d", m.K, permute.MaxK)
	}
	if m.Recipe != nil {
		if err := m.Recipe.Validate(); err != nil {
			return err.Error()
		}
	}
	if reason := m.Live.wrong(m.K); reason != "" {
		return reason
	}
	if len(m.Segments) == 0 && m.Live == nil {
		return "no segments"
	}
	// Check the names and identities of the files, and the number of documents.
	seen, documents := make(map[string]bool, len(m.Segments)), uint64(0)
	for _, g := range m.Segments {
		for _, f := range []struct {
			file *ManifestFile
			name *regexp.Regexp
		}{{&g.ManifestFile, segmentName}, {g.DocsFile, documentsName}, {g.Sketches, sketchesName}} {
			if f.file == nil {
				continue
			}
			if _, ok := parseID(f.file.ID); !ok || !f.name.MatchString(f.file.File) || seen[f.file.File] {
				return fmt.Sprintf("file %q, identity %q", f.file.File, f.file.ID)
			}
			seen[f.file.File] = true
		}
		if g.DocsFile != nil && m.Live == nil {
			return fmt.Sprintf("file %q of an index that was never open for writing", g.DocsFile.File)
		}
		if documents += g.Documents; documents > rows.Max || g.Documents > rows.Max {
			return fmt.Sprintf("%d documents: at most %d", documents, uint64(rows.Max))
		}
	}
	return ""
}

// wrong describes an error for an index with that k, or returns "".
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
	_, log := parseID(l.Log)
	_, key := parseID(l.Key)
	if !log || !key || l.Next > rows.Max || l.Files == 0 || l.Files > 1<<32 || l.File != 0 && l.File < l.FirstLog ||
		l.Time > rows.TimeMax {
		return "a log, a key or a counter that cannot be"
	}
	return ""
}
