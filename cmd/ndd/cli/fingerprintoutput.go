package cli

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/storage/object"
	"example.org/ndd/engine/storage/store"
)

// CheckFingerprintOutput is [Files.CheckOutput] for a fingerprint file. Its extension must name a format. A pipe or a
// device is an error.
func (g *Files) CheckFingerprintOutput(out string) error {
	if !object.Is(out) {
		_, stream, err := Destination(out)
		if err != nil {
			return err
		}
		if stream {
			return fmt.Errorf("%s: a fingerprint file cannot be written to a pipe or a device", out)
		}
	}
	if !slices.Contains(ndf.Endings, filepath.Ext(out)) {
		return Usagef("-o %s: the ending must say the format: .ndf (with IDs and recipe), .npy (NumPy, uint64) or .bin "+
			"(integers)", out)
	}
	return g.CheckOutput(out)
}

// WriteFingerprints writes a fingerprint file, on disk or as an object. The file appears after fill has written all
// documents. It also appears if fill returns [ErrPartly], but not after other errors. Call
// [Files.CheckFingerprintOutput] first.
func (g *Files) WriteFingerprints(out string, recipe simhash.Recipe, fill func(*ndf.Writer) error) error {
	if object.Is(out) {
		return g.uploadFingerprints(out, recipe, fill)
	}
	path, _, err := Destination(out)
	if err != nil {
		return err
	}
	if filepath.Ext(path) != filepath.Ext(out) {
		return fmt.Errorf("%s: is a link to %s, whose ending says another format: name that file", out, path)
	}
	return g.fillFingerprints(path, recipe, fill)
}

// fillFingerprints writes a fingerprint file on disk.
func (g *Files) fillFingerprints(path string, recipe simhash.Recipe, fill func(*ndf.Writer) error) error {
	if err := g.Disk.MakeParents(path); err != nil {
		return err
	}
	w, err := ndf.Create(path, recipe, store.Options{Disk: g.Disk})
	if err != nil {
		return err
	}
	defer w.Abort()
	err = fill(w)
	if err != nil && err != ErrPartly {
		return err
	}
	if e := w.Commit(); e != nil {
		return e
	}
	if ndf.IsBare(path) {
		note := filepath.Base(path) + " holds fingerprints alone, without IDs and recipe; an .ndf file has them"
		if n := w.LeftOut(); n > 0 {
			note += "; " + Number(n, "document") + " without a fingerprint left out"
		}
		g.Log.Warn(note)
	}
	return err
}

// uploadFingerprints writes the file to disk first, because its header is written last.
func (g *Files) uploadFingerprints(out string, recipe simhash.Recipe, fill func(*ndf.Writer) error) error {
	dir, err := os.MkdirTemp("", "ndd-upload-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, path.Base(out))
	partly := g.fillFingerprints(file, recipe, fill)
	if partly != nil && partly != ErrPartly {
		return partly
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	err = g.WriteOutput(out, func(o *Output) error {
		_, err := o.ReadFrom(f)
		return err
	})
	return cmp.Or(err, partly)
}
