package rewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/corpus/work"
	"example.org/ndd/engine/storage/object"
)

// A Target is the folder of the copies of some inputs. A copy's name is its path below the deepest folder that
// holds all inputs:
//
//	crawl.jsonl.gz         ->  crawl.jsonl.gz
//	pages/                 ->  the files in pages
//	2024/a.jsonl 2025/     ->  2024/a.jsonl, and 2025/ with its files
//	crawl.jsonl.xz         ->  crawl.jsonl.zst
type Target struct {
	// Create creates a file of that name, which may have folders in it, and fills it. Several goroutines call it.
	Create   func(name string, fill func(w io.Writer) error) error
	Meter    *input.Meter // counts the bytes read, if not nil
	Finished *work.Copies // keeps finished copies for another run; may be nil

	root  location
	names map[string]bool
}

// NewTarget returns a target without a Create. It refuses standard input, which has no name, and files that are named
// twice.
func NewTarget(ctx context.Context, inputs []string) (*Target, error) {
	t := &Target{names: map[string]bool{}}
	if err := t.findRoot(ctx, inputs); err != nil {
		return nil, err
	}
	for f, err := range input.Files(ctx, inputs) {
		if err != nil {
			continue // findRoot already returned the error, unless it is a skip
		}
		if err := t.add(f); err != nil {
			return nil, err
		}
	}
	return t, ctx.Err()
}

// add adds the names that a file's copy may have: its own, and the one with the ending of another compression
// if nothing writes its own, as its ending shows.
func (t *Target) add(f input.File) error {
	name, err := t.name(f, "")
	if err != nil {
		return err
	}
	if t.names[name] {
		return fmt.Errorf("%s is named twice among the inputs", f.Path)
	}
	t.names[name] = true
	if name == unpacked(name) {
		return nil
	}
	name = unpacked(name) + unpack.Xz.CopyEnding()
	err = t.checkFree(f, name)
	t.names[name] = true
	return err
}

// checkFree returns an error if another file has a name that a copy gets because it is compressed by zstd.
func (t *Target) checkFree(f input.File, name string) error {
	if t.names[name] {
		return fmt.Errorf("%s: its copy, which is compressed by zstd, would have the name of another's, %s", f.Path, name)
	}
	return nil
}

// findRoot sets root to the deepest folder that holds all inputs.
func (t *Target) findRoot(ctx context.Context, inputs []string) error {
	first := true
	for f, err := range input.Files(ctx, inputs) {
		if _, skipped := errors.AsType[*input.Skip](err); skipped {
			continue
		}
		if err != nil {
			return err
		}
		// A copy needs a name, which a pipe does not have.
		if input.ReadOnce(f.Path) {
			return fmt.Errorf("%s is a pipe and has no name to be copied to: put it in a file", f.Path)
		}
		// Take the folder that the user gave, or the folder of a file.
		var top location
		if f.Root != "" {
			top, err = locate(f.Root)
		} else {
			top, err = folderOf(f.Path)
		}
		if err != nil {
			return err
		}
		// Go up from the root until it holds this folder, too.
		if first {
			t.root, first = top, false
		}
		for !top.isIn(t.root) {
			up := t.root.up()
			if up == t.root || top.scheme != t.root.scheme {
				return fmt.Errorf("%s and %s have no folder in common under which copies could have names: "+
					"copy them one after the other", f.Path, t.root)
			}
			t.root = up
		}
	}
	return nil
}

// A location is a folder: an absolute path with slashes and without links, or the path of objects under their
// scheme. Neither path ends with a slash.
type location struct{ scheme, path string }

// locate returns the location of a folder that exists.
func locate(name string) (location, error) {
	if scheme, path, _ := strings.Cut(name, "://"); object.Is(name) {
		return location{scheme, strings.TrimSuffix(path, "/")}, nil
	}
	name, err := filepath.Abs(name)
	if err == nil {
		name, err = filepath.EvalSymlinks(name)
	}
	return location{path: strings.TrimSuffix(filepath.ToSlash(name), "/")}, err
}

// folderOf returns the folder of a file or an object.
func folderOf(name string) (location, error) {
	if object.Is(name) {
		l, err := locate(name)
		return l.up(), err
	}
	return locate(filepath.Dir(filepath.Clean(name)))
}

// up returns the folder above, or the topmost folder itself.
func (l location) up() location {
	if i := strings.LastIndexByte(l.path, '/'); i >= 0 {
		l.path = l.path[:i]
	}
	return l
}

// isIn reports whether a location is a folder or is below it.
func (l location) isIn(dir location) bool {
	return l.scheme == dir.scheme && strings.HasPrefix(l.path+"/", dir.path+"/")
}

func (l location) String() string {
	if l.scheme != "" {
		return l.scheme + "://" + l.path
	}
	return cmp.Or(l.path, "/")
}

// unpacked returns a name without the ending of a compression that no encoder writes.
func unpacked(name string) string { return strings.TrimSuffix(strings.TrimSuffix(name, ".bz2"), ".xz") }

// name returns the name of a file's copy. Unless ending is "", it replaces the ending of the compression.
func (t *Target) name(f input.File, ending string) (string, error) {
	dir, err := folderOf(f.Path)
	base := path.Base(filepath.ToSlash(f.Path))
	if ending != "" {
		base = unpacked(base) + ending
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir.path+"/"+base, t.root.path), "/"), err
}
