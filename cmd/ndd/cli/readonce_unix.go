//go:build unix

package cli

import (
	"io/fs"
	"syscall"
)

// fileID returns what the system knows a file by, under whatever name.
func fileID(info fs.FileInfo) (id any, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, false
	}
	return [2]uint64{uint64(s.Dev), uint64(s.Ino)}, true
}
