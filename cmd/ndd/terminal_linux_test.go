package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

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

// TestPipeProgress: of a pipe, whose length nobody knows, the bytes and the rate are shown; of a file
// a bar that fills, and the time that is left.
func TestPipeProgress(t *testing.T) {
	dir := t.TempDir()
	q, f := filepath.Join(dir, "q.bin"), filepath.Join(dir, "f.bin")
	chunk := store.Bytes64(make([]uint64, 1<<16))
	for i := range chunk {
		chunk[i] = byte(i % 251)
	}
	if err := os.WriteFile(q, make([]byte, 8), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f, chunk[:8000], 0o644); err != nil {
		t.Fatal(err)
	}
	other, tty := terminal(t)
	r, w := io.Pipe()
	go func() {
		for range 16 { // for longer than a second: rates are told from then on
			if _, err := w.Write(chunk); err != nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		w.Close()
	}()
	if status := run(t.Context(), []string{"batch", "--scan", "-", "--count", q}, r, io.Discard, tty); status != exitDone {
		t.Errorf("status %d", status)
	}
	tty.Close()
	shown, err := io.ReadAll(other)
	if err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`scanning +[\d.]+ [KM]iB, [\d.]+ [KM]iB/s`).Match(shown) || bytes.Contains(shown, []byte("[--")) {
		t.Errorf("%q", shown)
	}
}
