package cli

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/must"
)

// TestAmounts checks that the text has the total, the rate and the time left as soon as they are known.
func TestAmounts(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		text        progressText
		done, total int64
		took        time.Duration
		want        string
	}{
		{BytesUnit, 0, 0, 0, "0 B"},
		{BytesUnit, 10 * mib, 0, time.Second / 2, "10 MiB"},
		{BytesUnit, 10 * mib, 0, 2 * time.Second, "10 MiB, 5.0 MiB/s"}, // a pipe
		{BytesUnit, 10 * mib, 30 * mib, 2 * time.Second, "10 MiB / 30 MiB, 5.0 MiB/s, 4s left"},
		{BytesUnit, 30 * mib, 30 * mib, 2 * time.Second, "30 MiB / 30 MiB, 15 MiB/s"},
		{BytesUnit, 40 * mib, 30 * mib, 2 * time.Second, "40 MiB / 30 MiB, 20 MiB/s"}, // a file that grew
		{CountUnit, 2, 7, 4 * time.Second, "2 / 7, 10s left"},
		{CountUnit, 5000, 20000, 2 * time.Second, "5,000 / 20,000, 2,500/s, 6s left"},
	} {
		if got := c.text(c.done, c.total, c.took); got != c.want {
			t.Errorf("%d of %d in %v: %q, want %q", c.done, c.total, c.took, got, c.want)
		}
	}
}

// TestSizeOf checks that the bar of a folder counts the sizes of all its files on disk.
func TestSizeOf(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, fstest.MapFS{"a.txt": {Data: make([]byte, 100)},
		"b/c.jsonl.gz": {Data: make([]byte, 20)}, "b/.hidden": {Data: make([]byte, 7)}}))
	if got := sizeOf(t.Context(), input.Files(t.Context(), []string{dir, filepath.Join(dir, "a.txt")})); got != 220 {
		t.Errorf("%d bytes, want 220", got)
	}
}
