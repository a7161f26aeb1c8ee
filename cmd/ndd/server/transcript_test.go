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
	path := filepath.Join("testdata", "curl.txt")
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for is, folder := range curls(t) {
		t.Run(is, func(t *testing.T) {
			got := typed(t, string(golden), folder)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(golden), got); diff != "" && !*update {
				t.Error(diff)
			}
		})
	}
}

// typed returns a transcript with what its lines give now, by the curl of a folder.
func typed(t *testing.T, transcript, folder string) string {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	path := folder + string(filepath.ListSeparator) + os.Getenv("PATH")
	var got strings.Builder
	calls := 0
	for line := range strings.Lines(transcript) {
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case ok:
			calls++
			shell := exec.Command("sh", "-c", command)
			shell.Env = append(os.Environ(), "URL="+b.URL, "PATH="+path)
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
	return got.String()
}
