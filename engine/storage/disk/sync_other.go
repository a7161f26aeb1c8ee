//go:build !unix

package disk

import "os"

// syncDir does nothing where directories cannot be synced.
func syncDir(*os.File) error { return nil }
