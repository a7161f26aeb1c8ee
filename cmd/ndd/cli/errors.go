package cli

import (
	"errors"
	"fmt"
)

// ErrUsage is in errors about the command line. ErrPartly is the error of a command that skipped and reported some
// input, and did the rest of its work. Each has its own exit status.
var (
	ErrUsage  = errors.New("wrong usage")
	ErrPartly = errors.New("done in part")
)

// Usagef returns an error about the command line: an [ErrUsage].
func Usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUsage, fmt.Errorf(format, args...))
}
