package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/object"
)

// Files are the globals of a command that reads inputs or writes outputs. The command claims each output before its
// work. A claim fails if the output is an input, is in an input or contains one, under any name. It also fails if it
// is another output, or if another process writes to it.
type Files struct {
	*Globals
	Skipped skippedFlag
	Raw     bool // fingerprint files are read as integers, without looking at their content
	Force   bool // replace earlier outputs

	noFiles bool      // the share of --shard is empty
	outputs []output  // claimed outputs
	inputs  *inputSet // nil before the first output
	folders []string  // folders among the inputs, as the user gave them
}

// NewFiles returns the Files of a command. [Globals.Close] ends them.
func (g *Globals) NewFiles() *Files {
	f := &Files{Globals: g}
	g.closers = append(g.closers, f.Skipped.abort)
	return f
}

// inputFlags are the flags that name inputs. Arguments are inputs, too.
var inputFlags = []string{"add", "against", "compare", "dropped", "evals", "index", "method-file", "pairs",
	"recipe", "scan"}

// An output is a claimed output of a command.
type output struct {
	name   string      // path as the user gave it
	path   string      // path without links, as [realPath] returns it
	info   fs.FileInfo // nil for objects, and if nothing has the name
	folder bool
}

// claim records an output, or returns wrong usage if it conflicts with an input or another output.
func (g *Files) claim(name string, folder bool) error {
	o := output{name: name, path: name, folder: folder}
	if !object.Is(name) {
		if target, _, err := Destination(name); err == nil && !folder {
			o.path = target
		}
		o.info, _ = os.Stat(o.path)
	}
	o.path = realPath(o.path)
	for _, other := range g.outputs {
		switch {
		case o.path == other.path || o.isFile(other.info):
			return Usagef("%s: two outputs cannot be one file or folder: give each its own name", name)
		case o.folder && isBelow(other.path, o.path) || other.folder && isBelow(o.path, other.path):
			return Usagef("%s and %s: no output can be in a folder that is another one: give it its own place", other.name, name)
		}
	}
	if g.inputs == nil {
		g.findInputs()
	}
	if err := g.keepInputs(&o); err != nil {
		return err
	}
	g.outputs = append(g.outputs, o)
	return nil
}

// isFile reports whether the output is the same regular file as info.
func (o *output) isFile(info fs.FileInfo) bool {
	return o.info != nil && info != nil && info.Mode().IsRegular() && os.SameFile(o.info, info)
}

// keepInputs returns wrong usage if an output is an input, is in one or contains one.
func (g *Files) keepInputs(o *output) error {
	// These errors name the input.
	is := func(in string) error {
		if in == o.name {
			return Usagef("%s: is an input, which the output would replace: choose another name for the output", in)
		}
		return Usagef("%s: is the input %s, which the output would replace: choose another name for the output", o.name, in)
	}
	contains := func(in string) error {
		return Usagef("%s: contains the input %s, which the output would replace: choose another name for the output",
			o.name, in)
	}
	// Compare the names, without links.
	if in, found := g.inputs.paths[o.path]; found {
		return is(in)
	}
	// The output may be in a folder that is an input.
	for folder := o.path; folder != filepath.Dir(folder); {
		folder = filepath.Dir(folder)
		if in, found := g.inputs.folders[folder]; found {
			return Usagef("%s: is in the input %s, so the next run would read it: choose another place for the output",
				o.name, in)
		}
	}
	// The output may contain an input, or match a pattern of objects.
	for _, in := range slices.Sorted(maps.Keys(g.inputs.paths)) {
		if matched, _ := path.Match(in, o.path); matched && object.Is(g.inputs.paths[in]) {
			return is(g.inputs.paths[in])
		}
		if o.folder && isBelow(in, o.path) {
			return contains(g.inputs.paths[in])
		}
	}
	// The output may be another name of an input.
	if o.info == nil {
		return nil
	}
	for _, f := range g.inputs.files[stampOf(o.info)] {
		if o.isFile(f.FileInfo) {
			return is(f.name)
		}
	}
	// The output may be another name of a file in an input folder.
	for f, err := range input.Files(g.cmd.Context(), g.folders) { // the folders may have links, and hard links
		if err != nil {
			continue // reading reports it
		}
		info, _ := os.Stat(f.Path)
		if realPath := input.RealPath(f.Path); o.path == realPath || o.isFile(info) {
			return is(f.Path)
		} else if o.folder && isBelow(realPath, o.path) {
			return contains(f.Path)
		}
	}
	return nil
}

// findInputs finds the inputs of the command among its arguments and flags.
func (g *Files) findInputs() {
	g.inputs = newInputSet()
	names := slices.Clone(g.cmd.Flags().Args())
	g.cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(inputFlags, f.Name) && f.Name+" "+g.cmd.Name() != "members shingles" {
			return
		}
		if list, several := f.Value.(pflag.SliceValue); several {
			names = append(names, list.GetSlice()...)
		} else {
			names = append(names, f.Value.String())
		}
		if f.Name == "recipe" {
			recipe, _ := RecipeOf(f.Value.String()) // reading reports the error
			names = append(names, recipe.Files()...)
		}
	})
	for _, name := range names {
		matches, _ := input.Matches(name) // reading reports the error
		for _, in := range matches {
			info, err := g.stat(in)
			if err != nil && !object.Is(in) {
				continue // the argument is not a file
			}
			g.inputs.addFile(in, info, in)
			if info != nil && info.IsDir() {
				g.folders = append(g.folders, in)
			}
		}
	}
}

// stat returns the file information of an input. Standard input can be redirected from a file.
func (g *Files) stat(in string) (fs.FileInfo, error) {
	if f, isFile := g.Stdin.(*os.File); isFile && in == input.Stdin {
		return f.Stat()
	}
	return os.Stat(in)
}

// reserve locks a path on disk against other processes until the command ends.
func (g *Files) reserve(path string) error {
	release, err := g.Disk.Reserve(path)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("%s: another process writes to it: wait until that ends, or choose another name", path)
	}
	if err == nil {
		g.closers = append(g.closers, release)
	}
	return err
}

// Claim claims the folder of a new index. Its parent folder must exist.
func (g *Files) Claim(path string) error {
	if err := cmp.Or(g.claim(path, true), disk.CheckParent(path)); err != nil {
		return err
	}
	return g.reserve(path)
}

// realPath returns an absolute path without links. Its last elements need not exist.
func realPath(path string) string {
	if object.Is(path) {
		return filepath.Clean(path)
	}
	path, _ = filepath.Abs(path)
	for parent, suffix := path, ""; ; parent = filepath.Dir(parent) {
		if _, err := os.Lstat(parent); err == nil || parent == filepath.Dir(parent) {
			return filepath.Join(input.RealPath(parent), suffix)
		}
		suffix = filepath.Join(filepath.Base(parent), suffix)
	}
}

// isBelow reports whether a path is in a folder. Both must be free of links.
func isBelow(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// Destination follows links from path to the file that an output is written to. It reports whether the file is a pipe
// or a device. A folder is an error.
func Destination(path string) (file string, stream bool, err error) {
	const linksMax = 40 // the same limit as in Linux
	file = path
	for range linksMax {
		info, err := os.Stat(file)
		switch {
		case err == nil && info.IsDir():
			return "", false, fmt.Errorf("%s: is a directory", path)
		case err == nil && !info.Mode().IsRegular():
			return file, true, nil
		}
		to, err := os.Readlink(file)
		if err != nil {
			return file, false, nil // not a link, or does not exist
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = to
	}
	return "", false, fmt.Errorf("%s: too many links", path)
}
