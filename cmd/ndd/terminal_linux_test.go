package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// TestBinaryToTerminal: records that no person can read are not written to a terminal, unless it is
// named as a file.
func TestBinaryToTerminal(t *testing.T) {
	dir := t.TempDir()
	base, queries := sets.Planted(500, 50)
	f, q := filepath.Join(dir, "f.bin"), filepath.Join(dir, "q.bin")
	for name, prints := range map[string][]uint64{f: base, q: queries} {
		if err := os.WriteFile(name, store.Bytes64(prints), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, tty := terminal(t)
	for _, c := range []struct {
		flags  []string
		status int
	}{
		{[]string{"--format", "bin"}, exitUsage},
		{[]string{"--format", "bin", "-o", "-"}, exitUsage},
		{[]string{"--format", "bin", "-o", filepath.Join(dir, "hits.bin")}, exitDone},
		{[]string{"--format", "tsv", "-k", "0"}, exitDone},
	} {
		var said bytes.Buffer
		status := run(t.Context(), append([]string{"batch", "--scan", f, q}, c.flags...), nil, tty, &said)
		if status != c.status || (status == exitUsage) != strings.Contains(said.String(), "not written to a terminal") {
			t.Errorf("%q: status %d, want %d: %s", c.flags, status, c.status, &said)
		}
	}
}
