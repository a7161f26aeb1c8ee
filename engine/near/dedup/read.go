package dedup

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
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
	TempDir string         // of the file that IDs and places go to; default os.TempDir()
	Disk    *disk.Disk     // that it is on; default the system's

	// Open opens fingerprint files; nil is [ndf.Open].
	Open func(path string) (*ndf.File, error)

	// Say, if not nil, is called with the most memory that everything takes, which is [NeedBytes]:
	// for fingerprints before they are read; for documents before that, when their number is
	// unknown and 0, and before they are compared. What grows with their number may be spilled to
	// temporary files, since there is less memory.
	Say func(documents int, bytes uint64, spilled bool)

	readingBytes uint64 // what reading documents takes
}

// fields returns the fields that documents are to be read with: a list for each policy that goes by
// values, that of the source, and that of the URL.
func (o *ReadOptions) fields() (lists [][]string) {
	for _, by := range o.Keep.byValue() {
		lists = append(lists, by.fields())
	}
	if o.Source.Field != "" {
		lists = append(lists, []string{o.Source.Field})
	}
	if len(o.SameURL) > 0 {
		lists = append(lists, o.SameURL)
	}
	return lists
}

// ReadDocuments returns the corpus of the documents in some inputs. Those with too few features for
// a fingerprint are counted by the report, are not compared, and are kept. It
// sets cfg.Document.ValueFields as the policy needs them.
func ReadDocuments(ctx context.Context, inputs []string, cfg ingest.Config, o ReadOptions) (*Corpus, ingest.Report,
	error) {
	cfg.Document.ValueFields = o.fields()
	if cfg.Recipe == (simhash.Recipe{}) {
		cfg.Recipe = simhash.Default()
	}
	cfg.Document.Extract = document.Extract(cfg.Recipe.Extract)
	cfg = o.reading(cfg)
	c := NewCorpus(&cfg.Recipe, o)
	c.from = origin{inputs: inputs, options: cfg.Document, unread: map[string][]int64{}}
	c.from.options.Meter = nil // it counts the first reading
	if err := c.expect(0); err != nil {
		return nil, ingest.Report{}, err // nothing is reserved
	}
	err := c.sources.begin(ctx, inputs)
	if err == nil {
		err = o.checkFields(ctx, inputs, cfg.Document)
	}
	if err != nil {
		c.Close()
		return nil, ingest.Report{}, err
	}
	skipped := cfg.Skipped
	cfg.Skipped = func(s *document.Skip) error {
		if s.Reason == document.TooLarge && s.Line > 0 {
			c.from.unread[s.Source] = append(c.from.unread[s.Source], int64(s.Line))
		}
		if skipped == nil {
			return nil
		}
		return skipped(s)
	}
	report, err := ingest.Run(ctx, inputs, cfg, func(r ingest.Record) error {
		at := Place{r.Source, int64(r.Line)}
		if !r.OK {
			return c.appendShort(r.ID, r.TextBytes, at, r.Values)
		}
		c.from.units.set(r.Unit)
		return c.Append(Document{r.ID, r.Fingerprint, r.Hash, r.TextBytes, r.Values, r.Modified, at})
	})
	c.from.end(report.FileUnits)
	if err == nil {
		err = cmp.Or(c.sources.end(), c.hashes.end(), c.urls.end())
	}
	if err == nil {
		err = c.expect(c.Len())
	}
	if err == nil {
		err = c.endColumns()
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
	if o.Open == nil {
		o.Open = ndf.Open
	}
	for _, path := range paths {
		f, err := o.Open(path)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
		n += int(f.Len())
	}
	files := c.files
	if _, err := ndf.HaveIDs(files); err != nil {
		return nil, err
	}
	parts, err := ndf.Parts(files)
	if err != nil {
		return nil, err
	}
	c.held = parts != nil
	if err := c.expect(n); err != nil {
		return nil, err
	}
	c.recipe = files[0].Recipe()
	if err := o.Keep.checkPrints(c.recipe != nil); err != nil && n > 0 { // rather than after all is read
		return nil, err
	}
	if c.sources.shares = parts != nil; parts != nil {
		return c, c.readParts(ctx, files, parts)
	}
	if err := c.sources.begin(ctx, paths); err != nil {
		return nil, err
	}
	if c.recipe != nil && o.Keep.byLength() && !c.spilled {
		c.lengths.all = make([]uint32, 0, n)
	}
	var pieces [][]uint64
	n = 0
	for _, f := range files {
		if err := c.readFile(ctx, f, files[0], Row(n)); err != nil {
			return nil, err
		}
		n += int(f.Len())
		pieces = slices.AppendSeq(pieces, f.Chunks)
	}
	c.mapped = cluster.NewPrints(pieces...)
	return c, c.endColumns()
}

// check verifies a file, whose recipe must be that of the first.
func (c *Corpus) check(ctx context.Context, f, first *ndf.File) error {
	if s := f.Store(); s != nil {
		if err := s.Verify(ctx, c.o.Threads, nil); err != nil {
			return err
		}
	}
	return simhash.Compatible(first.Path(), c.recipe, f.Path(), f.Recipe())
}

// readParts appends the documents of shares, in the order of the inputs of which they are shares.
func (c *Corpus) readParts(ctx context.Context, files []*ndf.File, parts []ndf.Part) error {
	for _, f := range files {
		if err := c.check(ctx, f, files[0]); err != nil {
			return err
		}
	}
	for _, p := range parts {
		for d, err := range p.Documents {
			at := Place{d.File, d.Row}
			switch {
			case err != nil:
			case d.OK:
				err = c.Append(Document{ID: d.ID, Fingerprint: d.Fingerprint, TextBytes: d.TextBytes, Place: at})
			default:
				err = c.appendShort(d.ID, d.TextBytes, at, nil)
			}
			if err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return cmp.Or(c.sources.end(), c.endColumns())
}

// readFile appends a file whose first row is given, and whose recipe must be that of the first file.
// Its fingerprints stay in it.
func (c *Corpus) readFile(ctx context.Context, f, first *ndf.File, row Row) error {
	if err := c.check(ctx, f, first); err != nil {
		return err
	}
	if f.Len() == 0 {
		return ctx.Err() // no row is of it
	}
	c.parts = append(c.parts, part{row, f.Path()})
	c.sources.appendFile(f.Path(), row, int(f.Len()))
	if c.o.Keep.byLength() {
		for chunk := range f.TextBytes {
			for _, length := range chunk {
				if err := c.lengths.append(length); err != nil {
					return err
				}
			}
		}
	}
	for id, err := range f.IDs {
		if err != nil {
			return err
		}
		if err := c.rows.append(record{id: id}); err != nil {
			return err
		}
	}
	return ctx.Err()
}
