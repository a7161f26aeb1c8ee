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
	_, stream, _ := Destination(out) // CheckFile reports the error
	if !stream && !slices.Contains(ndf.Endings, filepath.Ext(out)) {
		return Usagef("-o %s: the ending must say the format: .ndf (with IDs and recipe) or .bin (integers)", out)
	}
	return g.CheckFile(out, "a fingerprint file")
}

// CheckFile is [Files.CheckOutput] for a file that [Files.WriteFile] writes. A pipe or a device is an error.
func (g *Files) CheckFile(out, kind string) error {
	if !object.Is(out) {
		_, stream, err := Destination(out)
		if err != nil {
			return err
		}
		if stream {
			return fmt.Errorf("%s: %s cannot be written to a pipe or a device", out, kind)
		}
	}
	return g.CheckOutput(out)
}

// WriteFingerprints writes a fingerprint file, on disk or as an object. The file appears after fill has written all
// documents. It also appears if fill returns [ErrPartly], but not after other errors. Call
// [Files.CheckFingerprintOutput] first.
func (g *Files) WriteFingerprints(out string, recipe simhash.Recipe, fill func(*ndf.Writer) error) error {
	return g.WriteFile(out, func(path string) error { return g.fillFingerprints(path, recipe, fill) })
}

// WriteFile writes a file that must be on disk first, because its header is written last. The function fill creates it
// at a path. If fill returns [ErrPartly], the file appears, too. Call [Files.CheckFile] first.
func (g *Files) WriteFile(out string, fill func(path string) error) error {
	if object.Is(out) {
		return g.upload(out, fill)
	}
	path, _, err := Destination(out)
	if err != nil {
		return err
	}
	if filepath.Ext(path) != filepath.Ext(out) {
		return fmt.Errorf("%s: is a link to %s, whose ending says another format: name that file", out, path)
	}
	if err := g.Disk.MakeParents(path); err != nil {
		return err
	}
	return fill(path)
}

// fillFingerprints writes a fingerprint file on disk.
func (g *Files) fillFingerprints(path string, recipe simhash.Recipe, fill func(*ndf.Writer) error) error {
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

// upload writes an object from a temporary file.
func (g *Files) upload(out string, fill func(path string) error) error {
	dir, err := os.MkdirTemp("", "ndd-upload-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, path.Base(out))
	partly := fill(file)
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
