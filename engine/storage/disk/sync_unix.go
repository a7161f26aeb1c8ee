//go:build unix

package disk

import "os"

func syncDir(d *os.File) error { return d.Sync() }
