package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle"
	"ndd/engine/oracle/curl"
)

// TestMain is curl where this program is called so.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") != "curl" {
		oracle.NoLeaks(m)
		return
	}
	curl.Main()
}

// curls returns folders of a program called curl, by what it is: this one and, where there is one, curl itself.
func curls(t *testing.T) map[string]string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	if err := os.Symlink(self, filepath.Join(own, "curl")); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{"own": own}
	if path, err := exec.LookPath("curl"); err == nil {
		found["curl"] = filepath.Dir(path)
	}
	return found
}
