//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package disk

import "os"

// Folders are neither synced nor locked here: not every one of these systems can.

func syncDir(*os.File) error { return nil }

const canSyncAll = false

func syncAll(string) error { return nil }

func flock(*os.File) error { return nil }
