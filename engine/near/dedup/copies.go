package dedup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"ndd/engine/corpus/document"
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
		if err := c.add(f); err != nil {
			return nil, err
		}
	}
	return c, ctx.Err()
}

// add adds the names that a file's copy may have: its own, and that of its rows if nothing writes its compression.
func (c *Copies) add(f document.File) error {
	name, err := c.name(f, "")
	if err != nil {
		return err
	}
	if c.names[name] {
		return fmt.Errorf("%s is named twice among the inputs", f.Path)
	}
	c.names[name] = true
	c.files++
	ending, err := f.CopyPacking()
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
	target, err := real(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return err
	}
	target = filepath.Join(target, filepath.Base(dir))
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
			top = filepath.Dir(f.Path)
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
			c.root = filepath.Dir(c.root)
		}
	}
	return nil
}

// real returns an absolute path without links.
func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// name returns the name of a file's copy, with another ending in place of its compression's, unless that is "".
func (c *Copies) name(f document.File, ending string) (string, error) {
	dir, err := real(filepath.Dir(f.Path))
	if err != nil {
		return "", err
	}
	base := filepath.Base(f.Path)
	if ending != "" {
		base = strings.TrimSuffix(strings.TrimSuffix(base, ".bz2"), ".xz") + ending
	}
	return filepath.Rel(c.root, filepath.Join(dir, base))
}
