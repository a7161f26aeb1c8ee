package dedup

import (
	"context"
	"errors"
	"slices"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

// Find returns the clusters of a corpus. It fails if the options do not suit the corpus, if a file cannot be read, if
// memory is not available, or if ctx ends.
func Find(ctx context.Context, c *Corpus, o Options) (_ *Result, err error) {
	defer store.EndFaults(store.BeginFaults(), &err) // temporary files are mapped
	if err := o.check(c); err != nil {
		return nil, err
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	s, err := newSearch(c, o)
	if err != nil {
		return nil, err
	}
	if err := s.findEqualDocuments(ctx); err != nil {
		return nil, err
	}
	if err := s.findKnown(ctx); err != nil {
		return nil, err
	}
	if err := s.findNear(ctx); err != nil {
		return nil, err
	}
	settleURLs(s.r)
	s.r.Spilled = c.room.spilled
	return s.r, nil
}

// check returns an error if the options require a comparison that is impossible.
func (o *Options) check(c *Corpus) error {
	switch {
	case o.Texts == nil && len(o.Rule) > 0 && o.Rule.threshold() == 0:
		return errors.New("a sketch estimates only the Jaccard similarity: this rule needs the texts")
	case o.Texts == nil:
		return nil
	case o.Known != nil:
		return errors.New("texts cannot be compared with known documents, which have none")
	}
	return c.from.readable()
}

// findEqualDocuments finds documents with the same URL, and short documents with the same text.
func (s *search) findEqualDocuments(ctx context.Context) (err error) {
	urls, hashes, empty, none := s.c.urls.All, s.c.hashes.All, ingest.HashOf(""), [2]uint64{}
	s.r.SameURL, err = s.findEqual(ctx, urls, func(row int) bool { return urls[row] != none })
	if err != nil {
		return err
	}
	s.r.SameText, err = s.findEqual(ctx, hashes, func(row int) bool {
		return s.c.short.Has(row) && hashes[row] != empty && hashes[row] != none
	})
	for i := range s.r.SameText {
		s.r.SameText[i].Likeness = same
	}
	return err
}

// findKnown finds the rows that the caller already has. It leaves out rows that are protected, too short for a
// fingerprint, or dropped for their URL.
func (s *search) findKnown(ctx context.Context) (err error) {
	if s.o.Known == nil {
		return nil
	}
	r := s.r
	if r.Known, err = s.o.Known(ctx, s.c.fingerprints.All, s.sketches()); err != nil {
		return err
	}
	r.Known = slices.DeleteFunc(r.Known, func(k Drop) bool {
		_, gone := findDrop(r.SameURL, k.Row)
		return gone || s.c.sources.Protects(int(k.Row)) || s.c.short.Has(int(k.Row))
	})
	for i := range r.Known {
		r.Known[i].KeptRow = -1
	}
	return nil
}

// sketches returns the sketches of all rows if they are compared.
func (s *search) sketches() []sketch.Sketch {
	if len(s.o.Rule) == 0 {
		return nil
	}
	return s.c.sketches()
}

// findNear finds the clusters of the other rows, and divides them by likeness.
func (s *search) findNear(ctx context.Context) error {
	fingerprints, rows, err := s.undecided()
	if err != nil {
		return err
	}
	if s.r.clusters, err = s.clusters(ctx, fingerprints, rows, s.options); err != nil {
		return err
	}
	switch {
	case s.o.Texts != nil:
		return s.settleTexts(ctx)
	case s.o.Exact:
		return s.settle(ctx, s.hashJudge)
	case len(s.o.Rule) == 0:
		return s.settle(ctx, anyJudge)
	}
	return s.settle(ctx, nil)
}

// undecided returns the rows to compare and their fingerprints. It leaves out known rows, rows that are dropped for
// their URL, and rows that are too short for a fingerprint. rows is nil if it leaves out none.
func (s *search) undecided() (fingerprints []uint64, rows []Row, err error) {
	known, urls := s.r.Known, s.r.SameURL
	excluded := len(known) + len(urls) + s.c.shorts
	if excluded == 0 {
		return s.c.fingerprints.All, nil, nil
	}
	remaining := s.c.Len() - excluded
	rows = memory.Alloc[Row](&s.c.room.results, max(remaining, 1), &err)[:0] // not nil, even if it is empty
	fingerprints = memory.Alloc[uint64](&s.c.room.results, max(remaining, 1), &err)[:0]
	if err != nil {
		return nil, nil, err
	}
	for row := range Row(s.c.Len()) {
		switch {
		case len(known) > 0 && known[0].Row == row:
			known = known[1:]
		case len(urls) > 0 && urls[0].Row == row:
			urls = urls[1:]
		case s.c.short.Has(int(row)):
		default:
			rows, fingerprints = append(rows, row), append(fingerprints, s.c.fingerprint(row))
		}
	}
	return fingerprints, rows, nil
}
