package cli

import (
	"bufio"
	"context"
	"path/filepath"
	"strings"
	"sync"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/object"
)

// A Folder publishes the files of a result together, as a folder on disk or as objects below a
// prefix. Write may be called by several goroutines.
type Folder interface {
	Write(name string, fill func(*bufio.Writer) error) error
	Commit() error
	Abort()
}

// CreateFolder begins an output folder. own reports whether a name may be of an older output, which
// --force replaces.
func (g *Globals) CreateFolder(path string, own func(name string) bool) (Folder, error) {
	if err := g.Apart(path, true); err != nil {
		return nil, err
	}
	switch {
	case object.Is(path):
		ctx := g.cmd.Context()
		f := &objectFolder{ctx: ctx, store: object.From(ctx), prefix: strings.TrimSuffix(path, "/") + "/"}
		return f, g.absent(f.prefix)
	case g.Force:
		return orNil(g.Disk.ReplaceFolder(path, ownOrMarked(path, own)))
	}
	return orNil(g.Disk.CreateFolder(path))
}

// orNil returns no folder beside an error.
func orNil(f *disk.Folder, err error) (Folder, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// CheckFolder returns the error that CreateFolder would return now.
func (g *Globals) CheckFolder(path string, own func(name string) bool) error {
	if err := g.Apart(path, true); err != nil {
		return err
	}
	switch {
	case object.Is(path):
		return g.absent(strings.TrimSuffix(path, "/") + "/")
	case g.Force:
		return disk.Replaceable(path, ownOrMarked(path, own))
	}
	return disk.Absent(filepath.Clean(path))
}

// absent returns an error if there is an object, or one below a prefix, and --force is not given.
func (g *Globals) absent(path string) error {
	if g.Force {
		return nil
	}
	ctx := g.cmd.Context()
	return object.From(ctx).Absent(ctx, path)
}

// An objectFolder holds uploads that Commit makes visible together.
type objectFolder struct {
	ctx     context.Context
	store   *object.Store
	prefix  string
	mu      sync.Mutex // of uploads
	uploads []*object.Upload
}

// Write uploads a file, which stays invisible until Commit.
func (f *objectFolder) Write(name string, fill func(*bufio.Writer) error) error {
	u, err := f.store.Create(f.ctx, f.prefix+name, true) // CreateFolder has looked for older objects
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.uploads = append(f.uploads, u)
	f.mu.Unlock()
	w := bufio.NewWriterSize(u, 1<<18)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return u.Finish()
}

// Commit makes all objects visible.
func (f *objectFolder) Commit() error {
	for _, u := range f.uploads {
		if err := u.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// Abort removes the objects unless they were committed.
func (f *objectFolder) Abort() {
	for _, u := range f.uploads {
		u.Abort()
	}
}
