package input

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Meter counts the bytes and documents read so far. It is safe for concurrent use.
type Meter struct {
	Bytes     atomic.Int64 // bytes of files on disk, before decompression
	Documents atomic.Int64 // documents whose results were handed on

	mu      sync.Mutex
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
