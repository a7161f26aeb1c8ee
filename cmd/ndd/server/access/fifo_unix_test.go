//go:build unix

package access

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestPipeIsNoTokenFile checks that a named pipe is refused as a token file. Opening it would wait for a writer.
func TestPipeIsNoTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	must.Do(t, syscall.Mkfifo(path, 0o600))
	if _, err := NewKeyring(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}
