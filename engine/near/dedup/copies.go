package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/storage/object"
)

// Copies are where the files of some inputs are copied to, under these names: their
// paths below the deepest folder that holds all inputs.
//
//	crawl.jsonl.gz         ->  crawl.jsonl.gz
//	pages/                 ->  the files in pages
//	2024/a.jsonl 2025/     ->  2024/a.jsonl, and 2025/ with its files
//	crawl.jsonl.xz         ->  crawl.jsonl.zst
type Copies struct {
	Create Create          // creates a copy
	Meter  *document.Meter // counts what is read, if not nil
	Work   Work            // keeps finished copies without what goes for another run; may be nil

	root  location
	names map[string]bool
}

// NewCopies returns copies without a Create, and refuses what cannot be copied: standard input, and a
// file that is named twice.
func NewCopies(ctx context.Context, inputs []string) (*Copies, error) {
	c := &Copies{names: map[string]bool{}}
	if err := c.findRoot(ctx, inputs); err != nil {
		return nil, err
	}
	for f, err := range document.Files(ctx, inputs) {
		if err != nil {
			continue // it came up before
		}
		if err := c.add(ctx, f); err != nil {
			return nil, err
		}
	}
	return c, ctx.Err()
}

// add adds the names that a file's copy may have: its own, and that of its rows if nothing writes
// its compression.
func (c *Copies) add(ctx context.Context, f document.File) error {
	name, err := c.name(f, "")
	if err != nil {
		return err
	}
	if c.names[name] {
		return fmt.Errorf("%s is named twice among the inputs", f.Path)
	}
	c.names[name] = true
	ending, err := f.CopyPacking(ctx)
	if err != nil || ending == "" {
		return nil // what cannot be opened is named when it is read
	}
	if name, err = c.name(f, ending); err != nil {
		return err
	}
	if c.names[name] {
		return fmt.Errorf("%s: its copy, which is compressed by zstd, would have the name of another's, %s", f.Path, name)
	}
	c.names[name] = true
	return nil
}

// findRoot sets root to the deepest folder that holds all inputs.
func (c *Copies) findRoot(ctx context.Context, inputs []string) error {
	first := true
	for f, err := range document.Files(ctx, inputs) {
		if _, skipped := errors.AsType[*document.Skip](err); skipped {
			continue
		}
		if err != nil {
			return err
		}
		if document.ReadOnce(f.Path) {
			return fmt.Errorf("%s is a pipe and has no name to be copied to: put it in a file", f.Path)
		}
		var top location
		if f.Root != "" {
			top, err = locate(f.Root)
		} else {
			top, err = folderOf(f.Path)
		}
		if err != nil {
			return err
		}
		if first {
			c.root, first = top, false
		}
		for !top.within(c.root) {
			up := c.root.up()
			if up == c.root || top.scheme != c.root.scheme {
				return fmt.Errorf("%s and %s have no folder in common under which copies could have names: "+
					"copy them one after the other", f.Path, c.root)
			}
			c.root = up
		}
	}
	return nil
}

// A location is a folder: an absolute path with slashes and without links, or the path of objects
// under their scheme. Neither ends in a slash.
type location struct{ scheme, path string }

// locate returns the location of a folder that is there.
func locate(name string) (location, error) {
	if scheme, rest, _ := strings.Cut(name, "://"); object.Is(name) {
		return location{scheme, strings.TrimSuffix(rest, "/")}, nil
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

// within reports whether a location is a folder or lies below it.
func (l location) within(dir location) bool {
	return l.scheme == dir.scheme && strings.HasPrefix(l.path+"/", dir.path+"/")
}

func (l location) String() string {
	if l.scheme != "" {
		return l.scheme + "://" + l.path
	}
	return cmp.Or(l.path, "/")
}

// name returns the name of a file's copy, with another ending in place of its compression's, unless
// that is "".
func (c *Copies) name(f document.File, ending string) (string, error) {
	dir, err := folderOf(f.Path)
	base := path.Base(filepath.ToSlash(f.Path))
	if ending != "" {
		base = strings.TrimSuffix(strings.TrimSuffix(base, ".bz2"), ".xz") + ending
	}
	return strings.TrimPrefix(strings.TrimPrefix(dir.path+"/"+base, c.root.path), "/"), err
}
