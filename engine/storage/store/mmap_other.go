//go:build !unix

package store

import "os"

// mapFile reads the first n bytes of f, because this system does not map files.
func mapFile(f *os.File, n int64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, err
	}
	return b, nil
}

func unmap([]byte) error { return nil }

func adviseRandom([]byte, bool) {}

func adviseWillNeed([]byte) {}

// DontNeed does nothing, because this system does not map files.
func DontNeed([]byte) {}
