//go:build unix

package disk

import (
	"os"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestSyncIsReal checks that a sync calls the system, and returns its error for a pipe, which cannot be synced. A sync
// without a call would return none.
func TestSyncIsReal(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	defer w.Close()
	var d *Disk
	if err := (handle{disk: d, file: w}).sync(); err == nil {
		t.Error("a file was not synced")
	}
	if err := syncDir(w); err == nil {
		t.Error("a folder was not synced")
	}
}

// TestFlushed checks that each complete piece of a file is passed to the disk once, in order.
func TestFlushed(t *testing.T) {
	defer func(f func(*os.File, int64, int64)) { flush = f }(flush)
	var end int64
	flush = func(_ *os.File, offset, n int64) {
		if offset != end || n%flushEach != 0 || n == 0 {
			t.Errorf("%d bytes at %d, after %d", n, offset, end)
		}
		end += n
	}
	h, err := (*Disk)(nil).createNamed(t.TempDir() + "/file")
	must.Do(t, err)
	defer h.file.Close()
	f, size := flushWriter{handle: h}, 0
	for _, n := range []int{1, flushEach - 2, 1, 1, 2*flushEach + 5, 7} {
		_, err := f.Write(make([]byte, n))
		must.Do(t, err)
		if size += n; end != int64(size/flushEach*flushEach) {
			t.Errorf("%d of %d bytes", end, size)
		}
	}
}
