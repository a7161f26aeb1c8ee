package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ndd/engine/storage/object"
)

// links follows symbolic links from folders to files. It ensures that no file is read twice because of a link.
type links struct {
	inputs []string
	real   []string          // the inputs, absolute and without links; nil before the first link
	seen   map[string]string // the link that was followed, by the file that it leads to
	blobs  []string          // folders whose files are read by the names of links to them, without links
}

// isBlobs reports whether a folder has the files of a Hugging Face cache, by their checksums. Their names are those of
// the links in the folder next to it:
//
//	blobs/4a7d1ed414474e40
//	snapshots/main/train.jsonl -> ../../blobs/4a7d1ed414474e40
func isBlobs(path string) bool {
	info, err := os.Stat(filepath.Join(filepath.Dir(path), "snapshots"))
	return filepath.Base(path) == "blobs" && err == nil && info.IsDir()
}

// follow returns the file that a link in the folder root leads to, under the link's own name, or a skip with the reason
// why it is not read.
func (l *links) follow(root, path string) (File, *Skip) {
	f := File{Path: path, Root: root}
	no := func(r Reason, format string, args ...any) (File, *Skip) {
		return f, &Skip{Source: path, Reason: r, Err: fmt.Errorf(format, args...)}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return no(Special, "a symbolic link that leads nowhere")
	case err != nil: // for example, a loop
		return no(Special, "a symbolic link: %w", bareCause(err))
	case info.IsDir():
		return no(Special, "a symbolic link to a folder, which is read only where it is named itself")
	case !info.Mode().IsRegular():
		return no(Special, "a symbolic link to %s, which is read only where it is named itself", kindOf(info.Mode()))
	}
	to := RealPath(path)
	isBlob := slices.ContainsFunc(l.blobs, func(dir string) bool { return isBelow(to, dir) })
	if !isBlob && l.isRead(to) {
		return no(Again, "a symbolic link to %s, which is read itself", to)
	}
	if first, again := l.seen[to]; again {
		return no(Again, "a symbolic link to %s, as %s is", to, first)
	}
	if l.seen == nil {
		l.seen = map[string]string{}
	}
	l.seen[to] = path
	return f, nil
}

// isRead reports whether a file is an input, or is in an input folder and not hidden. path has no symbolic links.
func (l *links) isRead(path string) bool {
	if l.real == nil {
		l.real = []string{}
		for _, input := range l.inputs {
			names, _ := Matches(input) // a wrong pattern is reported when it is read
			for _, name := range names {
				if name != Stdin && !object.Is(name) {
					l.real = append(l.real, RealPath(name))
				}
			}
		}
	}
	return slices.ContainsFunc(l.real, func(input string) bool {
		return isBelow(path, input) && !strings.Contains(strings.TrimPrefix(path, input), string(filepath.Separator)+".")
	})
}

// isBelow reports whether a path is a folder or is in it.
func isBelow(path, dir string) bool {
	sep := string(filepath.Separator)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, sep)+sep)
}

// RealPath returns a path without links, absolute, as far as that can be found out.
func RealPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	if p, err := filepath.Abs(path); err == nil {
		path = p
	}
	return path
}

// kindOf names the kind of something that is neither a file nor a folder.
func kindOf(t fs.FileMode) string {
	switch {
	case t&fs.ModeNamedPipe != 0:
		return "a pipe"
	case t&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
