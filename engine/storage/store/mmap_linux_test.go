package store

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ndd/engine/oracle/must"
)

// TestHugeFolios holds a written file against one that was written in aligned pieces of 2 MiB by
// hand: where the system maps that in huge pages, it maps this so too, whatever the sections'
// lengths. When memory is short or in pieces, folios are smaller, of either file: then both are
// written again.
func TestHugeFolios(t *testing.T) {
	const size, tries = 16 * batchBytes, 10
	for try := 1; ; try++ {
		want, got := hugeFolios(t, size)
		t.Logf("%d bytes in huge pages, %d of the plain file", got, want)
		if got >= want/2 {
			return
		}
		if try == tries {
			t.Fatalf("%d of %d bytes are mapped in huge pages, of a file written in whole ones %d; so it was %d times", got,
				size, want, tries)
		}
	}
}

// hugeFolios writes the two files, and says how much of each, by hand and of sections, is in huge
// pages.
func hugeFolios(t *testing.T, size int) (byHand, ofSections int) {
	t.Helper()
	dir := t.TempDir()
	plain, err := os.Create(filepath.Join(dir, "plain"))
	must.Do(t, err)
	piece := make([]byte, batchBytes)
	for range size / batchBytes {
		_, err = plain.Write(piece)
		must.Do(t, err)
	}
	must.Do(t, plain.Close())

	path := filepath.Join(dir, "sections")
	w, err := Create(path, KindSegment, 1)
	must.Do(t, err)
	defer w.Abort()
	for i, left := 0, size; left > 0; i++ {
		w.Section(fmt.Sprint("s", i))
		n := min(left, 3_000_001*(i+1))
		for at := 0; at < n; at += 70_000 {
			_, err = w.Write(piece[:min(70_000, n-at)])
			must.Do(t, err)
		}
		left -= n
	}
	must.Do(t, w.Commit())
	return hugeBytes(t, plain.Name()), hugeBytes(t, path)
}

// hugeBytes is how much of a file is in huge pages when it is mapped.
func hugeBytes(t *testing.T, path string) (bytes int) {
	t.Helper()
	data, release := mapped(t, path)
	defer release()
	if err := unix.Madvise(data, unix.MADV_POPULATE_READ); err != nil {
		t.Logf("%s: not populated: %v", path, err)
	}
	smaps, err := os.Open("/proc/self/smaps")
	must.Do(t, err)
	defer smaps.Close()
	own := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		if strings.Contains(line, " /") {
			own = strings.HasSuffix(line, path)
		}
		kib := 0
		if n, _ := fmt.Sscanf(line, "FilePmdMapped: %d kB", &kib); own && n == 1 {
			bytes += kib << 10
		}
	}
	return bytes
}
