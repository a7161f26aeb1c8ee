package engine

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"

	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/store"
	"ndd/permute"
)

const (
	manifestName = "manifest"
	manifestMax  = 1 << 20 // bytes: some thousand segments
	documentsMax = 1 << 56 // of all segments
)

// segmentName is what a segment's file is called: nothing that leads out of the folder.
var segmentName = regexp.MustCompile(`^[0-9]{8,12}\.segment$`)

// manifest says what an index is: the section "manifest" of the file of that
// name, as JSON.
type manifest struct {
	K        int               `json:"k"`
	Recipe   *simhash.Recipe   `json:"recipe"` // null when made from raw fingerprints
	Segments []manifestSegment `json:"segments"`
	Choice   *Choice           `json:"choice,omitempty"` // of the tables, where one was made
}

type manifestSegment struct {
	File      string `json:"file"`
	ID        string `json:"id"` // of the file: 32 hexadecimal digits
	Bytes     uint64 `json:"bytes"`
	Documents uint64 `json:"documents"`
}

// bytes is the size of all segments.
func (m *manifest) bytes() (sum uint64) {
	for _, g := range m.Segments {
		sum += min(g.Bytes, 1<<62-sum)
	}
	return sum
}

func writeManifest(dir string, generation uint64, o store.Options, m *manifest) error {
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

// openManifest reads the manifest; it returns the file too, for its identity.
func openManifest(dir string) (*manifest, *store.File, error) {
	path, err := ManifestPath(dir)
	if err != nil {
		return nil, nil, err
	}
	f, err := store.Open(path, store.KindManifest)
	if err != nil {
		return nil, nil, err
	}
	m, err := parseManifest(f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return m, f, nil
}

func parseManifest(f *store.File) (_ *manifest, err error) {
	defer store.CatchFault(&err)()
	if err := f.Verify(context.Background(), 1, nil); err != nil {
		return nil, err
	}
	s, err := f.Section(manifestName)
	if err != nil {
		return nil, err
	}
	if len(s.Data) > manifestMax {
		return nil, s.Corrupt(0, "%d bytes: a manifest has at most %d", len(s.Data), manifestMax)
	}
	m := new(manifest)
	if err := s.JSON(m); err != nil {
		return nil, err
	}
	if why := m.wrong(); why != "" {
		return nil, s.Corrupt(0, "%s", why)
	}
	return m, nil
}

// wrong says what a manifest cannot be right about, empty when there is nothing.
func (m *manifest) wrong() string {
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
