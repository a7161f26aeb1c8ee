package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/plan"
	"ndd/engine/index/table"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/generations"
	"ndd/engine/storage/store"
	"ndd/permute"
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
type ManifestFile = generations.Entry

// A ManifestLive is what an index has that is written to: where its log begins, and what it makes
// segments with.
type ManifestLive struct {
	Log    string         `json:"log"`                // what its log files belong to: 32 hexadecimal digits
	Key    string         `json:"key"`                // of the hash of IDs, likewise
	From   uint64         `json:"log_from"`           // log files below this number are not needed
	Last   uint64         `json:"log_last"`           // the last record in those
	File   uint64         `json:"log_file,omitempty"` // this log file is there; 0 in manifests of earlier versions
	Held   uint64         `json:"log_held,omitempty"` // the log has records up to this one, at least
	Time   rows.Time      `json:"time,omitempty"`     // the latest time at which it was open; 0 where nothing expires
	Next   uint64         `json:"next"`               // number of the first document that the log may have
	Files  uint64         `json:"files"`              // number of the next file
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

// SegmentPaths returns the paths of the segments' files of the index in folder dir, whose manifest
// m is. If one is missing, the error names it and wraps [store.ErrCorrupt].
func (m *Manifest) SegmentPaths(dir string) (paths []string, err error) {
	for _, g := range m.Segments {
		path := filepath.Join(dir, g.File)
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, g.Missing(dir)
		case err != nil:
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func writeManifest(dir string, number uint64, o store.Options, m *Manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return generations.Write(filepath.Join(dir, manifestName), store.KindManifest, number, o, data, nil)
}

// ReadManifest reads the manifest of the index in folder dir. The errors are those of
// [ManifestPath], or wrap [store.ErrCorrupt].
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
	if m.Recipe != nil && errors.Is(m.Recipe.Validate(), simhash.ErrTwoPrints) {
		return nil, fmt.Errorf("%s: %w", f.Path(), simhash.ErrTwoPrints)
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
		if _, ok := generations.ParseID(g.ID); !ok {
			return fmt.Sprintf("segment identity %q", g.ID)
		}
		if b := g.Beside; b != nil {
			if _, ok := generations.ParseID(b.ID); !ok || !documentsName.MatchString(b.File) || seen[b.File] || m.Live == nil {
				return fmt.Sprintf("file %q, identity %q, beside %s", b.File, b.ID, g.File)
			}
			seen[b.File] = true
		}
		if documents += g.Documents; documents > rows.Max || g.Documents > rows.Max {
			return fmt.Sprintf("%d documents: at most %d", documents, uint64(rows.Max))
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
	_, log := generations.ParseID(l.Log)
	_, key := generations.ParseID(l.Key)
	if !log || !key || l.Next > rows.Max || l.Files == 0 || l.Files > 1<<32 || l.File != 0 && l.File < l.From ||
		l.Time > rows.TimeMax {
		return "a log, a key or a counter that cannot be"
	}
	return ""
}

// A Choice is why an index has the tables that it has, as its manifest keeps it.
type Choice struct {
	Documents uint64          `json:"documents"`
	Distinct  uint64          `json:"distinct,omitempty"` // fingerprints, about, where they are fewer
	Memory    uint64          `json:"memory,omitempty"`   // bytes that were given
	Kernel    string          `json:"kernel"`             // "reference"; of earlier releases also that which was measured
	Sample    int             `json:"sample,omitempty"`   // of earlier releases, which tried layouts on a sample
	Layouts   json.RawMessage `json:"layouts,omitempty"`  // likewise: the results
	Why       []string        `json:"why"`                // sentences
}

// ChoiceOf returns what to keep of a plan.
func ChoiceOf(p *plan.Plan) *Choice {
	r := &p.Request
	c := &Choice{Documents: r.Fingerprints, Memory: r.Memory, Kernel: "reference", Why: p.Why}
	if r.Documents > r.Fingerprints {
		c.Documents, c.Distinct = r.Documents, r.Fingerprints
	}
	return c
}

// A getter opens a file: one that maps it, or one that loads it.
type getter func(path string, kind store.Kind) (*store.File, error)
