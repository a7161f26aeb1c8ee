package server

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ndd/engine/oracle"
	"ndd/engine/oracle/curl"
	"ndd/engine/oracle/must"
)

// TestMain is curl where this program is called so.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") != "curl" {
		oracle.NoLeaks(m)
		return
	}
	curl.Main()
}

// curlFolder returns the folder of a program called curl: this one if there is no other.
func curlFolder(t *testing.T) string {
	if path, err := exec.LookPath("curl"); err == nil {
		return filepath.Dir(path)
	}
	self, err := os.Executable()
	must.Do(t, err)
	own := t.TempDir()
	must.Do(t, os.Symlink(self, filepath.Join(own, "curl")))
	return own
}

var update = flag.Bool("update", false, "write the golden files")

// TestTranscript types the lines of testdata/curl.txt that begin with $ into a shell, and holds
// what comes against the lines behind them.
func TestTranscript(t *testing.T) {
	path := filepath.Join("testdata", "curl.txt")
	golden, err := os.ReadFile(path)
	must.Do(t, err)
	got := typed(t, string(golden), curlFolder(t))
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	} else if diff := cmp.Diff(string(golden), got); diff != "" {
		t.Error(diff)
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
