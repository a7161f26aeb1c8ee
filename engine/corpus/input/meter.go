package input

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Meter counts the bytes and documents read so far, and names the files in flight. It is safe for
// concurrent use.
type Meter struct {
	Files     atomic.Int64
	Bytes     atomic.Int64 // bytes of files on disk, before decompression
	Documents atomic.Int64 // documents whose results were handed on

	mu      sync.Mutex
	open    map[string]int // number of current readers of each file
	outside []File         // links that lead out of their folders
	guesses []Guess
}

// A Guess says which files were read as a format because of their first bytes.
type Guess struct {
	Format  string
	Files   int
	Example string // the first of them
}

// AddGuess counts a file that is read as a format because of its first bytes.
func (m *Meter) AddGuess(format, path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.guesses, func(g Guess) bool { return g.Format == format })
	if i < 0 {
		i = len(m.guesses)
		m.guesses = append(m.guesses, Guess{Format: format, Example: path})
	}
	m.guesses[i].Files++
}

// Guesses returns the formats that were guessed from first bytes so far.
func (m *Meter) Guesses() []Guess {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.guesses)
}

// Begin notes that a file is being read until the function that it returns is called.
func (m *Meter) Begin(f File) (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open == nil {
		m.open = map[string]int{}
	}
	m.open[f.Path]++
	if f.Outside != "" {
		m.outside = append(m.outside, f)
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.open[f.Path]--; m.open[f.Path] == 0 {
			delete(m.open, f.Path)
		}
	}
}

// Open returns the files that are being read, by name.
func (m *Meter) Open() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.open))
}

// Outside returns the files read so far that are symbolic links out of their folders.
func (m *Meter) Outside() []File {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.outside)
}
