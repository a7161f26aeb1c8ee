package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
)

// Add builds a segment of the documents of fingerprint files, as [Build] does of a whole index, and
// adds it to an index that is open for writing. They are numbered through the files in order,
// behind all that were there when the call began, and are there at once, or not at all. Inserts and
// queries go on meanwhile. Of documents of one ID those that came later replace the others, or are
// deleted, as the index has it for inserts; that is done when Add returns. Where the index refuses
// conflicts the error wraps [ErrConflict] when an ID is in the index or twice in the files, and
// nothing is added. The documents expire as those of inserts do.
func (x *Index) Add(ctx context.Context, files []*ndf.File, o BuildOptions) error {
	if x.folder == nil {
		return errors.New("documents are added to an index that is open for writing")
	}
	if err := x.fits(files, o.NoIDs); err != nil {
		return err
	}
	in, err := input(files, x.config.Lengths, o.NoIDs)
	if err != nil {
		return err
	}
	n := uint64(in.Len())
	if n == 0 {
		return nil
	}
	for _, f := range files {
		if s := f.Store(); s != nil {
			if err := s.Verify(ctx, o.Threads, nil); err != nil {
				return err
			}
		}
	}
	refuse := x.config.IDs && x.config.OnConflict == Refuse
	if refuse { // before the work; and again behind it
		if err := x.unheld(ctx, in, nil); err != nil {
			return err
		}
	}
	first, err := x.addSegment(ctx, in, o, refuse)
	if err != nil || !x.config.IDs || refuse {
		return err
	}
	return x.settle(ctx, first, first+DocID(n))
}

// fits refuses files whose fingerprints do not belong into the index, with their IDs or without them.
func (x *Index) fits(files []*ndf.File, noIDs bool) error {
	recipe, err := commonRecipe(files)
	if err != nil {
		return err
	}
	if err := simhash.Compatible("the index", x.config.Recipe, "the fingerprint files", recipe); err != nil {
		return err
	}
	for _, f := range files {
		if (f.HasIDs() && !noIDs) != x.config.IDs {
			return fmt.Errorf("%w: %s and the index: one of them has IDs of documents", ErrMixed, f.Path())
		}
	}
	return nil
}

// addSegment makes the segment, and returns the number of its first document. With refuse it has no
// ID that another document has.
func (x *Index) addSegment(ctx context.Context, in segment.Input, with BuildOptions, refuse bool) (DocID, error) {
	x.flushing.Lock() // what comes later is flushed later, so that files stay in order of documents
	defer x.flushing.Unlock()
	n := uint64(in.Len())
	first, err := x.flushBefore(ctx, n)
	if err != nil {
		return 0, err
	}
	o := x.fileOptions(with.Threads, n, x.documents()+n)
	o.Progress, o.Planned, o.Budget = with.Progress, with.Planned, with.Budget.Here()
	g := &gathered{from: first, to: first + DocID(n), numbers: consecutive(first, n), ids: x.config.IDs, whole: &in}
	g.expires.append(x.wall.after(x.config.TTL), n)
	made, entry, err := x.toFile(ctx, g, nil, o)
	if err != nil {
		return 0, err
	}
	if refuse {
		x.announce(made)
		defer x.announce(nil)
		if err := x.unheld(ctx, in, made); err != nil {
			x.announce(nil)
			made.dropped = true // no manifest names its files
			return 0, errors.Join(err, made.close())
		}
	}
	x.folder.mu.Lock()
	defer x.folder.mu.Unlock()
	if err := x.folder.publish(func(m *Manifest) { m.Segments = append(m.Segments, entry) }); err != nil {
		made.close()
		return 0, err
	}
	x.put(g, made)
	x.wakeMerger()
	return first, nil
}

// announce has the IDs of a segment taken, for inserts that refuse conflicts or look for one: it is
// about to become part of the index. Nil ends that.
func (x *Index) announce(s *Segment) {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	x.incoming = s
}

// unheld returns an error that wraps [ErrConflict] when an ID of the input is that of a document of
// the index, or, once they are announced in a segment, of two documents of the input.
func (x *Index) unheld(ctx context.Context, in segment.Input, announced *Segment) error {
	var ids []string
	allowed := 0
	if announced != nil {
		allowed = 1 // its own
	}
	check := func() error {
		x.writer.mu.Lock()
		defer x.writer.mu.Unlock()
		if x.current.Load() == nil {
			return ErrClosed
		}
		for _, id := range ids {
			held, err := x.appendHolders(nil, id)
			if err != nil {
				return err
			}
			if len(held) > allowed {
				return fmt.Errorf("%w: %.200q is document %d; nothing is added", ErrConflict, id, x.config.document(slices.Min(held)))
			}
		}
		ids = ids[:0]
		return ctx.Err()
	}
	for id, err := range in.IDs {
		if err != nil {
			return err
		}
		if ids = append(ids, id); len(ids) == settleIDs {
			if err := check(); err != nil {
				return err
			}
		}
	}
	return check()
}

// settleIDs are looked up under one lock.
const settleIDs = 1024

// settle sees to it that the IDs of the documents in a range of numbers are theirs alone, or not
// theirs.
func (x *Index) settle(ctx context.Context, from, to DocID) error {
	for at := from; at < to; at += settleIDs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the documents are added; some IDs are of more than one document: %w", err)
		}
		if _, err := x.deleting(ctx, func() ([]DocID, error) { return x.superfluous(at, min(at+settleIDs, to)) }); err != nil {
			return err
		}
	}
	return nil
}

// superfluous returns the documents that have an ID of one in the range and are not to keep it. It
// needs x.mu.
func (x *Index) superfluous(from, to DocID) (docs []DocID, err error) {
	v := x.current.Load()
	for doc := from; doc < to; doc++ {
		s := v.segmentOf(doc)
		if s == nil {
			continue
		}
		row, ok := s.numbers.row(doc)
		if !ok {
			continue
		}
		id, err := x.lookup.of(v, s, row)
		if err != nil {
			return nil, err
		}
		all, err := x.appendHolders(nil, id)
		if err != nil {
			return nil, err
		}
		slices.Sort(all)
		switch {
		case len(all) < 2:
		case cmp.Or(x.config.OnConflict, Replace) == Replace:
			docs = append(docs, all[:len(all)-1]...)
		default:
			docs = append(docs, all[1:]...)
		}
	}
	return docs, nil
}
