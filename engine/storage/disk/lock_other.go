//go:build !linux && !darwin && !freebsd

package disk

import "os"

func tryLock(*os.File) error { return errNoLocks }

// FreeBytes returns the free space of the file system of the folder dir; ok is false if it is unknown.
func FreeBytes(string) (bytes uint64, ok bool) { return 0, false }
