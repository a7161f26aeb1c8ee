package dedup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/storage/object"
)

// Copies has the names under which the files of some inputs are copied: their
// paths below the deepest folder that holds all inputs.
//
//	crawl.jsonl.gz         ->  crawl.jsonl.gz
//	pages/                 ->  what is in pages
//	2024/a.jsonl 2025/     ->  2024/a.jsonl, and 2025/ with what is in it
//	crawl.jsonl.xz         ->  crawl.jsonl.zst
type Copies struct {
	root  string
	names map[string]bool
	files int
}

// Len returns the number of files.
func (c *Copies) Len() int { return c.files }

// Has reports whether a copy has that name, a path relative to the folder of the copies.
func (c *Copies) Has(name string) bool { return c.names[name] }

// NewCopies returns the names of the copies, and refuses what cannot be copied to the folder
// dir: standard input, a file that is named twice, and a dir within an input,
// where the copies would be inputs of the next run.
func NewCopies(ctx context.Context, inputs []string, dir string) (*Copies, error) {
	c := &Copies{names: map[string]bool{}}
	if err := c.findRoot(ctx, inputs, dir); err != nil {
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

// add adds the names that a file's copy may have: its own, and that of its rows if nothing writes its compression.
func (c *Copies) add(ctx context.Context, f document.File) error {
	name, err := c.name(f, "")
	if err != nil {
		return err
	}
	if c.names[name] {
		return fmt.Errorf("%s is named twice among the inputs", f.Path)
	}
	c.names[name] = true
	c.files++
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
func (c *Copies) findRoot(ctx context.Context, inputs []string, dir string) error {
	target, err := real(folderOf(cleaned(dir)))
	if err != nil {
		return err
	}
	target = joined(target, path.Base(filepath.ToSlash(cleaned(dir))))
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
		top := f.Root
		if top == "" {
			top = folderOf(f.Path)
		}
		if top, err = real(top); err != nil {
			return err
		}
		if f.Root != "" && within(target, top) {
			return fmt.Errorf("%s lies in the input %s: copies would be inputs of the next run", dir, f.Root)
		}
		if first {
			c.root, first = top, false
		}
		for !within(top, c.root) {
			up := folderOf(c.root)
			if up == c.root || object.Is(top) != object.Is(c.root) {
				return fmt.Errorf("%s and %s have no folder in common under which copies could have names: copy them one after the other", f.Path, c.root)
			}
			c.root = up
		}
	}
	return nil
}

// real returns an absolute path without links.
func real(name string) (string, error) {
	if object.Is(name) {
		return strings.TrimSuffix(name, "/"), nil
	}
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// folderOf returns the folder of a file, or what stands before the last slash of an object's path.
func folderOf(name string) string {
	if !object.Is(name) {
		return filepath.Dir(name)
	}
	start := strings.Index(name, "://") + len("://")
	if i := strings.LastIndexByte(name[start:], '/'); i > 0 {
		return name[:start+i]
	}
	return name
}

// cleaned returns a path in its shortest form.
func cleaned(path string) string {
	if object.Is(path) {
		return strings.TrimSuffix(path, "/")
	}
	return filepath.Clean(path)
}

// joined returns the path of what a folder has under a name.
func joined(dir, name string) string {
	if object.Is(dir) {
		return dir + "/" + name
	}
	return filepath.Join(dir, name)
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	if object.Is(path) || object.Is(dir) {
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// name returns the name of a file's copy, with another ending in place of its compression's, unless that is "".
func (c *Copies) name(f document.File, ending string) (string, error) {
	dir, err := real(folderOf(f.Path))
	if err != nil {
		return "", err
	}
	base := path.Base(filepath.ToSlash(f.Path))
	if ending != "" {
		base = strings.TrimSuffix(strings.TrimSuffix(base, ".bz2"), ".xz") + ending
	}
	if object.Is(dir) {
		return strings.TrimPrefix(strings.TrimPrefix(dir+"/"+base, c.root), "/"), nil
	}
	return filepath.Rel(c.root, filepath.Join(dir, base))
}
