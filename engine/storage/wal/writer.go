package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"ndd/engine/storage/disk"
)

// A batch is a frame to be written: space for its head, and the records.
type batch struct {
	file    uint64   // number of the file that it goes to
	first   Position // of the records
	records int
	data    []byte
}

// batchBytes is the size up to which records share a frame: a write of 1 MiB costs several times
// the system call itself.
const batchBytes = 1 << 20

func (b *batch) begin(file uint64, first Position) {
	b.file, b.first, b.records = file, first, 0
	b.data = append(b.data[:0], make([]byte, frameHead)...)
}

// last returns the position of the batch's last record.
func (b *batch) last() Position { return b.first + Position(b.records) - 1 }

func (b *batch) add(record []byte) {
	b.data = appendRecord(b.data, record)
	b.records++
}

// A writer writes frames to the log's present file. It is used by one goroutine at a time.
type writer struct {
	disk   *disk.Disk
	dir    string
	log    [16]byte  // [Options.ID]
	random io.Reader // source of the files' identities

	file   *disk.AppendFile // nil before the first frame, and between files
	head   header
	size   int64    // of the file, up to the end of what was written in full
	synced int64    // of size, as far as is known
	next   Position // of the next record
	lost   bool     // a sync failed: it is unknown what the file has

	repair func() error // cuts off what a crash left; nil when that was done
}

// write writes the batches, each to the file of its number, and returns the number of complete
// ones.
func (w *writer) write(batches []*batch) (written int, err error) {
	for i, b := range batches {
		if w.file == nil || w.head.number != b.file {
			if err := w.begin(b.file, b.first); err != nil {
				return i, err
			}
		}
		records := len(b.data)
		b.data = w.head.seal(b.data, frame{at: w.size, synced: w.synced, first: b.first, records: b.records})
		if err := w.append(b.data); err != nil {
			b.data = b.data[:records] // without the padding, to take more records
			return i, err
		}
		w.next = b.first + Position(b.records)
	}
	return len(batches), nil
}

// append appends the header or a frame to the file.
func (w *writer) append(data []byte) error {
	if _, err := w.file.Write(data); err != nil {
		return err
	}
	w.size += int64(len(data))
	return nil
}

// begin makes the file before durable, and creates the one of that number, whose first record is
// first. The new file's name and header are durable before a frame is written: where the header is
// damaged later and there are frames, that is no crash.
func (w *writer) begin(number uint64, first Position) error {
	if err := w.leave(number); err != nil {
		return err
	}
	w.head, w.size, w.synced, w.next = header{log: w.log, number: number, first: first}, 0, 0, first
	if _, err := io.ReadFull(w.random, w.head.file[:]); err != nil {
		return fmt.Errorf("an identity for a new file: %w", err)
	}
	file, err := w.disk.CreateAppend(path(w.dir, number))
	if err != nil {
		return err
	}
	w.file = file
	if err := w.append(w.head.append(nil)); err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	err = w.disk.SyncFolder(w.dir)
	w.lost = err != nil
	return err
}

// leave makes the present file durable and closes it if its number is below the given one.
func (w *writer) leave(number uint64) error {
	if w.file == nil || w.head.number >= number {
		return nil
	}
	if err := w.sync(); err != nil {
		return err
	}
	err := w.file.Close()
	w.file, w.lost = nil, err != nil
	return err
}

// sync makes everything written since the last call durable.
func (w *writer) sync() error {
	if w.file == nil || w.synced == w.size {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		w.lost = true
		return err
	}
	w.synced = w.size
	return nil
}

// finish makes the present file durable, appends the frame that marks a closed log, and closes the
// file.
func (w *writer) finish() error {
	if w.file == nil {
		return nil
	}
	if err := w.sync(); err != nil {
		return err
	}
	end := w.head.seal(make([]byte, frameHead), frame{at: w.size, synced: w.synced, first: w.next})
	if err := w.append(end); err != nil {
		return err
	}
	return w.leave(w.head.number + 1) // which syncs
}

// abandon closes the file after an error.
func (w *writer) abandon() {
	if w.file != nil {
		w.file.Close()
		w.file = nil
	}
}

// resume makes the file end, durably, where it did before a failed write, and opens it to append
// there. It removes a file without a header.
func (w *writer) resume() (err error) {
	if w.repair != nil {
		if err := w.repair(); err != nil {
			return err
		}
		w.repair = nil
	}
	at := path(w.dir, w.head.number)
	if w.size >= headerBytes {
		if w.file, err = w.disk.OpenAppend(at, w.size); err == nil {
			w.synced = w.size
		}
		return err
	}
	if err := w.disk.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return w.disk.SyncFolder(w.dir)
}

// remove durably removes the files with numbers below before.
func remove(d *disk.Disk, dir string, before uint64) error {
	files, err := list(d, dir)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f logFile) bool { return f.number >= before })
	for _, f := range files {
		if err := d.Remove(f.path); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		return nil
	}
	return d.SyncFolder(dir)
}
