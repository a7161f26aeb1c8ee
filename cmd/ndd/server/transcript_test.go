package server

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// TestTranscript types the lines of testdata/curl.txt that begin with $ into a shell, and holds what comes
// against the lines behind them.
func TestTranscript(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	path := filepath.Join("testdata", "curl.txt")
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	calls := 0
	for line := range strings.Lines(string(golden)) {
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case ok:
			calls++
			shell := exec.Command("sh", "-c", command)
			shell.Env = append(os.Environ(), "URL="+b.URL)
			out, err := shell.CombinedOutput()
			if err != nil {
				t.Fatalf("%s%v: %s", line, err, out)
			}
			got.WriteString(line + strings.TrimSuffix(string(out), "\n") + "\n")
		case strings.HasPrefix(line, "#") || line == "\n":
			got.WriteString(line)
		}
	}
	if calls < 20 {
		t.Fatalf("only %d calls", calls)
	}
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(golden), got.String()); diff != "" && !*update {
		t.Error(diff)
	}
}
