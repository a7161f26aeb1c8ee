// Package files writes the files that a test reads, and holds those that it has written.
package files

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ndd/engine/oracle/must"
)

// New writes a file in a folder of its own, which goes with the test, and returns its path.
func New[T string | []byte](t testing.TB, name string, content T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// Lines writes records as lines of JSON, as [New] writes a file.
func Lines[R any](t testing.TB, name string, records []R) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range records {
		must.Do(t, json.NewEncoder(&b).Encode(r))
	}
	return New(t, name, b.Bytes())
}

// Into returns a function that puts what fill writes, all or a part, into a map by the slashed name. It may be called
// from many goroutines.
func Into(files map[string]string) func(name string, fill func(io.Writer) error) error {
	var mu sync.Mutex
	return func(name string, fill func(io.Writer) error) error {
		var b bytes.Buffer
		err := fill(&b)
		mu.Lock()
		defer mu.Unlock()
		files[filepath.ToSlash(name)] = b.String()
		return err
	}
}
