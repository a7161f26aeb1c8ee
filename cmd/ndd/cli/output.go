package cli

import (
	"bufio"
	"io"
	"os"

	"example.org/ndd/engine/storage/object"
)

// An Output is standard output, a pipe, a device, an object, or a file that appears only when it is complete.
type Output struct {
	*bufio.Writer
	target target // nil for standard output, which [Globals.Close] flushes
}

// A target is the file or stream that an output is written to.
type target interface {
	io.Writer
	publisher
}

// NewOutput opens path, or standard output when path is empty or "-".
func (g *Files) NewOutput(path string) (*Output, error) {
	if IsStdout(path) {
		return &Output{Writer: bufio.NewWriterSize(g.Stdout, stdoutBytes)}, nil // bufio returns g.Stdout itself
	}
	to, err := g.target(path)
	if err != nil {
		return nil, err
	}
	return &Output{bufio.NewWriterSize(to, 1<<18), to}, nil
}

func (g *Files) target(path string) (target, error) {
	if object.Is(path) {
		ctx := g.cmd.Context()
		return object.From(ctx).Create(ctx, path, g.Force)
	}
	path, isStream, err := Destination(path)
	if err != nil {
		return nil, err
	}
	if isStream {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return stream{f}, err
	}
	if err := g.Disk.MakeParents(path); err != nil {
		return nil, err
	}
	return g.Disk.Create(path)
}

// A stream is a pipe or a device, which is never replaced.
type stream struct{ *os.File }

func (s stream) Commit() error { return s.Close() }
func (s stream) Abort()        { s.Close() }

// Commit publishes the file.
func (o *Output) Commit() error {
	if o.target == nil {
		return nil
	}
	if err := o.Flush(); err != nil {
		return err
	}
	return o.target.Commit()
}

// Abort removes the file unless it was committed.
func (o *Output) Abort() {
	if o.target != nil {
		o.target.Abort()
	}
}

// WriteOutput calls fill with a file or standard output. The file appears when it is complete.
func (g *Files) WriteOutput(path string, fill func(*Output) error) error {
	o, err := g.NewOutput(path)
	if err != nil {
		return err
	}
	defer o.Abort()
	if err := fill(o); err != nil {
		return err
	}
	return o.Commit()
}

// IsStdout reports whether a path means standard output.
func IsStdout(path string) bool { return path == "" || path == "-" || path == "/dev/stdout" }
