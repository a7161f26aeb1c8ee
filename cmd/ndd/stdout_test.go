package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle/must"
	"ndd/engine/storage/disk"
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

// TestUnwrittenCopies fills the disk while copies are written: no folder of copies appears.
func TestUnwrittenCopies(t *testing.T) {
	var line strings.Builder
	for i := range 200 {
		fmt.Fprintf(&line, "word%d ", i)
	}
	dir := t.TempDir()
	in, kept := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "kept")
	twice := strings.Repeat(`{"text":"`+line.String()+`"}`+"\n", 2)
	must.Do(t, os.WriteFile(in, []byte(twice+`{"text":"`+strings.ReplaceAll(line.String(), "word", "other")+`"}`), 0o666))
	evals := filepath.Join(dir, "evals.jsonl")
	must.Do(t, os.WriteFile(evals, []byte(twice), 0o666))
	table := filepath.Join(dir, "dropped.tsv")
	must.Do(t, os.WriteFile(table, []byte("file\trow\n"+in+"\t2\n"), 0o666))
	full := errors.New("no space left")
	for _, args := range [][]string{
		{"passages", "--bytes", "20", "--write-kept"},
		{"passages", "--bytes", "20", "--annotate"},
		{"decontaminate", "--evals", evals, "--question", "text", "--write-kept"},
		{"dedup", "--write-kept"},
		{"dedup", "--annotate"},
		{"dedup", "--attributes"},
		{"filter", "--dropped", table, "--write-kept"},
	} {
		failed := false
		d := disk.Failing(func(call disk.Call, path string) error {
			if call == disk.CallWrite && strings.Contains(path, "in.jsonl") {
				failed = true
				return full
			}
			return nil
		})
		if err := runOn(t.Context(), d, append(args, kept, in)); !errors.Is(err, full) || !failed {
			t.Errorf("ndd %s: %v", args, err)
		}
		if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("ndd %s: the folder is there: %v", args, err)
			must.Do(t, os.RemoveAll(kept))
		}
	}
}
