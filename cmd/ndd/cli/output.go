package cli

import (
	"bufio"
	"io"
	"os"

	"github.com/spf13/cobra"

	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/disk"
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

// RegisterForce adds the flag --force. Without it no command replaces a file or folder. With it a
// folder is replaced if its [Marker] lists all its files.
func (g *Files) RegisterForce(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&g.Force, "force", false, "replace an earlier output of ndd")
}

// CheckOutput claims an output file before the work. It returns an error if the file exists without --force, or if it
// is not an earlier output of ndd. columns are the columns of the table, if the output is one. Standard output, pipes
// and devices are always allowed.
func (g *Files) CheckOutput(path string, columns ...result.Column) error {
	if IsStdout(path) {
		return nil
	}
	if err := g.claim(path, false); err != nil {
		return err
	}
	if object.Is(path) {
		return g.absent(path)
	}
	target, stream, err := Destination(path)
	if err != nil || stream {
		return err
	}
	if g.Force {
		err = checkReplaceable(target, columns)
	} else {
		err = disk.CheckAbsent(target)
	}
	if err != nil {
		return err
	}
	return g.reserve(target)
}

// IsStdout reports whether a path means standard output.
func IsStdout(path string) bool { return path == "" || path == "-" || path == "/dev/stdout" }
