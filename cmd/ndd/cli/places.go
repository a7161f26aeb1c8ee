package cli

import (
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
	"example.org/ndd/engine/storage/object"
)

// inputFlags are the flags that name inputs. Arguments are inputs, too.
var inputFlags = []string{"add", "against", "compare", "dropped", "evals", "index", "method-file", "pairs",
	"recipe", "scan"}

// keepInputs returns wrong usage if an output is an input, is in one or contains one.
func (c *claims) keepInputs(o *output) error {
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
	if in, found := c.inputs.paths[o.path]; found {
		return is(in)
	}
	// The output may be in a folder that is an input.
	for folder := o.path; folder != filepath.Dir(folder); {
		folder = filepath.Dir(folder)
		if in, found := c.inputs.folders[folder]; found {
			return Usagef("%s: is in the input %s, so the next run would read it: choose another place for the output",
				o.name, in)
		}
	}
	// The output may contain an input, or match a pattern of objects.
	for _, in := range slices.Sorted(maps.Keys(c.inputs.paths)) {
		if matched, _ := path.Match(in, o.path); matched && object.Is(c.inputs.paths[in]) {
			return is(c.inputs.paths[in])
		}
		if o.folder && isBelow(in, o.path) {
			return contains(c.inputs.paths[in])
		}
	}
	// The output may be another name of an input.
	if o.info == nil {
		return nil
	}
	for _, f := range c.inputs.files[stampOf(o.info)] {
		if o.isFile(f.FileInfo) {
			return is(f.name)
		}
	}
	// The output may be another name of a file in an input folder.
	for f, err := range input.Files(c.globals.cmd.Context(), c.folders) { // the folders may have links, and hard links
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
func (c *claims) findInputs() {
	c.inputs = newInputSet()
	names := slices.Clone(c.globals.cmd.Flags().Args())
	c.globals.cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(inputFlags, f.Name) && f.Name+" "+c.globals.cmd.Name() != "members shingles" {
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
			info, err := c.stat(in)
			if err != nil && !object.Is(in) {
				continue // the argument is not a file
			}
			c.inputs.addFile(in, info, in)
			if info != nil && info.IsDir() {
				c.folders = append(c.folders, in)
			}
		}
	}
}

// stat returns the file information of an input. Standard input can be redirected from a file.
func (c *claims) stat(in string) (fs.FileInfo, error) {
	if f, isFile := c.globals.Stdin.(*os.File); isFile && in == input.Stdin {
		return f.Stat()
	}
	return os.Stat(in)
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
