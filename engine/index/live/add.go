package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
)

// Add builds a segment of the documents of fingerprint files and adds it to an index that is open for writing. The
// documents are numbered through the files in order, after all documents that existed when the call began. They become
// visible together, or not at all. Inserts and queries continue meanwhile. If several documents have one ID, the
// conflict policy of the index decides before Add returns: later documents replace earlier ones, or are deleted. If the
// index refuses conflicts and an ID is in the index or twice in the files, the error wraps [ErrConflict], and nothing
// is added. An ID that is inserted meanwhile stays with the inserted document. The documents expire like inserted ones.
func (x *Index) Add(ctx context.Context, files []*ndf.File, o BuildOptions) error {
	if !x.folder.durable() {
		return errors.New("documents can only be added to an index that is open for writing")
	}
	if err := x.config.fits(files, o.NoIDs); err != nil {
		return err
	}
	w, err := x.View()
	if err != nil {
		return err
	}
	sketches := x.config.Sketches && !addsUnverified(files, w.Version.Segments)
	w.Release()
	input, err := inputOf(files, sketches, o.NoIDs)
	if err != nil {
		return err
	}
	n := uint64(input.Len())
	if n == 0 {
		return nil
	}
	if err := verifyFingerprints(ctx, files, o.Threads); err != nil {
		return err
	}
	if x.config.IDs && x.config.OnConflict == rows.Refuse {
		if err := x.refuseHeld(ctx, input, o); err != nil {
			return err
		}
	}
	first, err := x.upkeep.addSegment(ctx, input, o)
	if err != nil || !x.config.IDs {
		return err
	}
	return x.upkeep.resolveConflicts(ctx, first, first+rows.DocID(n))
}

// addsUnverified reports whether some files and some segments have no sketches.
func addsUnverified(files []*ndf.File, segments []*version.Segment) bool {
	return slices.ContainsFunc(files, func(f *ndf.File) bool { return !f.HasSketches() }) &&
		slices.ContainsFunc(segments, func(s *version.Segment) bool { return s.Sketches == nil })
}

// fits refuses files whose recipe, or whose use of IDs, differs from the index.
func (c *Config) fits(files []*ndf.File, noIDs bool) error {
	recipe, err := commonRecipe(files)
	if err != nil {
		return err
	}
	if err := simhash.Compatible("the index", c.Recipe, "the fingerprint files", recipe); err != nil {
		return err
	}
	for _, f := range files {
		if (f.HasIDs() && !noIDs) != c.IDs {
			return fmt.Errorf("%w: %s and the index: one of them has IDs of documents", ErrMixed, f.Path())
		}
	}
	return nil
}

// refuseHeld returns an error that wraps [ErrConflict] if an ID of the input is in the index, or twice in the input.
func (x *Index) refuseHeld(ctx context.Context, in input, o BuildOptions) error {
	if _, err := unique(ctx, &in, rows.Refuse, o.Budget.OrMachine()); err != nil {
		return err
	}
	for id, err := range in.IDs {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if match, ok, err := x.Find(id); err != nil {
			return err
		} else if ok {
			return fmt.Errorf("%w: %.200q is document %d; nothing is added", ErrConflict, id, match)
		}
	}
	return nil
}

// addSegment makes the segment and returns the number of its first document.
func (u *upkeep) addSegment(ctx context.Context, in input, options BuildOptions) (rows.DocID, error) {
	u.flushing.Lock() // later documents are flushed later, so that files stay in the order of documents
	defer u.flushing.Unlock()
	n := uint64(in.Len())
	first, err := u.flushBefore(ctx, n)
	if err != nil {
		return 0, err
	}
	o := u.fileOptions(options.Threads, n, n)
	o.Progress, o.Planned, o.Budget = options.Progress, options.Planned, options.Budget.OrMachine()
	c := &newSegment{input: in, documents: documents{numbers: rows.NewNumbers(first, n)}, first: first}
	c.expires.Append(u.versions.Clock.After(u.config.TTL), n)
	defer u.wakeMerger()
	return first, u.makeSegment(ctx, c, version.Edit{}, 0, o, func(m *Manifest, entry ManifestSegment) {
		m.Segments = append(m.Segments, entry)
	})
}

// conflictIDs is the number of IDs that are looked up under one lock.
const conflictIDs = 1024

// resolveConflicts applies the conflict policy to the IDs of the documents in [first, end).
func (u *upkeep) resolveConflicts(ctx context.Context, first, end rows.DocID) error {
	for position := first; position < end; position += conflictIDs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the documents are added; some IDs belong to more than one document: %w", err)
		}
		if _, err := u.writer.deleteFound(ctx, func() ([]rows.DocID, error) {
			return u.writer.ids.superseded(position, min(position+conflictIDs, end))
		}); err != nil {
			return err
		}
	}
	return nil
}
