package wal

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"

	"example.org/ndd/engine/storage/disk"
)

// A Position is the number of a record in its log. The first record of a log has 1, and each further record one more,
// across all files. 0 is before the first.
type Position uint64

// RecordMax is the maximum number of bytes of a record.
const RecordMax = 16 << 20

// ErrClosed is returned by the methods of a log that was closed.
var ErrClosed = errors.New("write-ahead log: it is closed")

// A Mark is a boundary between two files of a log. Files with numbers below File contain the records up to Last. File
// begins with the next record, if it has any. The zero Mark is the beginning of a log.
type Mark struct {
	File uint64
	Last Position
}

// Options configures [Open]. The zero value opens a log whose owner has no ID.
type Options struct {
	ID     [16]byte  // ID of the owner; files with another ID are refused
	Start  Mark      // start of the needed records; earlier files are removed unread
	Holds  Mark      // result of [Log.Begin]: this file and the records up to Last must exist
	NoSync bool      // do not sync records: a power cut may lose acknowledged ones, but the end of the process may not
	Random io.Reader // source of the files' identities; default crypto/rand
}

// A Log appends records to the files of a folder. It is safe for concurrent use. After a failed write or sync every
// method returns that error until the log is opened again, so that only durable records are acknowledged.
type Log struct {
	noSync bool // records are not synced

	mu      sync.Mutex
	queue   []*batch      // batches not yet taken by a writer, oldest first
	next    Position      // position of the next record
	done    Position      // position of the last record that may be acknowledged
	number  uint64        // number of the file for the next record
	first   Position      // position of the first record of that file
	writing chan struct{} // closed when the current writer has finished; nil if nobody writes
	waiters int           // callers of write that wait for the writer
	err     error         // wraps the first error of a disk call, or is ErrClosed
	failing atomic.Bool   // err is neither nil nor ErrClosed

	withdrawn []span // spans of withdrawn positions, ascending

	file writer // except disk and dir, owned by the goroutine that created writing
}

// Open opens the log in the folder dir, which must exist. It calls replay with each record, in order. A record is
// valid only during that call. An error of replay ends Open. The log must not be open elsewhere.
//
// Open durably removes an incomplete end of the last file, which a crash left. All other damage is an error that
// wraps [store.ErrCorrupt]. The first new record creates a new file. If the disk is full or read-only, Open succeeds
// and the log is in the state after a failed write. [Log.Resume] then removes the incomplete end.
func Open(d *disk.Disk, dir string, o Options, replay func(position Position, record []byte) error) (*Log, Report, error) {
	state, err := scan(d, dir, o, replay)
	if err != nil {
		return nil, Report{}, err
	}
	unrepaired := state.repair(d, dir)
	if unrepaired != nil && !disk.IsUnwritable(unrepaired) {
		return nil, Report{}, fmt.Errorf("write-ahead log: %w", unrepaired)
	}
	l := &Log{noSync: o.NoSync, next: state.Last + 1, done: state.Last, number: state.next, first: state.Last + 1,
		file: writer{disk: d, dir: dir, log: o.ID, random: cmp.Or[io.Reader](o.Random, rand.Reader)}}
	if unrepaired != nil {
		l.file.repair = func() error { return state.repair(d, dir) }
		l.fail(unrepaired)
	}
	return l, state.Report, nil
}

// Append adds a record at the end and returns its position. It copies the record to memory in less than a
// microsecond. The caller may hold its own lock, which then determines the order of records. The record is durable
// when [Log.Sync] has returned for its position.
func (l *Log) Append(record []byte) (Position, error) {
	if len(record) > RecordMax {
		return 0, fmt.Errorf("write-ahead log: a record of %d bytes; at most %d are allowed", len(record), RecordMax)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	b := l.batchFor(len(record))
	b.add(record)
	l.next++
	return l.next - 1, nil
}

// batchFor returns the batch for a record of that length.
func (l *Log) batchFor(record int) *batch {
	if n := len(l.queue); n > 0 {
		if b := l.queue[n-1]; b.file == l.number && len(b.data)+record <= batchBytes {
			return b
		}
	}
	b := newBatch(l.number, l.next)
	l.queue = append(l.queue, b)
	return b
}

// Close makes all records durable, marks the last file as complete and closes it. It returns the earlier error of the
// log, if any. Concurrent calls finish first or return [ErrClosed].
func (l *Log) Close() error {
	err := l.write(func() error { return l.file.finish() })
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = ErrClosed
	}
	return err
}

// Extension is the suffix of the files of a log. It is not .log, because many tools exclude .log files from copies or
// delete them.
const Extension = ".wal"

// path returns the path of the file of that number.
func path(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%08d%s", number, Extension))
}

// Rotate directs all later records to a new file. It returns the mark between them and the earlier ones. It does not
// block, so the caller may hold its own lock. The old file becomes durable before the new one is created, also
// with [Options.NoSync]. A current file without records stays.
func (l *Log) Rotate() (Mark, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return Mark{}, l.err
	}
	if l.next > l.first {
		l.number++
		l.first = l.next
	}
	return Mark{l.number, l.next - 1}, nil
}

// Remove removes the files before a mark of [Log.Rotate]. The caller guarantees that their records are durable
// elsewhere, and that [Options.Start] is this mark at the next Open. Remove first writes the pending records. It
// returns when the removal is durable. If a file cannot be removed, only this call fails, and the next call tries
// again.
func (l *Log) Remove(mark Mark) error {
	l.mu.Lock()
	number := l.number
	l.mu.Unlock()
	if mark.File > number {
		panic(fmt.Sprintf("wal: Remove of files below %d; the present one is %d", mark.File, number))
	}
	if err := l.write(func() error { return l.file.leave(mark.File) }); err != nil {
		return err
	}
	return remove(l.file.disk, l.file.dir, mark.File)
}

// Begin durably writes all pending records, and creates the current file if it has no record yet. It returns the file
// and position that the log now has. The owner's manifest stores them for [Options.Holds] of the next [Open]:
// otherwise a log that was emptied or deleted looks like one without records.
func (l *Log) Begin() (mark Mark, err error) {
	err = l.write(func() error {
		l.mu.Lock()
		number, first := l.number, l.first
		l.mu.Unlock()
		if l.file.file == nil || l.file.head.number < number {
			if err := l.file.begin(number, first); err != nil {
				return err
			}
		}
		mark = Mark{l.file.head.number, l.file.next - 1}
		return l.file.sync()
	})
	return mark, err
}
