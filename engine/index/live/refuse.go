package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ndd/engine/storage/wal"
)

// The log is shared by waiting callers, so a change is in memory before it is written. If the disk is full, changes
// that the log could not write are undone before their callers get the error.
//
//	commit:  log record ─► memory ─► sync ── written ──► acknowledged
//	                                  └─ not written ──► withdrawn from the log, undone in memory ──► refused
//
// After a failed sync nobody knows what the disk has. Then nothing is undone, and the callers get [ErrUnknown]. Flushes
// and merges never write a change that may still be undone: see settled.

// ErrUnknown is wrapped if queries see a change, but only the next opening of the index shows whether it lasts, because
// the disk failed during a sync.
var ErrUnknown = errors.New("it is not known whether the change lasts: queries see it until the index is closed")

// errUndone is returned by a flush or a merge during which changes were undone. It is tried again.
var errUndone = errors.New("changes were undone at the same time")

// sync waits until a change is durable, as the index requires. If the change is refused, it and all later changes
// before the error are undone.
func (w *writer) sync(ctx context.Context, position wal.Position) error {
	if w.log == nil || position == 0 {
		return nil
	}
	err := w.log.Sync(ctx, position)
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	w.mu.Lock()
	w.undoUnwritten()
	w.mu.Unlock() // if another goroutine undoes the change, it has finished by now
	switch err2 := w.log.Sync(ctx, position); {
	case err2 == nil: // it was written before the failure
		return nil
	case errors.Is(err2, wal.ErrWithdrawn):
		return fmt.Errorf("%w: %w", errRefused, err2)
	case errors.Is(err, wal.ErrClosed):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// resume makes the log continue after an error, if the disk allows it. The caller holds writer.mu and has no change in
// preparation.
func (w *writer) resume() error {
	w.undoUnwritten()
	if err := w.log.Resume(); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return nil
}

// undoUnwritten undoes the changes that the log could not write, last first. The caller holds writer.mu.
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
		w.state.undo(&c)
	}
	w.logged.Store(uint64(last))
	w.refused.Add(1)
}

// settled syncs the log. It returns an error if a change was undone since the caller read refused. Without an error,
// documents that the caller collected since then may be written to a file.
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
