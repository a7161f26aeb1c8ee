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

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/storage/object"
	"example.org/ndd/engine/storage/store"
)

// fingerprintFiles opens the fingerprint files of a command.
type fingerprintFiles struct {
	globals *Globals
	Raw     bool // files are read as integers, without looking at their content
}

// RegisterRaw adds the flag --raw.
func (p *fingerprintFiles) RegisterRaw(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.Raw, "raw", false, "read fingerprint files as little-endian 64-bit integers")
}

// OpenFingerprints opens a fingerprint file of any form: a file on disk, standard input, a pipe or an object.
func (p *fingerprintFiles) OpenFingerprints(path string) (*ndf.File, error) {
	return ndf.Open(path, p.FingerprintOptions())
}

// FingerprintOptions returns the options for opening fingerprint files.
func (p *fingerprintFiles) FingerprintOptions() ndf.OpenOptions {
	return ndf.OpenOptions{Raw: p.Raw, Stream: p.OpenStream}
}

// OpenStream opens an input that is read instead of mapped, and returns its name for messages. It returns nil for a
// file on disk, and for a device, which is no fingerprint file. A read ends with the command, even if no data
// arrives.
func (p *fingerprintFiles) OpenStream(path string) (in io.ReadCloser, name string, err error) {
	ctx := p.globals.cmd.Context()
	switch {
	case path == input.Stdin:
		return io.NopCloser(input.Patient(ctx, p.globals.Stdin)), "standard input", nil
	case object.Is(path):
		in, err = input.File{Path: path}.Raw(ctx) // in may be non-nil with an error; the caller checks the error first
		return in, path, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return input.OpenPipe(ctx, path), path, nil
	}
	return nil, "", nil
}

// IsStream reports whether an input is read instead of mapped: standard input, a pipe or an object.
func IsStream(path string) bool { return object.Is(path) || input.ReadOnce(path) }

// OpenFingerprintFiles opens fingerprint files, all of them or none, each once.
func (p *fingerprintFiles) OpenFingerprintFiles(paths []string) (files []*ndf.File, err error) {
	if err := ReadOnce(paths); err != nil {
		return nil, err
	}
	if paths, err = p.MatchFingerprints(paths); err != nil {
		return nil, err
	}
	for _, path := range paths {
		f, err := p.OpenFingerprints(path)
		if err != nil {
			CloseFiles(files)
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// MatchFingerprints replaces patterns with the ending of a fingerprint file by the files or objects that match.
func (p *fingerprintFiles) MatchFingerprints(paths []string) (list []string, err error) {
	return p.MatchFiles(paths, ndf.Endings...)
}

// MatchFiles expands the patterns with certain endings among some paths.
func (p *fingerprintFiles) MatchFiles(paths []string, endings ...string) (list []string, err error) {
	for _, path := range paths {
		if !strings.ContainsAny(path, "*?[") || !slices.Contains(endings, filepath.Ext(path)) {
			list = append(list, path)
			continue
		}
		for f, err := range input.Files(p.globals.cmd.Context(), []string{path}) {
			if err != nil {
				return nil, err
			}
			list = append(list, f.Path)
		}
	}
	return list, nil
}

// CloseFiles closes the files of [Files.OpenFingerprintFiles].
func CloseFiles(files []*ndf.File) {
	for _, f := range files {
		f.Close()
	}
}

// EachChunk calls yield with the fingerprints of a file, some at a time, until ctx ends.
func EachChunk(ctx context.Context, f *ndf.File, yield func([]uint64)) error {
	for chunk := range f.Chunks {
		for part := range slices.Chunk(chunk, 1<<20) {
			if err := ctx.Err(); err != nil {
				return err
			}
			yield(part)
		}
	}
	return nil
}

// HaveFingerprints reports whether the inputs are fingerprint files. Their content or the extensions .ndf and .bin
// decide, so that a damaged file is not read as text. A mixture of fingerprint files and documents is wrong
// usage. If documents is true, because the user chose a format of documents, fingerprints as text count as documents.
func (p *fingerprintFiles) HaveFingerprints(paths []string, documents bool) (bool, error) {
	examples := map[bool]string{} // one path of each kind
	for _, path := range paths {
		is, err := p.hasFingerprints(path, documents)
		if err != nil {
			return false, err
		}
		examples[is] = path
	}
	if len(examples) > 1 {
		return false, Usagef("fingerprint files and documents cannot be mixed in one run: %s has fingerprints, and %s "+
			"has none", examples[true], examples[false])
	}
	_, is := examples[true]
	return is, nil
}

// hasFingerprints is HaveFingerprints for one input.
func (p *fingerprintFiles) hasFingerprints(path string, documents bool) (bool, error) {
	if p.Raw {
		return true, nil
	}
	named := slices.Contains(ndf.Endings, filepath.Ext(path))
	if path == input.Stdin {
		head, err := p.peek()
		return !documents && ndf.IsText(head), err
	}
	if IsStream(path) {
		return named, nil
	}
	kind, ok, err := store.Sniff(path)
	switch {
	case err == nil && (named || ok && kind == store.KindFingerprints):
		return true, nil
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(path, "*?["):
		return false, err
	case err != nil || documents:
		return false, nil // reading the file reports the error
	}
	f, err := os.Open(path)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, lineBytes))
	return err == nil && ndf.IsText(head), nil
}

// lineBytes is enough for the digits of a line of fingerprints, and for blank lines before it.
const lineBytes = 64

// peek returns the first bytes of standard input without consuming them.
func (p *fingerprintFiles) peek() ([]byte, error) {
	if p.globals.Stdin == nil {
		return nil, nil
	}
	in := bufio.NewReader(input.Patient(p.globals.cmd.Context(), p.globals.Stdin))
	p.globals.Stdin = in
	head, err := in.Peek(lineBytes)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}
