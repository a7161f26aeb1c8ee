// Package files writes input files for tests, and compares output files with expected ones.
package files

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine/oracle/must"
)

// New writes a file into a temporary folder, which is removed after the test, and returns its path.
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

// Into returns a function that stores the output of fill in a map, by the name with slashes, even if fill fails. It may
// be called from many goroutines.
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

// Write writes files by name, with their folders.
func Write[T string | []byte](t testing.TB, files map[string]T) {
	t.Helper()
	for name, content := range files {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, []byte(content), 0o644))
	}
}

// Pack compresses the content of a file as its name says: .gz, .zst, or not at all.
func Pack(t testing.TB, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&b)
	case ".zst":
		z, err := zstd.NewWriter(&b)
		must.Do(t, err)
		w = z
	default:
		return content
	}
	_, err := io.WriteString(w, content)
	must.Do(t, err)
	must.Do(t, w.Close())
	return b.String()
}

// Unpack returns the decompressed files. Their names determine the compression.
func Unpack(t testing.TB, files map[string]string) map[string]string {
	t.Helper()
	plain := map[string]string{}
	for name, content := range files {
		var r io.Reader = strings.NewReader(content)
		switch filepath.Ext(name) {
		case ".gz":
			z, err := gzip.NewReader(r)
			must.Do(t, err)
			r = z
		case ".zst":
			z, err := zstd.NewReader(r)
			must.Do(t, err)
			defer z.Close()
			r = z
		}
		b, err := io.ReadAll(r)
		must.Do(t, err)
		plain[name] = string(b)
	}
	return plain
}
