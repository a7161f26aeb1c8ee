package cli

import (
	"errors"
	"fmt"
)

// ErrUsage marks errors in the command line. ErrPartly marks a command that finished its work, but skipped some input
// and reported it. Each has its own exit status.
var (
	ErrUsage  = errors.New("wrong usage")
	ErrPartly = errors.New("done in part")
)

// Usagef returns an error that wraps [ErrUsage].
func Usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUsage, fmt.Errorf(format, args...))
}
