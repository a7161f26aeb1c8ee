package cli

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ndd/engine/result"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/object"
)

// Marker is the file in a folder of copies that lists the others, so that --force knows an older
// output, whatever the names of its files, from a folder that has something else.
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

// CreateCopies is [Globals.CreateFolder] of files with any names. On disk the folder has a [Marker].
func (g *Globals) CreateCopies(path string, own func(name string) bool) (Folder, error) {
	f, err := g.CreateFolder(path, own)
	if of, onDisk := f.(*disk.Folder); onDisk {
		return &markedFolder{Folder: of}, nil
	}
	return f, err
}

// ownOrMarked returns a function that reports whether a file in the folder at path is own, or the
// folder's marker lists it.
func ownOrMarked(path string, own func(name string) bool) func(name string) bool {
	text, err := os.ReadFile(filepath.Join(path, Marker))
	lines := strings.Split(string(text), "\n")
	if object.Is(path) || err != nil || lines[0] != markerHead {
		return own
	}
	marked := map[string]bool{Marker: true}
	for _, line := range lines[1:] {
		marked[result.Unescape(line)] = true
	}
	return func(name string) bool { return own(name) || marked[filepath.ToSlash(name)] }
}
