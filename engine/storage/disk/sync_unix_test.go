//go:build unix

package disk

import (
	"os"
	"testing"

	"ndd/engine/oracle/must"
)

// A sync asks the system: of a pipe, which cannot be synced, it tells. One that did nothing would
// not.
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
