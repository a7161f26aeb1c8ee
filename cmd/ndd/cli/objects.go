package cli

import (
	"bufio"
	"context"
	"strings"
	"sync"

	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/object"
)

// A Folder publishes the files of a result together, as a folder on disk or as objects with a prefix. Several
// goroutines may call Write.
type Folder interface {
	Write(name string, fill func(*bufio.Writer) error) error
	publisher
}

// CreateFolder claims and creates an output folder. On disk it has a [Marker].
func (g *Files) CreateFolder(path string) (Folder, error) {
	if err := g.CheckFolder(path); err != nil {
		return nil, err
	}
	if object.Is(path) {
		ctx := g.cmd.Context()
		return &objectFolder{ctx: ctx, store: object.From(ctx), prefix: strings.TrimSuffix(path, "/") + "/"}, nil
	}
	if err := g.reserve(path); err != nil {
		return nil, err
	}
	create := g.Disk.CreateFolder
	if g.Force {
		create = func(path string) (*disk.Folder, error) { return g.Disk.ReplaceFolder(path, isMarked(path)) }
	}
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	return &markedFolder{Folder: f}, nil
}

// An objectFolder holds uploads that Commit makes visible together.
type objectFolder struct {
	ctx     context.Context
	store   *object.Store
	prefix  string
	mu      sync.Mutex // guards uploads
	uploads []*object.Upload
}

// Write uploads a file, which stays invisible until Commit.
func (f *objectFolder) Write(name string, fill func(*bufio.Writer) error) error {
	u, err := f.store.Create(f.ctx, f.prefix+name, true) // CreateFolder has checked for older objects
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
