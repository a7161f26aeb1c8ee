package dedup

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/text"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/storage/disk"
)

// ReadOptions configures how a corpus is read.
type ReadOptions struct {
	Keep    Keep
	Source  Sources
	SameURL []string       // fields, the first of which that a document has is its URL; documents with one go for one
	Find    Options        // with which Find will be called: memory depends on them
	Copies  bool           // the inputs will be copied: memory depends on it, too
	Budget  *memory.Budget // of which the memory is taken, until [Corpus.Close]; nil: no limit
	Threads int            // goroutines; 0 or less: as many as there are processors
	TempDir string         // of temporary files; default os.TempDir()
	Disk    *disk.Disk     // that they are on; default the system's

	Open ndf.OpenOptions // of fingerprint files

	// Say, if not nil, is called with the most memory that everything takes, which is [NeedBytes]:
	// for fingerprints before they are read; for documents before that, when their number is
	// unknown and 0, and before they are compared. What grows with their number may be spilled to
	// temporary files, since there is less memory.
	Say func(documents int, bytes uint64, spilled bool)

	readingBytes uint64 // what reading documents takes
	columnBytes  uint64 // as [columnBytes], where it is not 0
}

// ReadDocuments returns the corpus of the documents in some inputs. Those with too few features for
// a fingerprint are counted by the report, and are compared with equal ones alone. It
// sets cfg.Document.ValueFields as the policy needs them.
func ReadDocuments(ctx context.Context, inputs []string, cfg ingest.Config, o ReadOptions) (*Corpus, ingest.Report,
	error) {
	lists := o.wanted()
	cfg.Document.ValueFields = nil
	for _, w := range lists {
		cfg.Document.ValueFields = append(cfg.Document.ValueFields, w.fields)
	}
	if cfg.Recipe == (simhash.Recipe{}) {
		cfg.Recipe = simhash.Default()
	}
	cfg.Document.Extract = text.Extraction(cfg.Recipe.Extract)
	c := NewCorpus(&cfg.Recipe, o)
	cfg = c.reading(cfg)
	c.from.inputs, c.from.options = inputs, cfg.Document
	c.from.options.Meter = nil // it counts the first reading
	if err := c.reserve(0); err != nil {
		return nil, ingest.Report{}, err // nothing is reserved
	}
	err := c.sources.begin(ctx, inputs)
	if err == nil {
		err = checkFields(ctx, inputs, cfg.Document, lists)
	}
	if err != nil {
		c.Close()
		return nil, ingest.Report{}, err
	}
	report, err := ingest.Run(ctx, inputs, cfg, func(r ingest.Record) error {
		d := Document{r.ID, r.Fingerprint, r.Hash, r.TextBytes, r.Values, r.Modified, Place{r.Source, int64(r.Line)}, !r.OK}
		if err := c.from.units.Append(uint64(r.Unit)); err != nil {
			return err
		}
		return c.Append(d)
	})
	c.from.fileUnits = report.FileUnits
	if err == nil {
		err = c.sources.end()
	}
	if err == nil {
		err = cmp.Or(c.reserve(c.Len()), c.end())
	}
	if err != nil {
		c.Close()
	}
	return c, report, err
}

// ReadPrints returns the corpus of one or more fingerprint files; of documents without IDs the rows
// are the IDs. It verifies checksums. The error wraps [simhash.ErrMixed] unless all files have one
// recipe, and IDs or none.
func ReadPrints(ctx context.Context, paths []string, o ReadOptions) (_ *Corpus, err error) {
	c := NewCorpus(nil, o)
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	n := 0
	for _, path := range paths {
		f, err := ndf.Open(path, o.Open)
		if err != nil {
			return nil, err
		}
		c.raw.files = append(c.raw.files, f)
		n += int(f.Len())
	}
	files := c.raw.files
	ids, err := ndf.HaveIDs(files)
	if err != nil {
		return nil, err
	}
	parts, err := ndf.Parts(files)
	if err != nil {
		return nil, err
	}
	if err := c.reserve(n); err != nil {
		return nil, err
	}
	c.recipe = files[0].Recipe()
	if err := o.Keep.checkPrints(c.recipe != nil); err != nil && n > 0 { // rather than after all is read
		return nil, err
	}
	if c.sources.shares = slices.ContainsFunc(files, (*ndf.File).IsShare); !c.sources.shares {
		if err := c.sources.begin(ctx, paths); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		if err := c.check(ctx, f, files[0]); err != nil {
			return nil, err
		}
	}
	if ids {
		err = c.appendParts(ctx, parts)
		c.closeRaw() // the corpus has all of them
	} else {
		c.mapRaw()
	}
	return c, cmp.Or(err, c.sources.end(), c.end(), ctx.Err())
}

// check verifies a file, whose recipe must be that of the first.
func (c *Corpus) check(ctx context.Context, f, first *ndf.File) error {
	if err := f.Verify(ctx, c.o.Threads); err != nil {
		return err
	}
	return simhash.Compatible(first.Path(), c.recipe, f.Path(), f.Recipe())
}

// appendParts appends the documents of files with IDs, those of shares in the order of the inputs of which they
// are shares.
func (c *Corpus) appendParts(ctx context.Context, parts []ndf.Part) error {
	for _, p := range parts {
		for d, err := range p.Documents {
			if err == nil {
				err = c.Append(Document{ID: d.ID, Fingerprint: d.Fingerprint, TextBytes: d.TextBytes,
					Place: Place{d.File, d.Row}, Short: !d.OK})
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

// mapRaw takes the rows of files without IDs, whose fingerprints stay in them.
func (c *Corpus) mapRaw() {
	var pieces [][]uint64
	row := Row(0)
	for _, f := range c.raw.files {
		if f.Len() > 0 {
			c.raw.parts = append(c.raw.parts, part{row, f.Path()})
			c.sources.appendFile(f.Path(), row, int(f.Len()))
			row += Row(f.Len())
		}
		pieces = slices.AppendSeq(pieces, f.Chunks)
	}
	c.raw.prints = cluster.NewPrints(pieces...)
}
