package inspect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"ndd/cmd/ndd/cli"
	"ndd/engine/index/live"
)

// TestInterrupted: commands that read all fingerprints end with their context, not behind the last fingerprint.
func TestInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bin")
	if err := os.WriteFile(path, make([]byte, 8000), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := &cli.Globals{}
	if err := inspectPath(ctx, g, path, func(*description) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("inspect: %v", err)
	}
	if _, err := statisticsOf(ctx, g, path, live.VerifyFull); !errors.Is(err, context.Canceled) {
		t.Errorf("stats: %v", err)
	}
}
