package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"example.org/ndd/engine/storage/object"
)

// Files yields the files that the inputs name. A folder yields all files below it, in order of their paths. A pattern
// yields its matches, in order. Symbolic links in a folder are followed if they lead to files, and each file is yielded
// once. Anything else in a folder yields a *[Skip]. Any other error is the last result.
func Files(ctx context.Context, inputs []string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		l := &links{inputs: inputs}
		for _, input := range inputs {
			if !expand(ctx, input, l, yield) {
				return
			}
		}
	}
}

// expand yields the files of one input and reports whether to go on.
func expand(ctx context.Context, input string, l *links, yield func(File, error) bool) bool {
	names, err := Matches(input)
	if err != nil {
		yield(File{}, err)
		return false
	}
	for _, name := range names {
		if !expandName(ctx, name, l, yield) {
			return false
		}
	}
	return true
}

// expandName is expand for an input that is no pattern.
func expandName(ctx context.Context, name string, l *links, yield func(File, error) bool) bool {
	switch {
	case name == Stdin:
		return yield(File{Path: Stdin}, nil)
	case object.Is(name):
		return expandObjects(ctx, name, yield)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		yield(File{}, File{Path: name}.Named(err))
		return false
	case info.IsDir():
		return walk(ctx, name, l, yield)
	}
	return yield(File{Path: name}, nil)
}

// expandObjects is like expand for objects: an object by its name, the objects below a prefix like the files of a
// folder, or the objects that match a pattern.
func expandObjects(ctx context.Context, input string, yield func(File, error) bool) bool {
	list := object.From(ctx).List
	switch {
	case isHDFS(input):
		list = listHDFS
	case !strings.HasPrefix(input, "s3://"):
		return yield(File{Path: input}, nil)
	}
	root, n := "", 0
	if !strings.ContainsAny(input, "*?[") {
		root = strings.TrimSuffix(input, "/")
	}
	for e, err := range list(ctx, input) {
		if err != nil {
			yield(File{}, err)
			return false
		}
		n++
		f := File{Path: e.Path, Root: root, listed: true, bytes: e.Bytes}
		if e.Path == input {
			f.Root = "" // named by the user
		}
		if !yield(f, nil) {
			return false
		}
	}
	if n == 0 {
		yield(File{}, fmt.Errorf("%s: no such object, and none is below it or matches it", input))
	}
	return n > 0
}

// walk yields the files of the folder root. root may be a link: the final separator makes the system follow it. Files
// whose names come from links are yielded after all links.
func walk(ctx context.Context, root string, l *links, yield func(File, error) bool) bool {
	top := strings.TrimRight(root, string(filepath.Separator)) + string(filepath.Separator)
	var later []string
	goOn := walkBelow(ctx, root, top, l, &later, yield)
	for i := 0; goOn && i < len(later); i++ {
		goOn = walkBelow(ctx, root, later[i], l, nil, yield)
	}
	return goOn
}

// walkBelow is walk for a folder in root. It puts folders off whose files links give their names, unless later is nil.
func walkBelow(ctx context.Context, root, top string, l *links, later *[]string, yield func(File, error) bool) bool {
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// Find the file to read, or the reason to skip the entry. Folders that are read need neither.
		f, skip := File{Path: path, Root: root}, &Skip{Source: path}
		switch {
		case err != nil && path == top:
			return File{Path: root}.Named(err)
		case err != nil:
			skip.Reason, skip.Err = Unreadable, bareCause(err)
		case path != top && strings.HasPrefix(d.Name(), "."):
			skip.Reason = Hidden
		case d.IsDir() && later != nil && isBlobs(path):
			*later, l.blobs = append(*later, path), append(l.blobs, RealPath(path))
			return filepath.SkipDir
		case d.IsDir():
			return nil
		case later == nil && l.seen[RealPath(path)] != "":
			skip.Reason, skip.Err = Again, fmt.Errorf("read as %s", l.seen[RealPath(path)])
		case d.Type()&fs.ModeSymlink != 0:
			if f, skip = l.follow(root, path); skip == nil {
				skip = &Skip{}
			}
		case !d.Type().IsRegular():
			skip.Reason = Special
			skip.Err = errors.New(kindOf(d.Type()) + ", which is read only where it is named itself")
		}
		// Yield the file or the skip.
		goOn := false
		if skip.Reason == "" {
			goOn = yield(f, nil)
		} else {
			goOn = yield(File{}, skip)
		}
		switch {
		case !goOn:
			return errStop
		case d != nil && d.IsDir():
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		yield(File{}, err)
	}
	return err == nil
}

// errStop ends a walk when the consumer stops.
var errStop = errors.New("stop")
