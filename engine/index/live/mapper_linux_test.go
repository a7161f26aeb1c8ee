package live

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/index/live/rows"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

// TestMapper: segments of an index that is larger than memory are mapped so that single pages are
// read.
func TestMapper(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t)}, OpenOptions{Write: true})
	insert(t, x, rows.Doc{Fingerprint: 5}, rows.Doc{Fingerprint: 500})
	must.Do(t, x.Close())
	m, err := ReadManifest(dir)
	if err != nil || len(m.Segments) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, larger := range []bool{false, true} {
		if larger {
			m.Segments[0].Bytes = 1 << 60
		}
		path := filepath.Join(dir, m.Segments[0].File)
		f, err := m.mapper(nil)(path, store.KindSegment)
		must.Do(t, err)
		if got := strings.Contains(mappingFlags(t, path), " rr"); got != larger {
			t.Errorf("larger than memory %v: single pages %v", larger, got)
		}
		must.Do(t, f.Close())
	}
}

// mappingFlags returns the line VmFlags of the mapping of a file.
func mappingFlags(t *testing.T, path string) string {
	t.Helper()
	maps, err := os.Open("/proc/self/smaps")
	must.Do(t, err)
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
