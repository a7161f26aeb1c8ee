package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ndd/engine/store"
)

// An output is standard output, or a file that appears whole or not at all.
type output struct {
	io.Writer
	buffer *bufio.Writer
	file   *os.File // nil for standard output
	path   string
}

// newOutput opens path, or standard output when path is empty or "-".
func (g *globals) newOutput(path string) (*output, error) {
	if path == "" || path == "-" {
		return &output{Writer: g.stdout}, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(f, 1<<18)
	return &output{b, b, f, path}, nil
}

// commit publishes the file.
func (o *output) commit() error {
	if o.file == nil {
		return nil
	}
	if err := o.buffer.Flush(); err != nil {
		return err
	}
	if err := o.file.Chmod(0o644); err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(o.file.Name(), o.path); err != nil {
		return err
	}
	o.file = nil
	return store.SyncDir(filepath.Dir(o.path))
}

// abort removes the file unless it was committed.
func (o *output) abort() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}
