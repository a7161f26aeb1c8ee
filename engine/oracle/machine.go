package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.org/ndd/engine/memory"
)

// Machine returns a machine whose control group leaves the given number of bytes, for tests of memory limits.
func Machine(t testing.TB, bytes uint64) memory.Machine {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"proc/meminfo":                 "MemAvailable: 8000000 kB\n",
		"proc/self/cgroup":             "0::/job\n",
		"sys/fs/cgroup/job/memory.max": fmt.Sprintln(bytes),
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return memory.Machine{Root: root}
}
