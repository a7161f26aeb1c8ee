package wal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"ndd/engine/storage/disk"
)

// A Position is the number of a record in its log: 1 for the first one ever appended, and one
// more for each that follows, whatever the file. 0 is before the first.
type Position uint64

// RecordMax is the most bytes that a record may have.
const RecordMax = 16 << 20

// ErrClosed is returned by the methods of a log that was closed.
var ErrClosed = errors.New("write-ahead log: it is closed")

// A Mark is a place between two files of a log: records up to position Last are in files with
// numbers below File, whose first record, once it has one, is the next. The zero Mark is the
// beginning of a log.
type Mark struct {
	File uint64
	Last Position
}

// Options configures [Open]. The zero value is for a new log without an owner.
type Options struct {
	ID     [16]byte  // what the log belongs to; files with another ID are refused
	From   Mark      // what is before it is not needed; those files are removed unread
	Holds  Mark      // what [Log.Begin] returned: this file is there, and the records up to Last
	Sync   Sync      // when records become durable; the zero value is Always
	Random io.Reader // source of the files' identities; default crypto/rand
}

// A Log appends records to the files of a folder. Its methods may be called from many goroutines.
// After an error of writing or of making durable every method returns that error, until the log
// is opened again: nothing is acknowledged whose fate is unknown.
type Log struct {
	sync Sync   // when records become durable
	stop func() // ends the goroutine that syncs at intervals

	mu      sync.Mutex
	queue   []*batch      // appended and not taken for writing, oldest first
	spare   []*batch      // written, for use again
	next    Position      // of the next record
	done    Position      // the last record that was acknowledged, or may be
	number  uint64        // of the file that the next record goes to
	first   Position      // the first record of that file
	writing chan struct{} // closed when the writer below is free again; nil when it is
	asking  int           // callers of write that wait for it
	err     error         // wraps that of the first call to the disk that failed, or is ErrClosed
	failing atomic.Bool   // err is not nil, and not ErrClosed

	withdrawn []span // of positions, ascending

	file writer // owned, but for disk and dir, by the goroutine that made writing
}

// Open opens the log in the folder dir, which must exist, and calls replay with each record that is
// there, in order; record is valid during the call only. An error of replay ends Open. The folder
// must not be open as a log elsewhere.
//
// What a crash left unfinished at the end of the last file is cut off, durably, before Open
// returns; every other damage is an error that wraps [store.ErrCorrupt]. New records go to a new
// file, which is created with the first of them. On a disk that is full or read-only the log is open,
// as after a failed write: [Log.Resume] cuts the end off.
func Open(d *disk.Disk, dir string, o Options, replay func(at Position, record []byte) error) (*Log, Report, error) {
	found, err := scan(d, dir, o, replay)
	if err != nil {
		return nil, Report{}, err
	}
	unrepaired := found.repair(d, dir)
	if unrepaired != nil && !disk.IsUnwritable(unrepaired) {
		return nil, Report{}, fmt.Errorf("write-ahead log: %w", unrepaired)
	}
	l := &Log{sync: o.Sync, next: found.Last + 1, done: found.Last, number: found.next, first: found.Last + 1,
		file: writer{disk: d, dir: dir, log: o.ID, random: cmp.Or[io.Reader](o.Random, rand.Reader)}}
	if unrepaired != nil {
		l.file.repair = func() error { return found.repair(d, dir) }
		l.fail(unrepaired)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ticker sync.WaitGroup
	if every := time.Duration(o.Sync); every > 0 {
		ticker.Go(func() { l.syncEach(ctx, every) })
	}
	l.stop = func() {
		cancel()
		ticker.Wait()
	}
	return l, found.Report, nil
}

// Append adds a record at the end and returns its position. It copies the record to memory in less
// than a microsecond, and may be called under the caller's lock, which then fixes the order of
// records. The record is durable when [Log.Sync] has returned for its position.
func (l *Log) Append(record []byte) (Position, error) {
	if len(record) > RecordMax {
		return 0, fmt.Errorf("write-ahead log: a record of %d bytes; at most %d are allowed", len(record), RecordMax)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	b := l.room(len(record))
	b.add(record)
	l.next++
	return l.next - 1, nil
}

// room returns the batch for a record of that length.
func (l *Log) room(record int) *batch {
	if n := len(l.queue); n > 0 {
		if b := l.queue[n-1]; b.file == l.number && len(b.data)+record <= batchBytes {
			return b
		}
	}
	b := &batch{}
	if n := len(l.spare); n > 0 {
		b, l.spare = l.spare[n-1], l.spare[:n-1]
	}
	b.begin(l.number, l.next)
	l.queue = append(l.queue, b)
	return b
}

// Close makes all records durable, marks the last file as complete and closes it. It returns the
// error that the log had before, if any. Concurrent calls end first or return [ErrClosed].
func (l *Log) Close() error {
	l.stop()
	err := l.write(func() error { return l.file.finish() })
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = ErrClosed
	}
	return err
}

// Extension ends the names of a log's files. It is not .log, which many tools leave out of copies
// and remove.
const Extension = ".wal"

// path returns the path of the file of that number.
func path(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%08d%s", number, Extension))
}

// Rotate makes all later records go to a new file, and returns the mark between them and the
// earlier ones. It does not block and may be called under the caller's lock. The old file is made
// durable before the new one is created, whatever [Options.Sync] is. A present file without records
// remains.
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

// Remove removes the files before a mark returned by [Log.Rotate]. The caller guarantees that their
// records are durable elsewhere, and that [Options.From] is this mark at the next Open. Remove
// first writes the pending records, and returns when the removal is durable. If a file cannot be
// removed only this call fails; the next one tries again.
func (l *Log) Remove(before Mark) error {
	l.mu.Lock()
	number := l.number
	l.mu.Unlock()
	if before.File > number {
		panic(fmt.Sprintf("wal: Remove of files below %d; the present one is %d", before.File, number))
	}
	if err := l.write(func() error { return l.file.leave(before.File) }); err != nil {
		return err
	}
	return remove(l.file.disk, l.file.dir, before.File)
}

// Begin writes all pending records durably, creates the present file if it has no record yet, and
// returns what the log holds from now on, for the owner's manifest and [Options.Holds] of the next
// [Open]: without it a log that was emptied or removed looks like one without records.
func (l *Log) Begin() (holds Mark, err error) {
	err = l.write(func() error {
		l.mu.Lock()
		number, first := l.number, l.first
		l.mu.Unlock()
		if l.file.file == nil || l.file.head.number < number {
			if err := l.file.begin(number, first); err != nil {
				return err
			}
		}
		holds = Mark{l.file.head.number, l.file.next - 1}
		return l.file.sync()
	})
	return holds, err
}
