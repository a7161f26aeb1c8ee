//go:build unix

package access

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ndd/engine/oracle/must"
)

// A named pipe as a token file is refused: to open it would wait for a writer.
func TestPipeIsNoTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	must.Do(t, syscall.Mkfifo(path, 0o600))
	done := make(chan error, 1)
	go func() { _, err := NewKeyring(path); done <- err }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("it waits for a writer")
	}
}
