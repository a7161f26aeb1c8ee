package cli

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/disk"
)

// Marker is a file in an output folder that lists the other files. So --force can tell an older output from other
// folders.
const Marker = ".ndd-output"

const markerHead = "The files that ndd wrote here. With --force it replaces the folder if there are no others."

// A markedFolder is a folder on disk with a [Marker].
type markedFolder struct {
	*disk.Folder
	mu    sync.Mutex
	names []string
}

// Write creates a file; see [disk.Folder.Write].
func (m *markedFolder) Write(name string, fill func(*bufio.Writer) error) error {
	m.mu.Lock()
	m.names = append(m.names, filepath.ToSlash(name))
	m.mu.Unlock()
	return m.Folder.Write(name, fill)
}

// Commit writes the marker and publishes the folder.
func (m *markedFolder) Commit() error {
	slices.Sort(m.names)
	if err := m.Folder.Write(Marker, func(w *bufio.Writer) error {
		w.WriteString(markerHead + "\n")
		for _, name := range m.names {
			w.WriteString(result.Escape(name) + "\n")
		}
		return nil
	}); err != nil {
		return err
	}
	return m.Folder.Commit()
}

// isMarked returns a function that reports whether the marker of the folder at path lists a file.
func isMarked(path string) func(name string) bool {
	text, _ := os.ReadFile(filepath.Join(path, Marker))
	lines := strings.Split(string(text), "\n")
	if lines[0] != markerHead {
		return func(string) bool { return false }
	}
	names := map[string]bool{Marker: true}
	for _, line := range lines[1:] {
		names[result.Unescape(line)] = true
	}
	return func(name string) bool { return names[filepath.ToSlash(name)] }
}
