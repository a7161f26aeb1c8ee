package live

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/storage/store"
)

// TestMapper: segments of an index that is larger than memory are mapped so that single pages are read.
func TestMapper(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	if err := Create(dir, Config{Design: halves(t)}, store.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := Open(t.Context(), dir, OpenOptions{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Insert(t.Context(), []Doc{{Fingerprint: 5}, {Fingerprint: 500}}); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil || len(m.Segments) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, larger := range []bool{false, true} {
		if larger {
			m.Segments[0].Bytes = 1 << 60
		}
		path := filepath.Join(dir, m.Segments[0].File)
		f, err := m.mapper()(path, store.KindSegment)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(mappingFlags(t, path), " rr"); got != larger {
			t.Errorf("larger than memory %v: single pages %v", larger, got)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// mappingFlags returns the line VmFlags of the mapping of a file.
func mappingFlags(t *testing.T, path string) string {
	t.Helper()
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	found := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), path) {
			found = true
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); found && ok {
			return flags
		}
	}
	t.Fatalf("%s is not mapped", path)
	return ""
}
