package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ndd/engine/index/live/rows"
	"ndd/engine/storage/wal"
)

// What the log could not write, on a disk that is full, was in memory already, since the log is
// shared by those who wait: it is taken back before any of them is told.
//
//	commit:  log record ─► memory ─► sync ── written ──► acknowledged
//	                                  └─ not written ──► withdrawn from the log, undone in memory ──► refused
//
// After a sync that failed nobody knows what the disk has: then nothing is taken back, and the
// callers are told that. What a flush or a merge writes has no change that may still be taken back:
// see settled.

// ErrUnknown is wrapped where a change is found by queries, and only the next opening of the index
// shows if it lasts: the disk failed to say if it has it.
var ErrUnknown = errors.New("it is not known whether the change lasts: it is seen until the index is closed")

// errUndone is returned by a flush or a merge that may have undone changes; it is tried again.
var errUndone = errors.New("changes were taken back meanwhile")

// sync waits until a change is as durable as the index is to make it. Where that is refused it is
// no more in the index, and nothing is that was made after it and before the error.
func (w *writer) sync(ctx context.Context, at wal.Position) error {
	if w.log == nil || at == 0 {
		return nil
	}
	err := w.log.Sync(ctx, at)
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	w.mu.Lock()
	w.undoUnwritten()
	w.mu.Unlock() // whoever took it back has done so
	switch again := w.log.Sync(ctx, at); {
	case again == nil: // it was written before what could not be
		return nil
	case errors.Is(again, wal.ErrWithdrawn):
		return fmt.Errorf("%w: %w", errRefused, again)
	case errors.Is(err, wal.ErrClosed):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// resume has the log go on after an error, if the disk lets it. The caller holds writer.mu, and
// that no change is being prepared.
func (w *writer) resume() error {
	w.undoUnwritten()
	if err := w.log.Resume(); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return nil
}

// undoUnwritten undoes the changes that the log could not write, the last one first. The caller
// holds writer.mu.
func (w *writer) undoUnwritten() {
	var changes []change
	last, ok := w.log.Withdraw((&change{}).append(nil, &w.config), func(record []byte) {
		c, err := parseChange(record)
		if err != nil {
			panic("live: a record of this log: " + err.Error())
		}
		changes = append(changes, c)
	})
	if !ok || len(changes) == 0 {
		return
	}
	for _, c := range slices.Backward(changes) {
		w.undo(&c)
	}
	w.logged.Store(uint64(last))
	w.refused.Add(1)
}

// undo restores the documents that a change deleted, and deletes those that it inserted. Until both
// are done a query may see both. The caller holds writer.mu.
func (w *writer) undo(c *change) {
	c.delete = slices.DeleteFunc(c.delete, func(doc rows.DocID) bool { return len(c.docs) > 0 && doc >= c.first })
	w.revive(c.delete)
	d := w.nextDeletion()
	for i := range c.docs {
		w.kill(c.first+rows.DocID(i), d)
	}
	w.publish()
}

// revive restores deleted documents. The caller holds writer.mu.
func (w *writer) revive(docs []rows.DocID) {
	v := w.versions.Current()
	for _, doc := range docs {
		if m := v.MemtableOf(doc); m != nil {
			m.Restore(doc)
		} else if s := v.SegmentOf(doc); s != nil {
			s.Dead.Remove(doc)
		}
	}
	w.deleted = w.stillDeleted(w.deleted)
}

// stillDeleted returns the documents, of docs, that are in a file and deleted: no file has the
// others any more, or their deletions were undone. The caller holds writer.mu.
func (w *writer) stillDeleted(docs []rows.DocID) []rows.DocID {
	v := w.versions.Current()
	return slices.DeleteFunc(docs, func(doc rows.DocID) bool {
		s := v.SegmentOf(doc)
		if s == nil {
			return true
		}
		_, there := s.Numbers.Row(doc)
		return !there || !s.Dead.Has(doc, w.newest().Moment)
	})
}

// settled syncs the log, and returns an error if a change was undone since refused was read.
// Without an error, documents gathered in between may be written to a file.
func (w *writer) settled(refused uint64) error {
	if w.log != nil {
		if err := w.log.SyncAll(); err != nil {
			return err
		}
	}
	if w.refused.Load() != refused {
		return errUndone
	}
	return nil
}
