//go:build !unix

package store

import (
	"io"
	"os"
)

// mapFile reads the n bytes of f, where files cannot be mapped.
func mapFile(f *os.File, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(f, b)
	return b, err
}

func unmap([]byte) error { return nil }
