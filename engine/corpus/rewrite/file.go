package rewrite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/minio/highwayhash"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/corpus/work"
)

// A fileCopy copies one file.
type fileCopy struct {
	scanner
	to     *Target
	packer *packer
	result work.Copy
}

// copyOnce copies the file, or reuses a finished copy. It keeps the new copy for later runs, unless a part of the file
// could not be read: a later run may be able to read it.
func (k *fileCopy) copyOnce() error {
	finished := k.to.Finished
	if finished == nil || k.judge.Decision == nil {
		return k.copy()
	}
	hash, _ := highwayhash.New128(make([]byte, highwayhash.Size)) // the key has the right length
	k.judge.Decision(hash)
	decision := hash.Sum(nil)
	path, result, ok := finished.Take(k.file, decision)
	if ok {
		return k.takeOver(path, result)
	}
	if err := k.copy(); err != nil || len(k.report.Lost)+len(k.report.Unjudged) > 0 {
		return err
	}
	finished.Keep(k.file, decision, k.result)
	return nil
}

// takeOver makes the copy of the file from a finished copy.
func (k *fileCopy) takeOver(path string, result work.Copy) error {
	if result.Ending != "" {
		k.report.Repacked = []string{k.file.Path}
	}
	k.sayUncut(result.Uncut)
	if path == "" {
		return nil
	}
	return k.create(result.Ending, func(w io.Writer) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}

// copy copies the file as the judge decides.
func (k *fileCopy) copy() error {
	// A file that cannot be opened is copied as it is, if it was found in a folder.
	f := k.file
	if k.fields != nil {
		k.head, _ = format.HeadOf(k.ctx, f, k.options) // reading returns the same error later
	}
	content, err := format.Open(k.ctx, f, k.options)
	if err != nil {
		if (f.Root == "" && !errors.Is(err, unpack.ErrDamaged)) || k.ctx.Err() != nil {
			return err
		}
		if err := k.end(); err != nil {
			return err
		}
		return k.copyUnjudged()
	}
	defer content.Close()
	defer func() { k.sayUncut(k.uncut) }()
	// A file with many documents is copied while it is judged, unless it loses none.
	if content.Rows && k.judge.Whole && k.fields == nil && !content.Members && content.Raw() != nil &&
		content.Packing.CopyEnding() == "" {
		return k.copyWhole(content)
	}
	if content.Rows {
		return k.copyRows(content)
	}
	// All other files are judged first, because the result decides how they are copied.
	e, err := k.scan(content, nil)
	switch {
	case err != nil:
		return err
	case e.isLost(), content.Columns != nil && e.end < math.MaxInt64: // rows after the damage would be lost
		return k.copyUnjudged()
	case content.Columns != nil && (len(e.rows) > 0 || k.fields != nil):
		return k.create("", func(w io.Writer) error {
			return k.packer.copyColumns(k.ctx, w, content, e.rows, k.fields, e.cuts)
		})
	case content.Columns != nil, e.kept > 0 && len(e.cuts) == 0:
		return k.create("", func(w io.Writer) error { return f.Copy(k.ctx, w) })
	case e.kept == 0:
		return nil
	}
	// The document loses parts of its text.
	return k.create(k.repack(content), func(w io.Writer) error {
		return k.packer.pack(k.ctx, w, content, nil, func(c *contentCopy) error { return c.follow(&e, math.MaxInt64) })
	})
}

// sayUncut reports and remembers documents that stay whole.
func (k *fileCopy) sayUncut(documents int) {
	if k.result.Uncut = documents; documents > 0 {
		k.report.Uncut = []Uncut{{k.file.Path, documents}}
	}
}

// copyRows copies a file with many documents while reading it.
func (k *fileCopy) copyRows(content *format.Content) error {
	// Look before the copy gets the name of another compression.
	if content.Packing.CopyEnding() != "" && !k.isJudgeable() {
		return k.copyUnjudged() // so that the name does not change
	}
	var fields *fieldText
	if k.fields != nil {
		fields = newFieldText(k.fields, &k.head)
	}
	// Judge and copy in one pass.
	var scanErr error // names the file
	err := k.create(k.repack(content), func(w io.Writer) error {
		err := k.packer.pack(k.ctx, w, content, fields, func(c *contentCopy) error {
			e, err := k.scan(content, c)
			if scanErr = err; err == nil && e.isLost() {
				k.packer.free <- c.b // the block is empty
				err = errLost
			}
			if err != nil {
				return err
			}
			k.report.Lost = e.damage
			return c.last(&e)
		})
		// Nothing was written yet, so the file can still be copied as it is.
		if errors.Is(err, errLost) {
			k.report.Unjudged = []string{k.file.Path}
			err = k.file.Copy(k.ctx, w)
		}
		if !errors.Is(err, scanErr) {
			scanErr = nil // the copy ended for another reason
		}
		return err
	})
	return cmp.Or(scanErr, err)
}

// copyWhole copies a compressed file that loses nothing. The copy has the same bytes. If the file is damaged, only the
// part before the damage is copied.
func (k *fileCopy) copyWhole(content *format.Content) error {
	e, err := k.scan(content, nil)
	switch {
	case err != nil:
		return err
	case e.isLost():
		return k.copyUnjudged()
	case e.end == math.MaxInt64:
		return k.create("", func(w io.Writer) error { return k.file.Copy(k.ctx, w) })
	}
	k.report.Lost = e.damage
	second, err := format.Open(k.ctx, k.file, k.options)
	if err != nil {
		return err
	}
	defer second.Close()
	return k.create("", func(w io.Writer) error {
		return k.packer.pack(k.ctx, w, second, nil, func(c *contentCopy) error { return c.follow(&e, e.end) })
	})
}

// errLost is the error for a file if no document of it could be judged.
var errLost = errors.New("no document could be judged")

// repack returns the ending of the copy's name. It reports a copy with another compression than its file.
func (k *fileCopy) repack(content *format.Content) (ending string) {
	if ending = content.Packing.CopyEnding(); ending != "" {
		k.report.Repacked = append(k.report.Repacked, k.file.Path)
	}
	return ending
}

// create creates the copy of the file and fills it.
func (k *fileCopy) create(ending string, fill func(io.Writer) error) error {
	name, err := k.to.name(k.file, ending)
	if err == nil && ending != "" && k.file.Path == unpacked(k.file.Path) { // the name did not show the compression
		err = k.to.checkFree(k.file, name)
	}
	if err != nil {
		return err
	}
	k.result.Ending, k.result.Name = ending, name
	return k.to.Create(name, func(w io.Writer) error {
		if err := fill(w); err != nil {
			return fmt.Errorf("copying %s: %w", k.file.Path, err)
		}
		return nil
	})
}

// copyUnjudged copies a file without verdicts unchanged, if it can be opened.
func (k *fileCopy) copyUnjudged() error {
	r, err := k.file.Raw(k.ctx)
	if err != nil {
		k.report.Lost = append(k.report.Lost, err.Error())
		return nil
	}
	r.Close()
	k.report.Unjudged = append(k.report.Unjudged, k.file.Path)
	return k.create("", func(w io.Writer) error { return k.file.Copy(k.ctx, w) })
}
