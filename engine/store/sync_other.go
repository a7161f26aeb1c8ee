//go:build !unix

package store

import "os"

// syncDir does nothing where directories cannot be synced.
func syncDir(*os.File) error { return nil }
