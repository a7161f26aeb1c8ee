package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/text"
)

// ReadDocuments returns the corpus of the documents in some inputs. The report counts documents with too few features
// for a fingerprint. They are only compared with equal documents. ReadDocuments sets cfg.Document.ValueFields itself.
func ReadDocuments(ctx context.Context, inputs []string, cfg ingest.Config, o ReadOptions) (*Corpus, ingest.Report,
	error) {
	lists := o.fieldLists()
	cfg.Document.ValueFields = nil
	for _, w := range lists {
		cfg.Document.ValueFields = append(cfg.Document.ValueFields, w.fields)
	}
	if cfg.Recipe == (simhash.Recipe{}) {
		cfg.Recipe = simhash.Default()
	}
	cfg.Document.Extract = text.Extraction(cfg.Recipe.Extract)
	c := NewCorpus(&cfg.Recipe, o)
	cfg.Sketches = o.Sketches
	cfg, err := c.room.readConfig(cfg)
	if err != nil {
		return nil, ingest.Report{}, err // nothing is reserved
	}
	c.from.inputs, c.from.options = inputs, cfg.Document
	c.from.options.Meter = nil // the meter counts the first reading only
	if err = c.sources.Begin(ctx, inputs); err == nil {
		err = checkFields(ctx, inputs, cfg.Document, lists)
	}
	if err != nil {
		c.Close()
		return nil, ingest.Report{}, err
	}
	report, err := ingest.Run(ctx, inputs, cfg, func(r ingest.Record) error {
		d := Document{r.ID, r.Fingerprint, r.Hash, r.TextBytes, r.Values, r.Modified, Place{r.Source, int64(r.Line)}, !r.OK,
			r.Sketch}
		if err := c.from.units.Append(uint64(r.Unit)); err != nil {
			return err
		}
		return c.Append(d)
	})
	c.from.fileUnits = report.FileUnits
	c.Inputs = []Input{}
	for _, f := range report.FileUnits {
		c.Inputs = append(c.Inputs, Input{f.Path, f.Bytes, f.Content})
	}
	if err == nil {
		err = c.sources.Check()
	}
	if err == nil {
		err = cmp.Or(c.room.checkCompare(c.Len()), c.end())
	}
	if err != nil {
		c.Close()
	}
	return c, report, err
}

// ReadPrints returns the corpus of one or more fingerprint files. If they have no IDs, the rows are the IDs. It
// verifies checksums. The error wraps [simhash.ErrMixed] if files have different recipes, or if only some have IDs or,
// with o.Sketches, sketches. With o.Find.Exact, the hashes of the texts are compared in place of the fingerprints.
func ReadPrints(ctx context.Context, paths []string, o ReadOptions) (_ *Corpus, err error) {
	c := NewCorpus(nil, o)
	files, err := openPrints(paths, o.Open)
	defer func() {
		for _, f := range files {
			f.Close() // the corpus has all rows
		}
		if err != nil {
			c.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	ids, parts, err := c.checkPrints(files)
	if err != nil {
		return nil, err
	}
	if c.sources.IsUnknown = slices.ContainsFunc(files, (*ndf.File).IsShare); !c.sources.IsUnknown {
		if err := c.sources.Begin(ctx, paths); err != nil {
			return nil, err
		}
	}
	// Verify the checksums, and that all recipes are the same.
	for _, f := range files {
		if err := verifyFile(ctx, f, files[0], c.o.Threads); err != nil {
			return nil, err
		}
	}
	// Copy the documents into the corpus.
	c.Inputs = inputsOf(parts)
	if ids {
		err = appendParts(ctx, c, parts)
	}
	for _, f := range files {
		if !ids && err == nil {
			err = appendRaw(c, f)
		}
	}
	return c, cmp.Or(err, c.sources.Check(), c.end(), ctx.Err())
}

// openPrints opens fingerprint files. The caller closes them, even if there is an error.
func openPrints(paths []string, o ndf.OpenOptions) (files []*ndf.File, err error) {
	for _, path := range paths {
		f, err := ndf.Open(path, o)
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	return files, nil
}

// checkPrints returns an error, before all files are read, if the files lack data that the options need, if shares are
// missing, or if memory is short. It returns whether the files have IDs, and their parts.
func (c *Corpus) checkPrints(files []*ndf.File) (ids bool, parts []ndf.Part, err error) {
	// All files must have IDs, sketches and hashes, as far as these are needed.
	if ids, err = ndf.HaveIDs(files); err != nil {
		return false, nil, err
	}
	if c.o.Sketches {
		if c.o.Sketches, err = ndf.HaveSketches(files); err != nil {
			return false, nil, err
		}
	}
	n := 0
	for _, f := range files {
		if n += int(f.Len()); c.o.Find.Exact && !f.HasHashes() {
			return false, nil, fmt.Errorf("%s %w: make its fingerprints again, or give the documents", f.Path(), ErrNoHashes)
		}
	}
	c.isHashed = slices.ContainsFunc(files, (*ndf.File).HasHashes)
	// The shares must be complete, and the memory and the values for the order must suffice.
	if parts, err = ndf.Parts(files); err != nil {
		return false, nil, err
	}
	if err := c.room.checkCompare(n); err != nil {
		return false, nil, err
	}
	c.recipe = files[0].Recipe()
	if err := c.o.Keep.CheckPrints(c.recipe != nil); err != nil && n > 0 {
		return false, nil, err
	}
	return ids, parts, nil
}

// ErrNoHashes is the error for a fingerprint file without the hashes that [Options].Exact compares.
var ErrNoHashes = errors.New("has no hashes of texts to compare")

// verifyFile verifies a file. The file must have the same recipe as the first one.
func verifyFile(ctx context.Context, f, first *ndf.File, threads int) error {
	if err := f.Verify(ctx, threads); err != nil {
		return err
	}
	return simhash.Compatible(first.Path(), first.Recipe(), f.Path(), f.Recipe())
}

// inputsOf returns the files of shares, or nil if some part is no file of a share.
func inputsOf(parts []ndf.Part) []Input {
	list := []Input{}
	for _, p := range parts {
		in, ok := p.Input()
		if !ok {
			return nil
		}
		list = append(list, Input{in.File, in.Bytes, in.Content})
	}
	return list
}

// appendParts appends the documents of files with IDs. Documents of shares are in the order of the shared inputs.
func appendParts(ctx context.Context, c *Corpus, parts []ndf.Part) error {
	for _, p := range parts {
		for d, err := range p.Documents {
			if err == nil && c.o.Sketches && d.OK && d.Sketch.IsZero() {
				err = fmt.Errorf("%w: document %q in %s has no sketch, and others have", ndf.ErrSketches, d.ID, d.File)
			}
			if c.o.Find.Exact { // as [ingest.Config].Exact does
				d.Fingerprint, d.OK = simhash.Fingerprint(d.Hash[0]), true
			}
			if err == nil {
				err = c.Append(Document{ID: d.ID, Fingerprint: d.Fingerprint, TextBytes: d.TextBytes,
					Place: Place{d.File, d.Row}, Short: !d.OK, Sketch: d.Sketch, Hash: d.Hash})
			}
			if err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// appendRaw appends the fingerprints of a file without IDs.
func appendRaw(c *Corpus, f *ndf.File) error {
	if f.Len() > 0 {
		c.parts = append(c.parts, part{Row(c.Len()), f.Path()})
	}
	for chunk := range f.Chunks {
		for i := range chunk {
			if err := c.sources.Append(c.Len()+i, f.Path(), true, ""); err != nil {
				return err
			}
		}
		if err := c.fingerprints.AppendAll(chunk); err != nil {
			return err
		}
	}
	return nil
}
