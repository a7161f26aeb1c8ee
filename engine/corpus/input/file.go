package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"example.org/ndd/engine/storage/object"
)

// File is one file to read.
type File struct {
	Path string
	Root string // the folder that the input named; "" if the input named the file

	listed bool  // the file is an object of a listing, which gave its size
	bytes  int64 // size, if it is listed
}

// Size returns the bytes of the file on disk, or -1 if they are unknown.
func (f File) Size() int64 {
	if f.listed {
		return f.bytes
	}
	if f.Path == Stdin || object.Is(f.Path) {
		return -1
	}
	info, err := os.Stat(f.Path)
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// Copy writes the bytes of the file to w.
func (f File) Copy(ctx context.Context, w io.Writer) error {
	r, err := f.Raw(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return err
}

// Raw opens the file for reading without decompression. The error names the file.
func (f File) Raw(ctx context.Context) (io.ReadCloser, error) {
	if isHDFS(f.Path) {
		return startHadoopCat(ctx, f)
	}
	if object.Is(f.Path) {
		return object.From(ctx).Open(ctx, f.Path)
	}
	r, err := os.Open(f.Path)
	if err != nil {
		return nil, f.Named(err)
	}
	return r, nil
}

// Named returns an error that names the file once: the errors of package os repeat path and operation.
func (f File) Named(err error) error { return fmt.Errorf("%s: %w", f.Path, bareCause(err)) }

// bareCause returns an error of package os without path and operation.
func bareCause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
