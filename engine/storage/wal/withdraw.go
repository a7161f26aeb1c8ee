package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrWithdrawn is wrapped by the error of [Log.Sync] for a record that was not written and never will be, with the reason.
var ErrWithdrawn = errors.New("the record was withdrawn")

// A span is the positions of some records that were withdrawn, both ends among them.
type span struct {
	first, last Position
	why         error
}

// Failing reports whether a call failed, so that nothing is acknowledged until [Log.Resume] returns nil.
func (l *Log) Failing() bool { return l.failing.Load() }

// Withdraw takes back the records that were not written because a write failed, or a file could not be created, and returns the
// position of the last record that may be acknowledged. It calls yield with each, in order; record is valid during the call only. Their
// places are taken by the record instead, which says nothing to the owner, so that all others keep their positions; and Sync of them
// fails with [ErrWithdrawn], also after [Log.Resume]. No record may be appended meanwhile. After a sync that failed nobody
// knows what was written: then, as without an error, nothing is withdrawn and ok is false.
func (l *Log) Withdraw(instead []byte, yield func(record []byte)) (last Position, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil || l.err == ErrClosed || l.writing != nil || l.file.lost {
		return l.done, false
	}
	if len(l.queue) == 0 {
		return l.done, true
	}
	l.withdraw(span{l.queue[0].first, l.next - 1, l.cause})
	for _, b := range l.queue {
		b.withdraw(instead, yield)
	}
	return l.done, true
}

// withdraw notes positions; those from the first one on may have been noted before.
func (l *Log) withdraw(s span) {
	if n := len(l.withdrawn); n > 0 && l.withdrawn[n-1].last+1 >= s.first {
		l.withdrawn[n-1].last, l.withdrawn[n-1].why = s.last, s.why
		return
	}
	l.withdrawn = append(l.withdrawn, s)
}

// ifWithdrawn returns an error where a record was. It needs l.mu.
func (l *Log) ifWithdrawn(at Position) error {
	for i := len(l.withdrawn) - 1; i >= 0 && at <= l.withdrawn[i].last; i-- {
		if at >= l.withdrawn[i].first {
			return fmt.Errorf("write-ahead log: %w: %w", l.withdrawn[i].why, ErrWithdrawn)
		}
	}
	return nil
}

// withdraw calls yield with each record, and puts another one in its place.
func (b *batch) withdraw(instead []byte, yield func(record []byte)) {
	rest, n := b.data[frameHead:], b.records
	b.data = nil // its memory is the records'
	b.begin(b.file, b.first)
	for range n {
		length := binary.LittleEndian.Uint32(rest)
		yield(rest[4:][:length])
		rest = rest[4+length:]
		b.add(instead)
	}
}

// SyncAll is Sync of all records that were appended before the call and not withdrawn.
func (l *Log) SyncAll() error { return l.write(nil) }
