package store

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"example.org/ndd/engine/oracle/must"
)

// TestReadAhead reads in /proc how the system treats a mapped file: as random after AdviseRandom, except during
// sequential reads.
func TestReadAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	create(t, path, Identity{}, Section{Name: "s", Data: make([]byte, 3*blockBytes)})
	f, err := Open(path, KindSegment)
	must.Do(t, err)
	defer f.Close()
	want := func(stage string, scattered bool) {
		t.Helper()
		if flags := mappingFlags(t, f.data); strings.Contains(flags, " rr") != scattered {
			t.Errorf("%s: flags %s", stage, flags)
		}
	}
	f.ReadAhead()()
	want("at first", false)
	f.AdviseRandom()
	want("scattered", true)
	first, second := f.ReadAhead(), f.ReadAhead()
	want("read in order", false)
	first()
	want("read in order by one of two", false)
	second()
	want("scattered again", true)
	must.Do(t, f.Verify(t.Context(), 2, nil))
	want("verified", true)
}

// mappingFlags returns the line VmFlags of the mapping that begins where data does.
func mappingFlags(t *testing.T, data []byte) string {
	t.Helper()
	maps, err := os.Open("/proc/self/smaps")
	must.Do(t, err)
	defer maps.Close()
	begin, found := fmt.Sprintf("%08x-", uintptr(unsafe.Pointer(&data[0]))), false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), begin) {
			found = true
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); found && ok {
			return flags
		}
	}
	t.Fatalf("no mapping at %s", begin)
	return ""
}
