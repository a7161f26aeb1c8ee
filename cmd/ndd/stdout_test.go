package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// full is a file of a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestLostOutput writes to a full disk after some input was skipped: the lost output is an error.
func TestLostOutput(t *testing.T) {
	line := `{"text":"` + strings.Repeat("some words of a page that stands twice ", 5) + `"}` + "\n"
	in := filepath.Join(t.TempDir(), "in.jsonl")
	must.Do(t, os.WriteFile(in, []byte(line+"{broken\n"+line), 0o666))
	var messages bytes.Buffer
	status := run(t.Context(), []string{"passages", "--bytes", "20", in}, strings.NewReader(""), full{}, &messages)
	if status != exitFailed || !strings.Contains(messages.String(), "ndd: standard output: no space left") {
		t.Errorf("status %d, want %d: %s", status, exitFailed, messages.String())
	}
}
