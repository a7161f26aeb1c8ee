package cli

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestReadOnce finds an input that is given twice under different names. Files with equal content are different
// inputs.
func TestReadOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b", "d/a", "d/.h/x", "d/e/f"} {
		os.MkdirAll(filepath.Dir(name), 0o755)
		must.Do(t, os.WriteFile(name, []byte("same"), 0o644))
	}
	must.Do(t, os.Link("a", "hard"))
	for _, inputs := range []string{"", "-", "a", "a b d", "d/e d/a", "d d/.h", "d d/.h/x", "none",
		"s3://b/a s3://b/c", "s3://b/a s3://b/ab", "d/e d/ee", "[ ]"} {
		if err := ReadOnce(strings.Fields(inputs)); err != nil {
			t.Errorf("%s: %v", inputs, err)
		}
	}
	all := []string{"a a", "a b a", "- -", "a ./a", "d d/", "d d/a", "d d/e", "d d/e/f", "d/e/f d", ". a",
		"none none", "a [a]", "[ab] b", "s3://b/a s3://b/a", "s3://b/p s3://b/p/x", "s3://b/p/x s3://b/p/"}
	if runtime.GOOS != "windows" && runtime.GOOS != "plan9" {
		all = append(all, "a hard")
	}
	for _, inputs := range all {
		list := strings.Fields(inputs)
		err := ReadOnce(list)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), list[0]) ||
			!strings.Contains(err.Error(), list[len(list)-1]) {
			t.Errorf("%s: %v", inputs, err)
		}
	}
}
