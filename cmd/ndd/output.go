package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ndd/engine/store"
)

// An output is standard output, a pipe or a device, or a file that appears whole or not at all.
type output struct {
	io.Writer
	buffer *bufio.Writer
	file   *os.File // nil for standard output
	path   string
	stream bool // written as it comes, and never replaced: /dev/null must stay what it is
}

// newOutput opens path, or standard output when path is empty or "-".
func (g *globals) newOutput(path string) (*output, error) {
	if path == "" || path == "-" || path == "/dev/stdout" {
		return &output{Writer: g.stdout}, nil
	}
	path, stream, err := destination(path)
	if err != nil {
		return nil, err
	}
	var f *os.File
	if stream {
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
	} else {
		f, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	}
	if err != nil {
		return nil, err
	}
	var w io.Writer = f
	if g.disk != nil {
		w = g.disk(f)
	}
	b := bufio.NewWriterSize(w, 1<<18)
	return &output{b, b, f, path, stream}, nil
}

// destination is where a file for path goes, through links, and whether a pipe or a device stands there.
// A folder is an error.
func destination(path string) (at string, stream bool, err error) {
	const linksMost = 40 // as many as Linux follows
	at = path
	for range linksMost {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return "", false, fmt.Errorf("%s: is a directory", path)
		case err == nil && !info.Mode().IsRegular():
			return at, true, nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return at, false, nil // no link, or nothing yet
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		at = to
	}
	return "", false, fmt.Errorf("%s: too many links", path)
}

// commit publishes the file.
func (o *output) commit() error {
	if o.file == nil {
		return nil
	}
	if err := o.buffer.Flush(); err != nil {
		return err
	}
	if o.stream {
		return o.file.Close()
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
		if !o.stream {
			os.Remove(o.file.Name())
		}
	}
}

// An outputDir is a folder of files that appears whole or not at all.
type outputDir struct {
	path, tmp string
	disk      func(io.Writer) io.Writer // what writing goes through, nil outside of tests
	files     int                       // written so far
}

// syncEach is how many files are made durable one by one, at some milliseconds
// each. With more, the file system is, at the end.
const syncEach = 32

// newOutputDir begins the folder path, at which nothing may stand.
func (g *globals) newOutputDir(path string) (*outputDir, error) {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s: %w: remove it first, or choose another name", path, os.ErrExist)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return nil, err
	}
	return &outputDir{path: path, tmp: tmp, disk: g.disk}, nil
}

// write makes a file of the folder, or of folders in it.
func (d *outputDir) write(name string, fill func(w io.Writer) error) error {
	path := filepath.Join(d.tmp, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	var w io.Writer = f
	if d.disk != nil {
		w = d.disk(f)
	}
	b := bufio.NewWriterSize(w, 1<<18)
	if err := fill(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if d.files++; d.files <= syncEach || !canSyncAll {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return f.Close()
}

// writeLines is write for what is written piece by piece.
func (d *outputDir) writeLines(name string, fill func(w *bufio.Writer) error) error {
	return d.write(name, func(w io.Writer) error { return fill(w.(*bufio.Writer)) })
}

// commit publishes the folder.
func (d *outputDir) commit() error {
	if err := os.Chmod(d.tmp, 0o755); err != nil {
		return err
	}
	if err := d.sync(); err != nil {
		return err
	}
	if err := os.Rename(d.tmp, d.path); err != nil {
		return err
	}
	d.tmp = ""
	return store.SyncDir(filepath.Dir(d.path))
}

// sync makes the names in the folder and its folders durable, and the files
// where that has been left.
func (d *outputDir) sync() error {
	if d.files > syncEach && canSyncAll {
		return syncAll(d.tmp)
	}
	return filepath.WalkDir(d.tmp, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return store.SyncDir(path)
	})
}

// abort removes the folder unless it was committed.
func (d *outputDir) abort() {
	if d.tmp != "" {
		os.RemoveAll(d.tmp)
	}
}
