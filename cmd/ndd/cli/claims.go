package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/object"
)

// claims are the outputs of a command, which claims each before its work. A claim fails if the output is an input, is
// in an input or contains one, under any name. It also fails if it is another output, or if another process writes to
// it.
type claims struct {
	globals *Globals
	Force   bool // replace earlier outputs

	outputs []output  // claimed outputs
	inputs  *inputSet // nil before the first output
	folders []string  // folders among the inputs, as the user gave them
}

// An output is a claimed output of a command.
type output struct {
	name   string      // path as the user gave it
	path   string      // path without links, as [realPath] returns it
	info   fs.FileInfo // nil for objects, and if nothing has the name
	folder bool
}

// claim records an output, or returns wrong usage if it conflicts with an input or another output.
func (c *claims) claim(name string, folder bool) error {
	o := output{name: name, path: name, folder: folder}
	if !object.Is(name) {
		if target, _, err := Destination(name); err == nil && !folder {
			o.path = target
		}
		o.info, _ = os.Stat(o.path)
	}
	o.path = realPath(o.path)
	for _, other := range c.outputs {
		switch {
		case o.path == other.path || o.isFile(other.info):
			return Usagef("%s: two outputs cannot be one file or folder: give each its own name", name)
		case o.folder && isBelow(other.path, o.path) || other.folder && isBelow(o.path, other.path):
			return Usagef("%s and %s: no output can be in a folder that is another one: give it its own place", other.name, name)
		}
	}
	if c.inputs == nil {
		c.findInputs()
	}
	if err := c.keepInputs(&o); err != nil {
		return err
	}
	c.outputs = append(c.outputs, o)
	return nil
}

// isFile reports whether the output is the same regular file as info.
func (o *output) isFile(info fs.FileInfo) bool {
	return o.info != nil && info != nil && info.Mode().IsRegular() && os.SameFile(o.info, info)
}

// RegisterForce adds the flag --force. Without it no command replaces a file or folder. With it a
// folder is replaced if its [Marker] lists all its files.
func (c *claims) RegisterForce(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.Force, "force", false, "replace an earlier output of ndd")
}

// CheckOutput claims an output file before the work. It returns an error if the file exists without --force, or if it
// is not an earlier output of ndd. columns are the columns of the table, if the output is one. Standard output, pipes
// and devices are always allowed.
func (c *claims) CheckOutput(path string, columns ...result.Column) error {
	if IsStdout(path) {
		return nil
	}
	if err := c.claim(path, false); err != nil {
		return err
	}
	if object.Is(path) {
		return c.absent(path)
	}
	target, stream, err := Destination(path)
	if err != nil || stream {
		return err
	}
	if c.Force {
		err = checkReplaceable(target, columns)
	} else {
		err = disk.CheckAbsent(target)
	}
	if err != nil {
		return err
	}
	return c.reserve(target)
}

// CheckFolder claims an output folder, and returns the error that CreateFolder would return now.
func (c *claims) CheckFolder(path string) error {
	if err := c.claim(path, true); err != nil {
		return err
	}
	current, err := os.Getwd()
	switch {
	case object.Is(path):
		return c.absent(strings.TrimSuffix(path, "/") + "/")
	case err == nil && isBelow(filepath.Join(input.RealPath(current), "x"), realPath(path)):
		return Usagef("%s: is or contains the current folder, which is never replaced: choose another name", path)
	}
	if err = disk.CheckReplaceable(path, isMarked(path)); err == nil && !c.Force {
		err = disk.CheckAbsent(filepath.Clean(path)) // --force would allow it
	}
	return err
}

// absent returns an error if the object, or an object with the prefix, exists and --force is not given.
func (c *claims) absent(path string) error {
	if c.Force {
		return nil
	}
	ctx := c.globals.cmd.Context()
	return object.From(ctx).Absent(ctx, path)
}

// reserve locks a path on disk against other processes until the command ends.
func (c *claims) reserve(path string) error {
	release, err := c.globals.Disk.Reserve(path)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("%s: another process writes to it: wait until that ends, or choose another name", path)
	}
	if err == nil {
		c.globals.closers = append(c.globals.closers, release)
	}
	return err
}

// Claim claims the folder of a new index. Its parent folder must exist.
func (c *claims) Claim(path string) error {
	if err := cmp.Or(c.claim(path, true), disk.CheckParent(path)); err != nil {
		return err
	}
	return c.reserve(path)
}
