package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.org/ndd/engine/storage/object"
)

// Stdin is the input that means standard input.
const Stdin = "-"

// ReadOnce reports whether an input cannot be read a second time: standard input, or a named pipe.
func ReadOnce(input string) bool {
	if object.Is(input) {
		return false
	}
	info, err := os.Stat(input)
	return input == Stdin || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Matches returns the names that match an input, if it is a pattern and no file has that name. Otherwise it returns the
// input itself.
func Matches(input string) ([]string, error) {
	if object.Is(input) || !strings.ContainsAny(input, "*?[") {
		return []string{input}, nil
	}
	if _, err := os.Stat(input); !errors.Is(err, fs.ErrNotExist) {
		return []string{input}, nil
	}
	names, err := filepath.Glob(input)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", input, err)
	case len(names) == 0:
		return nil, fmt.Errorf("%s: no such file, and nothing matches it as a pattern", input)
	}
	return names, nil
}
