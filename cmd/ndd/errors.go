package main

import (
	"errors"
	"fmt"
)

var (
	errUsage  = errors.New("wrong usage")
	errPartly = errors.New("done in part")
)

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errUsage, fmt.Errorf(format, args...))
}
