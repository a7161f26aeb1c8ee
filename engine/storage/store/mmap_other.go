//go:build !unix

package store

import "os"

// mapFile reads the n bytes of f, where files cannot be mapped.
func mapFile(f *os.File, n int64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, err
	}
	return b, nil
}

func unmap([]byte) error { return nil }

func adviseScattered([]byte, bool) {}

func adviseSoon([]byte) {}

// DontNeed does nothing, where files cannot be mapped.
func DontNeed([]byte) {}
