package store

import (
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by every error about damaged or foreign content.
var ErrCorrupt = errors.New("corrupt")

// Reasons of a [CorruptError], with what to do.
const (
	damaged  = "damaged since it was written; copy it again, or make it again"
	mismatch = "checksum mismatch: " + damaged
)

// A CorruptError says at which place a file is wrong, and why. It wraps [ErrCorrupt].
type CorruptError struct {
	File    string // path
	Section string // name of the section, or "header", "footer", "trailer"
	Block   int64  // block of the section, -1 when not about one block
	Offset  int64  // in the file, bytes
	Why     string
}

func (e *CorruptError) Error() string {
	if e.Block >= 0 {
		return fmt.Sprintf("%s: %s, block %d, offset %#x: %s", e.File, e.Section, e.Block, e.Offset, e.Why)
	}
	return fmt.Sprintf("%s: %s, offset %#x: %s", e.File, e.Section, e.Offset, e.Why)
}

func (e *CorruptError) Unwrap() error { return ErrCorrupt }
