package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/generations"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/engine/storage/wal"
	"example.org/ndd/permute"
)

// A folder manages the files of an index: on disk if the index is open for writing, otherwise in memory and without a
// manifest. Files never change: a segment is written under a new number, and a new manifest names it. A file that no
// manifest names is removed when the last reader has released it.
type folder struct {
	dir   string // empty in memory
	disk  *disk.Disk
	lock  *disk.Lock
	clock *rows.Clock

	mu       sync.Mutex // guards the next manifest; taken before writer.mu
	manifest *Manifest  // the current one
	files    uint64     // number of the next file; larger than the manifest's after a failed write
}

// inMemory returns a folder in memory.
func inMemory() *folder {
	return &folder{disk: disk.InMemory(), manifest: &Manifest{Live: &ManifestLive{}}}
}

// durable reports whether the files are on the disk.
func (f *folder) durable() bool { return !f.disk.IsInMemory() }

func (f *folder) options() store.Options { return store.Options{Disk: f.disk} }

// current returns the current manifest.
func (f *folder) current() *Manifest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.manifest
}

// publish writes the next manifest: the current one, changed by edit. The caller holds mu. After an error it is unknown
// which of the two is on disk, so the files of both stay until the index is opened again.
func (f *folder) publish(edit func(*Manifest)) error {
	if !f.durable() {
		return nil
	}
	next := *f.manifest
	live := *f.manifest.Live
	next.Live, next.Segments = &live, slices.Clone(f.manifest.Segments)
	edit(&next)
	f.manifest.Generation++ // even after an error: no two manifests have the same generation
	next.Generation = f.manifest.Generation
	live.Files = f.files
	if now := f.clock.Now(); now != 0 {
		live.Time = now
	}
	if err := writeManifest(f.dir, next.Generation, f.options(), &next); err != nil {
		return err
	}
	f.manifest = &next
	return nil
}

// owns makes the last release of a segment remove its files, if the manifest does not name them any more.
func (f *folder) owns(s *version.Segment) {
	s.Owned = true
	if !f.durable() { // files in memory have no names
		s.Bytes, s.File = s.FileBytes(), nil
		return
	}
	free := s.Free
	paths := []string{s.File.Path()}
	if s.Beside != nil {
		paths = append(paths, s.Beside.Path())
	}
	if s.SketchFile != nil {
		paths = append(paths, s.SketchFile.Path())
	}
	s.Free = func() error {
		err := free()
		if s.Dropped {
			for _, p := range paths {
				f.disk.Remove(p) // after an error, the next opening removes it
			}
		}
		return err
	}
}

// Names of the files of an index. They cannot name a file outside the folder.
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
	Choice   *Choice           `json:"choice,omitempty"` // reason for the tables
	Live     *ManifestLive     `json:"live,omitempty"`   // set once the index was open for writing

	NoSketches bool `json:"no_sketches,omitempty"` // the index was made to keep none

	Generation uint64 `json:"-"` // generation of the file
}

// A ManifestSegment is one segment of an index.
type ManifestSegment struct {
	ManifestFile
	Documents uint64        `json:"documents"`        // rows
	Beside    *ManifestFile `json:"beside,omitempty"` // numbers, deletions and IDs of the documents
	Sketches  *ManifestFile `json:"sketches,omitempty"`
}

// A ManifestFile is a file of an index.
type ManifestFile = generations.Entry

// A ManifestLive describes an index that was open for writing: its log, and the options of new segments.
type ManifestLive struct {
	Log    string         `json:"log"`                // identity of its log: 32 hexadecimal digits
	Key    string         `json:"key"`                // key of the hash of IDs: 32 hexadecimal digits
	From   uint64         `json:"log_from"`           // log files below this number are not needed
	Last   uint64         `json:"log_last"`           // the last record in those
	File   uint64         `json:"log_file,omitempty"` // a log file that exists; 0: none yet
	Held   uint64         `json:"log_held,omitempty"` // the log has records up to this one, at least
	Time   rows.Time      `json:"time,omitempty"`     // latest time at which it was open; 0 if nothing expires
	Next   uint64         `json:"next"`               // number of the first document that the log may have
	Files  uint64         `json:"files"`              // number of the next file
	Design permute.Design `json:"design"`
	Layout table.Layout   `json:"layout"`
	IDs    bool           `json:"ids"`

	Sketches bool `json:"sketches,omitempty"` // the index keeps sketches
}

// files yields the files of the segments.
func (m *Manifest) files(yield func(*ManifestFile) bool) {
	for i := range m.Segments {
		g := &m.Segments[i]
		for _, file := range []*ManifestFile{&g.ManifestFile, g.Beside, g.Sketches} {
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

// Paths returns the paths of all files of the index in folder dir: the manifest, the files of segments, and the log.
func (m *Manifest) Paths(dir string) ([]string, error) {
	paths := []string{filepath.Join(dir, manifestName)}
	for f := range m.files {
		paths = append(paths, filepath.Join(dir, f.File))
	}
	if m.Live == nil {
		return paths, nil
	}
	logs, err := wal.Paths(nil, dir, wal.Mark{File: m.Live.From})
	return append(paths, logs...), err
}

func writeManifest(dir string, number uint64, o store.Options, m *Manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	o.Private = m.Recipe != nil && m.Recipe.Private
	return generations.Write(filepath.Join(dir, manifestName), store.KindManifest, number, o, data, nil)
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

// ParseManifest reads the manifest in an open file.
func ParseManifest(f *store.File) (*Manifest, error) {
	m := &Manifest{Generation: f.Identity().Generation}
	s, err := generations.Read(f, m)
	if err != nil {
		return nil, err
	}
	if why := m.wrong(); why != "" {
		return nil, s.Corrupt(0, "%s", why)
	}
	return m, nil
}

// wrong describes an error of a manifest. It returns "" if there is none.
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
		if _, ok := generations.ParseID(g.ID); !ok {
			return fmt.Sprintf("segment identity %q", g.ID)
		}
		if b := g.Beside; b != nil {
			if _, ok := generations.ParseID(b.ID); !ok || !documentsName.MatchString(b.File) || seen[b.File] || m.Live == nil {
				return fmt.Sprintf("file %q, identity %q, beside %s", b.File, b.ID, g.File)
			}
			seen[b.File] = true
		}
		if b := g.Sketches; b != nil {
			if _, ok := generations.ParseID(b.ID); !ok || !sketchesName.MatchString(b.File) || seen[b.File] {
				return fmt.Sprintf("file %q, identity %q, of the sketches of %s", b.File, b.ID, g.File)
			}
			seen[b.File] = true
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
	_, log := generations.ParseID(l.Log)
	_, key := generations.ParseID(l.Key)
	if !log || !key || l.Next > rows.Max || l.Files == 0 || l.Files > 1<<32 || l.File != 0 && l.File < l.From ||
		l.Time > rows.TimeMax {
		return "a log, a key or a counter that cannot be"
	}
	return ""
}

// A Choice is the reason for the tables of an index, stored in the manifest.
type Choice struct {
	Documents uint64   `json:"documents"`
	Distinct  uint64   `json:"distinct,omitempty"` // estimated number of fingerprints, if it is smaller
	Memory    uint64   `json:"memory,omitempty"`   // memory limit in bytes
	Why       []string `json:"why"`                // sentences
}

// ChoiceOf returns the choice of a plan.
func ChoiceOf(p *plan.Plan) *Choice {
	r := &p.Request
	c := &Choice{Documents: r.Fingerprints, Memory: r.Memory, Why: p.Why}
	if r.Documents > r.Fingerprints {
		c.Documents, c.Distinct = r.Documents, r.Fingerprints
	}
	return c
}

// A getter opens a file: it maps or loads it.
type getter func(path string, kind store.Kind) (*store.File, error)

// ErrNoIndex is wrapped by errors of [Open] if a path does not exist or is something else than an index. A damaged
// index is [store.ErrCorrupt] instead.
var ErrNoIndex = errors.New("no index")

// A NoIndexError describes what exists at a path instead of an index. It is [ErrNoIndex].
type NoIndexError struct {
	Path   string
	Found  Found
	Detail string // more about what exists
}

// Found is what exists instead of an index.
type Found string

// The values of Found.
const (
	FoundPrints      Found = "a fingerprint file"
	FoundSignatures  Found = "a signature file"
	FoundPart        Found = "a part of one"
	FoundFile        Found = "a file"
	FoundEmpty       Found = "an empty folder"
	FoundAbove       Found = "a folder that has one"
	FoundPrintFolder Found = "a folder of fingerprint files" // Detail is one of them
	FoundOther       Found = "a folder of other things"
)

// Error names the path and what it is.
func (e *NoIndexError) Error() string {
	text := fmt.Sprintf("%s: %v, but %s", e.Path, ErrNoIndex, e.Found)
	switch e.Found {
	case FoundPart, FoundOther:
		text += " " + e.Detail
	case FoundAbove:
		text += ": " + e.Detail
	}
	return text
}

// Is reports whether target is [ErrNoIndex].
func (e *NoIndexError) Is(target error) bool { return target == ErrNoIndex }

// manifestPath returns the path of the manifest of the index in folder dir. It fails like [ReadManifest].
func manifestPath(d *disk.Disk, dir string) (string, error) {
	path := filepath.Join(dir, manifestName)
	info, err := d.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		return path, nil
	case errors.Is(err, fs.ErrPermission):
		return "", err
	}
	info, err = os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", absence(dir)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", notFolder(dir)
	}
	return "", notIndex(dir)
}

// absence returns the error for a path that does not exist.
func absence(dir string) error {
	clean := filepath.Clean(dir)
	entries, _ := os.ReadDir(filepath.Dir(clean))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), disk.TempPrefix(clean)) {
			return fmt.Errorf("%s: %w yet: %w: %s belongs to a build that is running or was killed: wait, or "+
				"remove it and build again",
				dir, ErrNoIndex, fs.ErrNotExist, e.Name())
		}
	}
	return fmt.Errorf("%s: %w: %w", dir, ErrNoIndex, fs.ErrNotExist)
}

// notFolder returns the error for the path of a file.
func notFolder(path string) error {
	kind, known, err := store.Sniff(path)
	switch {
	case err != nil:
		return err
	case known && kind == store.KindFingerprints, isPrints(path):
		return &NoIndexError{Path: path, Found: FoundPrints}
	case known && kind == store.KindSignatures:
		return &NoIndexError{Path: path, Found: FoundSignatures}
	case known:
		return &NoIndexError{path, FoundPart, fmt.Sprintf("(%s): give its folder, %s", kind, filepath.Dir(path))}
	}
	return &NoIndexError{Path: path, Found: FoundFile}
}

// notIndex returns the error for a folder without a manifest.
func notIndex(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return &NoIndexError{Path: dir, Found: FoundEmpty}
	}
	prints := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, ".segment"), strings.HasPrefix(name, ".") && strings.Contains(name, ".segment.tmp-"),
			name == manifestName:
			return fmt.Errorf("%s: %w: %s exists, but the manifest is missing: building or copying the index was interrupted; "+
				"build or copy it again",
				dir, store.ErrCorrupt, name)
		case e.IsDir() && isFile(filepath.Join(dir, name, manifestName)):
			return &NoIndexError{dir, FoundAbove, filepath.Join(dir, name)}
		case prints == "" && isPrints(name):
			prints = filepath.Join(dir, name)
		}
	}
	if prints != "" {
		return &NoIndexError{dir, FoundPrintFolder, prints}
	}
	more := ""
	if n := len(entries) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return &NoIndexError{dir, FoundOther, fmt.Sprintf("(%s%s)", entries[0].Name(), more)}
}

// isPrints reports whether a name is the name of a fingerprint file.
func isPrints(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".ndf" || ext == ".bin"
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

const manifestName = "manifest"
