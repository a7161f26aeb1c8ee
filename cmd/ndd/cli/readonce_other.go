//go:build !unix

package cli

import "io/fs"

// fileID returns nothing: files are known by their paths.
func fileID(fs.FileInfo) (id any, ok bool) { return nil, false }
