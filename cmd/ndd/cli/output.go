package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/object"
)

// An output is standard output, a pipe or a device, or a file that appears whole or not at all.
type output struct {
	io.Writer
	buffer *bufio.Writer // nil for standard output
	stream *os.File      // a pipe or a device: written as it comes, and never replaced
	file   *disk.File
	upload *object.Upload
}

// NewOutput opens path, or standard output when path is empty or "-".
func (g *Globals) NewOutput(path string) (*output, error) {
	if IsStdout(path) {
		return &output{Writer: g.Stdout}, nil
	}
	o := &output{}
	if object.Is(path) {
		ctx := g.cmd.Context()
		var err error
		if o.upload, err = object.From(ctx).Create(ctx, path, g.Force); err != nil {
			return nil, err
		}
		o.buffer = bufio.NewWriterSize(o.upload, 1<<18)
		o.Writer = o.buffer
		return o, nil
	}
	path, stream, err := Destination(path)
	if err != nil {
		return nil, err
	}
	if stream {
		o.stream, err = os.OpenFile(path, os.O_WRONLY, 0)
		o.buffer = bufio.NewWriterSize(o.stream, 1<<18)
	} else {
		o.file, err = g.Disk.Create(path)
		o.buffer = bufio.NewWriterSize(o.file, 1<<18)
	}
	if err != nil {
		return nil, err
	}
	o.Writer = o.buffer
	return o, nil
}

// RegisterForce adds the flag --force: the rule of all commands is that an output does not take the
// place of a file or folder that is there, unless that is asked for. A folder is replaced only if
// it holds nothing but what such an output has.
func (g *Globals) RegisterForce(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&g.Force, "force", false, "replace the output if it exists already")
}

// CheckOutput refuses an output file that is there already, before the work, without --force.
// Standard output, pipes and devices are not replaced but written to.
// An output that another one of the same command is already written to is refused with --force, too.
func (g *Globals) CheckOutput(path string) error {
	if IsStdout(path) {
		return nil
	}
	for _, other := range g.outputs {
		if samePath(path, other) {
			return Usagef("%s: two outputs cannot be one file: give each its own name", path)
		}
	}
	g.outputs = append(g.outputs, path)
	if g.Force {
		return nil
	}
	if object.Is(path) {
		ctx := g.cmd.Context()
		return object.From(ctx).Absent(ctx, path)
	}
	at, stream, err := Destination(path)
	if err != nil || stream {
		return err
	}
	return disk.Absent(at)
}

// KeepInputs returns an error if an output of the command would take the place of one of its inputs.
func (g *Globals) KeepInputs(inputs []string) error {
	for _, in := range inputs {
		for _, out := range g.outputs {
			if info, err := os.Stat(out); err == nil && info.Mode().IsRegular() && samePath(in, out) {
				return Usagef("%s: is an input, which the output would replace: choose another name for the output", out)
			}
		}
	}
	return nil
}

// samePath reports whether two paths are of one file, there or not.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	of, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && of.Mode().IsRegular() && os.SameFile(of, other)
}

// CreateFolder begins an output folder, whose files have the names that own accepts.
func (g *Globals) CreateFolder(path string, own func(name string) bool) (Folder, error) {
	if object.Is(path) {
		f, err := g.CreateObjects(path)
		return orNone(f, err)
	}
	if g.Force {
		f, err := g.Disk.ReplaceFolder(path, own)
		return orNone(f, err)
	}
	f, err := g.Disk.CreateFolder(path)
	return orNone(f, err)
}

// orNone returns a folder, or nil beside an error: not a nil of its type, which would look like one.
func orNone(f Folder, err error) (Folder, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Named returns what accepts these names and no others.
func Named(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// IsStdout says whether a path means standard output.
func IsStdout(path string) bool { return path == "" || path == "-" || path == "/dev/stdout" }

// Destination follows links from path to where an output goes, and says whether that is a pipe or a
// device. A folder is an error.
func Destination(path string) (at string, stream bool, err error) {
	const linksMax = 40 // as many as Linux follows
	at = path
	for range linksMax {
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

// Commit publishes the file.
func (o *output) Commit() error {
	if o.buffer == nil {
		return nil
	}
	if err := o.buffer.Flush(); err != nil {
		return err
	}
	switch {
	case o.upload != nil:
		return o.upload.Commit()
	case o.stream != nil:
		return o.stream.Close()
	}
	return o.file.Commit()
}

// Abort removes the file unless it was committed.
func (o *output) Abort() {
	switch {
	case o.upload != nil:
		o.upload.Abort()
	case o.stream != nil:
		o.stream.Close()
	case o.file != nil:
		o.file.Abort()
	}
}
