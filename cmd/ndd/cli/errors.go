package cli

import (
	"errors"
	"fmt"
)

// ErrUsage is in errors about the command line, and ErrPartly is the error of a command that has
// done its work but for input that was skipped, of which it has told. Each has an exit status of
// its own.
var (
	ErrUsage  = errors.New("wrong usage")
	ErrPartly = errors.New("done in part")
)

// Usagef returns an error about the command line: an [ErrUsage].
func Usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUsage, fmt.Errorf(format, args...))
}
