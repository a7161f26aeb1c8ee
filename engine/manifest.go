package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"path/filepath"

	"ndd/engine/simhash"
	"ndd/engine/store"
)

const manifestName = "manifest"

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

func writeManifest(dir string, generation uint64, random io.Reader, m *manifest) error {
	w, err := store.CreateWith(filepath.Join(dir, manifestName), store.KindManifest, generation, store.Options{Random: random})
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
	f, err := store.Open(filepath.Join(dir, manifestName), store.KindManifest)
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
	m := new(manifest)
	d := json.NewDecoder(bytes.NewReader(s.Data))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, s.Corrupt(uint64(d.InputOffset()), "%v", err)
	}
	if m.Recipe != nil {
		if err := m.Recipe.Validate(); err != nil {
			return nil, s.Corrupt(0, "%v", err)
		}
	}
	for _, g := range m.Segments {
		if filepath.Base(g.File) != g.File || g.File == "." || g.File == ".." {
			return nil, s.Corrupt(0, "segment file name %q", g.File)
		}
		if id, err := hex.DecodeString(g.ID); err != nil || len(id) != 16 {
			return nil, s.Corrupt(0, "segment identity %q", g.ID)
		}
	}
	return m, nil
}
