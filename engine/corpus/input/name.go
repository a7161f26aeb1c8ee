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

// ReadOnce reports whether an input cannot be read a second time: standard input, or a pipe by
// another name.
func ReadOnce(input string) bool {
	if object.Is(input) {
		return false
	}
	info, err := os.Stat(input)
	return input == Stdin || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Matches returns the names that an input stands for: those that match it, where it is a pattern and no
// file is called so, else the input itself.
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
