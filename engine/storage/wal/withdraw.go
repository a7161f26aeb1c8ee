package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrWithdrawn is wrapped by the error of [Log.Sync] for a record that was never written, with the
// reason.
var ErrWithdrawn = errors.New("the record was withdrawn")

// A span is a range of positions of withdrawn records, both ends included.
type span struct {
	first, last Position
	why         error
}

// Failing reports whether a call failed, so that nothing is acknowledged until [Log.Resume] returns
// nil.
func (l *Log) Failing() bool { return l.failing.Load() }

// Withdraw takes back the records that were not written because a write or the creation of a file
// failed. It calls yield with each, in order; record is valid during the call only. It returns the
// position of the last record that may be acknowledged. The record instead, which the owner
// ignores, takes their places, so that all others keep their positions. Sync of a withdrawn record
// fails with [ErrWithdrawn], also after [Log.Resume]. No record may be appended meanwhile. After a
// failed sync the state of the file is unknown: then, as without an error, nothing is withdrawn and
// ok is false.
func (l *Log) Withdraw(instead []byte, yield func(record []byte)) (last Position, ok bool) {
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
		b.withdraw(instead, yield)
	}
	return l.done, true
}

// withdraw records a span; positions from its first on may have been recorded before.
func (l *Log) withdraw(s span) {
	if n := len(l.withdrawn); n > 0 && l.withdrawn[n-1].last+1 >= s.first {
		l.withdrawn[n-1].last, l.withdrawn[n-1].why = s.last, s.why
		return
	}
	l.withdrawn = append(l.withdrawn, s)
}

// ifWithdrawn returns an error if the record was withdrawn. It needs l.mu.
func (l *Log) ifWithdrawn(at Position) error {
	for i := len(l.withdrawn) - 1; i >= 0 && at <= l.withdrawn[i].last; i-- {
		if at >= l.withdrawn[i].first {
			return fmt.Errorf("write-ahead log: %w: %w", l.withdrawn[i].why, ErrWithdrawn)
		}
	}
	return nil
}

// withdraw calls yield with each record and replaces it.
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
