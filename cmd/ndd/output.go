package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ndd/engine/storage/disk"
)

// An output is standard output, a pipe or a device, or a file that appears whole or not at all.
type output struct {
	io.Writer
	buffer *bufio.Writer // nil for standard output
	stream *os.File      // a pipe or a device: written as it comes, and never replaced
	file   *disk.File
}

// newOutput opens path, or standard output when path is empty or "-".
func (g *globals) newOutput(path string) (*output, error) {
	if isStdout(path) {
		return &output{Writer: g.stdout}, nil
	}
	path, stream, err := destination(path)
	if err != nil {
		return nil, err
	}
	o := &output{}
	if stream {
		o.stream, err = os.OpenFile(path, os.O_WRONLY, 0)
		o.buffer = bufio.NewWriterSize(o.stream, 1<<18)
	} else {
		o.file, err = g.disk.Create(path)
		o.buffer = bufio.NewWriterSize(o.file, 1<<18)
	}
	if err != nil {
		return nil, err
	}
	o.Writer = o.buffer
	return o, nil
}

// isStdout says whether a path means standard output.
func isStdout(path string) bool { return path == "" || path == "-" || path == "/dev/stdout" }

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
	if o.buffer == nil {
		return nil
	}
	if err := o.buffer.Flush(); err != nil {
		return err
	}
	if o.stream != nil {
		return o.stream.Close()
	}
	return o.file.Commit()
}

// abort removes the file unless it was committed.
func (o *output) abort() {
	switch {
	case o.stream != nil:
		o.stream.Close()
	case o.file != nil:
		o.file.Abort()
	}
}
