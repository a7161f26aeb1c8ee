package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"ndd/engine/storage/object"
)

// A Folder is where the files of a result appear together: a folder on disk, or objects below a prefix.
type Folder interface {
	Write(name string, fill func(*bufio.Writer) error) error
	Commit() error
	Abort()
}

// objectFolder holds uploads, all of which are committed at the end: until then none of them can be seen.
type objectFolder struct {
	ctx     context.Context
	store   *object.Store
	prefix  string
	uploads []*object.Upload
}

// CreateObjects begins a folder of objects. Unless --force says so, there must be none.
func (g *Globals) CreateObjects(path string) (*objectFolder, error) {
	ctx := g.cmd.Context()
	f := &objectFolder{ctx: ctx, store: object.From(ctx), prefix: strings.TrimSuffix(path, "/") + "/"}
	if g.Force {
		return f, nil
	}
	return f, f.store.Absent(ctx, f.prefix)
}

// Write uploads a file, without making it appear.
func (f *objectFolder) Write(name string, fill func(*bufio.Writer) error) error {
	u, err := f.store.Create(f.ctx, f.prefix+name, true) // what is there was looked at before
	if err != nil {
		return err
	}
	f.uploads = append(f.uploads, u)
	w := bufio.NewWriterSize(u, 1<<18)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return u.Finish()
}

// Commit makes all objects appear.
func (f *objectFolder) Commit() error {
	for _, u := range f.uploads {
		if err := u.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// Abort removes what was not committed.
func (f *objectFolder) Abort() {
	for _, u := range f.uploads {
		u.Abort() // what it leaves, the service removes by its own rules
	}
}

// UploadFile copies a file on disk to an object, which appears whole.
func (g *Globals) UploadFile(from, to string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	ctx := g.cmd.Context()
	u, err := object.From(ctx).Create(ctx, to, g.Force)
	if err != nil {
		return err
	}
	defer u.Abort()
	if _, err := io.Copy(u, file); err != nil {
		return err
	}
	return u.Commit()
}
