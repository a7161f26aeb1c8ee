//go:build unix

package store

import "os"

func syncDir(d *os.File) error { return d.Sync() }
