package inspect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"ndd/cmd/ndd/cli"
	"ndd/engine/oracle/must"
)

// TestInterrupted: commands that read all fingerprints end with their context, not behind the last
// fingerprint.
func TestInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bin")
	must.Do(t, os.WriteFile(path, make([]byte, 8000), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := &cli.Globals{}
	if _, err := infoOf(ctx, g, path, true, false); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
