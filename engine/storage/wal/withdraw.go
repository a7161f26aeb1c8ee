package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrWithdrawn is wrapped by the error of [Log.Sync] for a record that was never written. That error also contains
// the reason.
var ErrWithdrawn = errors.New("the record was withdrawn")

// A span is a range of positions of withdrawn records, both ends included.
type span struct {
	first, last Position
	err         error
}

// Failing reports whether a disk call failed. No record is acknowledged until [Log.Resume] succeeds.
func (l *Log) Failing() bool { return l.failing.Load() }

// Withdraw takes back the records that were not written because a write or a file creation failed. It calls yield
// with each, in order. A record is valid only during that call. Withdraw returns the position of the last record that
// may be acknowledged.
//
// The record replacement replaces the withdrawn ones, so that all others keep their positions. The owner ignores it.
// Sync of a withdrawn record fails with [ErrWithdrawn], even after [Log.Resume]. No record may be appended meanwhile.
// If no call failed, or a sync failed so that the state of the file is unknown, Withdraw does nothing and ok is false.
func (l *Log) Withdraw(replacement []byte, yield func(record []byte)) (last Position, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil || l.err == ErrClosed || l.writing != nil || l.file.lost {
		return l.done, false
	}
	if len(l.queue) == 0 {
		return l.done, true
	}
	l.withdraw(span{l.queue[0].first, l.next - 1, errors.Unwrap(l.err)})
	for _, b := range l.queue {
		b.withdraw(replacement, yield)
	}
	return l.done, true
}

// withdraw adds a span. It merges it with the last one if they touch or overlap.
func (l *Log) withdraw(s span) {
	if n := len(l.withdrawn); n > 0 && l.withdrawn[n-1].last+1 >= s.first {
		l.withdrawn[n-1].last, l.withdrawn[n-1].err = s.last, s.err
		return
	}
	l.withdrawn = append(l.withdrawn, s)
}

// ifWithdrawn returns an error if the record at position was withdrawn. The caller holds l.mu.
func (l *Log) ifWithdrawn(position Position) error {
	for i := len(l.withdrawn) - 1; i >= 0 && position <= l.withdrawn[i].last; i-- {
		if position >= l.withdrawn[i].first {
			return fmt.Errorf("write-ahead log: %w: %w", l.withdrawn[i].err, ErrWithdrawn)
		}
	}
	return nil
}

// withdraw calls yield with each record of the batch and replaces it by replacement.
func (b *batch) withdraw(replacement []byte, yield func(record []byte)) {
	frames, n := b.data[frameHead:], b.records
	*b = *newBatch(b.file, b.first)
	for range n {
		length := binary.LittleEndian.Uint32(frames)
		yield(frames[4:][:length])
		frames = frames[4+length:]
		b.add(replacement)
	}
}

// SyncAll is like Sync for all records that were appended before the call and not withdrawn.
func (l *Log) SyncAll() error { return l.write(nil) }
