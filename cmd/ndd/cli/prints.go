package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ndf"
	"ndd/engine/storage/object"
	"ndd/engine/storage/store"
)

// OpenPrintFile opens a fingerprint file, or reads standard input.
func (g *Files) OpenPrintFile(path string) (*ndf.File, error) {
	switch {
	case path == document.Stdin:
		return g.ReadPrints(g.Stdin, "standard input")
	case object.Is(path):
		ctx := g.cmd.Context()
		o, err := object.From(ctx).Open(ctx, path)
		if err != nil {
			return nil, err
		}
		f, err := g.ReadPrints(o, path)
		return f, errors.Join(err, o.Close())
	case g.Raw:
		return ndf.OpenRaw(path)
	}
	return ndf.Open(path)
}

// ReadPrints reads a fingerprint file from a pipe or an object into memory.
func (g *Files) ReadPrints(r io.Reader, name string) (*ndf.File, error) {
	if g.Raw {
		return ndf.ReadRaw(r, name)
	}
	return ndf.Read(r, name)
}

// RegisterRaw adds the flag --raw.
func (g *Files) RegisterRaw(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&g.Raw, "raw", false, "read files of fingerprints as little-endian 64-bit integers, whatever "+
		"is in them")
}

// IsRead says whether a fingerprint file is read into memory rather than opened: standard input and
// objects.
func IsRead(path string) bool { return path == document.Stdin || object.Is(path) }

// OpenPrints opens fingerprint files, all of them or none, each once.
func (g *Files) OpenPrints(paths []string) (files []*ndf.File, err error) {
	if err := ReadOnce(paths); err != nil {
		return nil, err
	}
	for _, path := range paths {
		f, err := g.OpenPrintFile(path)
		if err != nil {
			ClosePrints(files)
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// ClosePrints closes files that [Files.OpenPrints] has opened.
func ClosePrints(files []*ndf.File) {
	for _, f := range files {
		f.Close()
	}
}

// EachPrints calls yield with the fingerprints of a file, some at a time, until ctx ends.
func EachPrints(ctx context.Context, f *ndf.File, yield func([]uint64)) error {
	for chunk := range f.Chunks {
		for some := range slices.Chunk(chunk, 1<<20) {
			if err := ctx.Err(); err != nil {
				return err
			}
			yield(some)
		}
	}
	return nil
}

// ArePrints says whether the inputs are fingerprint files: by content, or by the names .ndf, .bin
// and .npy, so that a damaged one is not read as text. A mixture with documents is wrong usage.
// Where documents is set, fingerprints as text are documents: their format is said.
func (g *Files) ArePrints(paths []string, documents bool) (bool, error) {
	of := map[bool]string{} // one path of each kind
	for _, path := range paths {
		prints, err := g.isPrints(path, documents)
		if err != nil {
			return false, err
		}
		of[prints] = path
	}
	if len(of) > 1 {
		return false, Usagef("fingerprint files and documents cannot be mixed in one run: %s has fingerprints, and %s "+
			"has none", of[true], of[false])
	}
	_, prints := of[true]
	return prints, nil
}

// isPrints is ArePrints for one input.
func (g *Files) isPrints(path string, documents bool) (bool, error) {
	if g.Raw {
		return true, nil
	}
	named := slices.Contains(ndf.Endings, filepath.Ext(path))
	if object.Is(path) {
		return named, nil
	}
	if path == document.Stdin {
		head, err := g.peek()
		return !documents && ndf.IsText(head), err
	}
	kind, ok, err := store.Sniff(path)
	switch {
	case err == nil && (named || ok && kind == store.KindFingerprints):
		return true, nil
	case errors.Is(err, store.ErrStream) && named, errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(path, "*?["):
		return false, err
	case err != nil || documents:
		return false, nil // said where it is read
	}
	f, err := os.Open(path)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, lineBytes))
	return err == nil && ndf.IsText(head), nil
}

// lineBytes is enough for the digits of a line of fingerprints, and what may stand before them.
const lineBytes = 64

// peek returns the first bytes of standard input, which are read again.
func (g *Files) peek() ([]byte, error) {
	if g.Stdin == nil {
		return nil, nil
	}
	in := bufio.NewReader(document.Patient(g.cmd.Context(), g.Stdin))
	g.Stdin = in
	head, err := in.Peek(lineBytes)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}
