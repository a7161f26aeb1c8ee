package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ndd/engine/storage/wal"
)

// What the log could not write, on a disk that is full, was in memory already, since the log is shared by those who wait: it is
// taken back before any of them is told.
//
//	commit:  log record ─► memory ─► sync ── written ──► acknowledged
//	                                  └─ not written ──► withdrawn from the log, undone in memory ──► refused
//
// After a sync that failed nobody knows what the disk has: then nothing is taken back, and the callers are told that.
// What a flush or a merge writes has no change that may still be taken back: see settled.

// ErrUnknown is wrapped where a change is found by queries, and only the next opening of the index shows if it lasts: the
// disk failed to say if it has it.
var ErrUnknown = errors.New("it is not known whether the change lasts: it is seen until the index is closed")

var errRefused = errors.New("nothing was inserted or deleted")

// errTakenBack is returned by a flush or a merge that may have what was taken back, and is tried again.
var errTakenBack = errors.New("changes were taken back meanwhile")

// sync waits until a change is as durable as the index is to make it. Where that is refused it is no more in the index, and
// nothing is that was made after it and before the error.
func (x *Index) sync(ctx context.Context, at wal.Position) error {
	if x.log == nil || at == 0 {
		return nil
	}
	err := x.log.Sync(ctx, at)
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	x.writer.mu.Lock()
	x.takeBack()
	x.writer.mu.Unlock() // whoever took it back has done so
	switch again := x.log.Sync(ctx, at); {
	case again == nil: // it was written before what could not be
		return nil
	case errors.Is(again, wal.ErrWithdrawn):
		return fmt.Errorf("%w: %w", errRefused, again)
	case errors.Is(err, wal.ErrClosed):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// resume has the log go on after an error, if the disk lets it. It needs x.mu, and that no change is being prepared.
func (x *Index) resume() error {
	x.takeBack()
	if err := x.log.Resume(); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return nil
}

// takeBack undoes the changes that the log could not write, the last one first. It needs x.mu.
func (x *Index) takeBack() {
	var changes []change
	last, ok := x.log.Withdraw((&change{}).append(nil, &x.config), func(record []byte) {
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
		x.undo(&c)
	}
	x.logged.Store(uint64(last))
	x.refused.Add(1)
}

// undo gives back what a change deleted, and deletes what it inserted: until both are done a query may see both. It needs x.mu.
func (x *Index) undo(c *change) {
	clock := c.clock(0, x.current.Load().end())
	c.delete = slices.DeleteFunc(c.delete, func(doc DocID) bool { return len(c.docs) > 0 && doc >= c.first })
	x.revive(c.delete)
	for i := range c.docs {
		x.kill(c.first+DocID(i), clock)
	}
}

// revive takes deletions back. It needs x.mu.
func (x *Index) revive(docs []DocID) {
	v := x.current.Load()
	for _, doc := range docs {
		if m := v.memtableOf(doc); m != nil {
			m.revive(doc)
		} else if s := v.segmentOf(doc); s != nil {
			s.dead.remove(doc)
		}
	}
	x.deleted = x.stillDeleted(x.deleted)
}

// stillDeleted returns those of some deletions of documents in files that were not taken back. It needs x.mu.
func (x *Index) stillDeleted(docs []DocID) []DocID {
	v := x.current.Load()
	return slices.DeleteFunc(docs, func(doc DocID) bool {
		s := v.segmentOf(doc)
		if s == nil {
			s = x.incoming
		}
		if s == nil {
			return false
		}
		_, there := s.numbers.row(doc)
		return there && !s.dead.has(doc, documentsMax)
	})
}

// revive takes the deletion of a document back, and gives it its ID again.
func (m *memtable) revive(doc DocID) {
	m.dead.remove(doc)
	row := int(doc - m.first)
	if id := m.id(row); id != "" {
		m.rows.put(m.key.hash(id), row, func(row int) bool { return string(m.idBytes(row)) == id })
	}
}

// settled returns nil when all changes that were made before the call last, and none was taken back since refused was read. What
// was gathered after that and before the call may then be written to a file in their place.
func (x *Index) settled(refused uint64) error {
	if err := x.log.SyncAll(); err != nil {
		return err
	}
	if x.refused.Load() != refused {
		return errTakenBack
	}
	return nil
}
