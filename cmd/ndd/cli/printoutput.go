package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/object"
	"ndd/engine/storage/store"
)

// CheckPrintOutput is [Globals.CheckOutput] of a fingerprint file, which cannot be written to a pipe or a device.
func (g *Globals) CheckPrintOutput(out string) error {
	if !object.Is(out) {
		_, stream, err := Destination(out)
		if err != nil {
			return err
		}
		if stream {
			return fmt.Errorf("%s: a fingerprint file cannot be written to a pipe or a device", out)
		}
	}
	return g.CheckOutput(out)
}

// WritePrints writes a fingerprint file, on disk or as an object, that appears when fill has given it all documents: with [ErrPartly] of
// fill, too, and with no other error. [Globals.CheckPrintOutput] comes before it.
func (g *Globals) WritePrints(out string, recipe simhash.Recipe, fill func(*ndf.Writer) error) error {
	if object.Is(out) {
		return g.uploadPrints(out, recipe, fill)
	}
	at, _, err := Destination(out)
	if err != nil {
		return err
	}
	return g.fillPrints(at, recipe, fill)
}

// fillPrints writes a fingerprint file on disk.
func (g *Globals) fillPrints(at string, recipe simhash.Recipe, fill func(*ndf.Writer) error) error {
	w, err := ndf.Create(at, recipe, store.Options{Disk: g.Disk})
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
	return err
}

// uploadPrints makes the file on disk first: its header is written last.
func (g *Globals) uploadPrints(out string, recipe simhash.Recipe, fill func(*ndf.Writer) error) error {
	dir, err := os.MkdirTemp("", "ndd-upload-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "prints.ndf")
	partly := g.fillPrints(file, recipe, fill)
	if partly != nil && partly != ErrPartly {
		return partly
	}
	if err := g.UploadFile(file, out); err != nil {
		return err
	}
	return partly
}
