package server

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

var update = flag.Bool("update", false, "write the golden files")

// TestTranscript runs the lines of testdata/curl.txt that begin with $ in a shell, and compares the output with the
// lines after them.
func TestTranscript(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl, with which .ci/run runs this: ", err)
	}
	path := filepath.Join("testdata", "curl.txt")
	golden, err := os.ReadFile(path)
	must.Do(t, err)
	got := typed(t, string(golden))
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	} else if diff := cmp.Diff(string(golden), got); diff != "" {
		t.Error(diff)
	}
}

// typed runs the commands of a transcript and returns it with their present output.
func typed(t *testing.T, transcript string) string {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	var got strings.Builder
	calls := 0
	for line := range strings.Lines(transcript) {
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
	return got.String()
}
