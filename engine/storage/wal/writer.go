package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"example.org/ndd/engine/storage/disk"
)

// A batch is a frame that is being filled: space for its head, and the records.
type batch struct {
	file    uint64   // number of the file to write to
	first   Position // position of the first record
	records int
	data    []byte
}

// batchBytes is the maximum size of a batch. Writing 1 MiB takes several times as long as the system call itself, so
// larger batches would save little.
const batchBytes = 1 << 20

func newBatch(file uint64, first Position) *batch {
	return &batch{file: file, first: first, data: make([]byte, frameHead)}
}

// last returns the position of the batch's last record.
func (b *batch) last() Position { return b.first + Position(b.records) - 1 }

func (b *batch) add(record []byte) {
	b.data = appendRecord(b.data, record)
	b.records++
}

// A writer writes frames to the current file of the log. It is used by one goroutine at a time.
type writer struct {
	disk   *disk.Disk
	dir    string
	log    [16]byte  // [Options.ID]
	random io.Reader // source of the files' identities

	file   *disk.AppendFile // nil before the first frame, and between files
	head   header
	size   int64    // length of the file, without a partial write
	synced int64    // length that is known to be durable
	next   Position // position of the next record
	lost   bool     // a sync or a close failed, so the content of the file is unknown

	repair func() error // removes the incomplete end that a crash left; nil when done
}

// write writes each batch to the file of its number. It returns the number of completely written batches.
func (w *writer) write(batches []*batch) (written int, err error) {
	for i, b := range batches {
		if w.file == nil || w.head.number != b.file {
			if err := w.begin(b.file, b.first); err != nil {
				return i, err
			}
		}
		records := len(b.data)
		b.data = w.head.seal(b.data, frame{offset: w.size, synced: w.synced, first: b.first, records: b.records})
		if err := w.append(b.data); err != nil {
			b.data = b.data[:records] // without the padding, so that more records can follow
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

// begin makes the previous file durable and creates the file with that number, whose first record is first. The name
// and header become durable before the first frame is written. So a crash cannot explain a damaged header before
// frames.
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

// leave makes the current file durable and closes it if its number is below the given one.
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

// sync makes the file durable.
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

// finish makes the current file durable, appends the frame that marks a closed log, and closes the file.
func (w *writer) finish() error {
	if w.file == nil {
		return nil
	}
	if err := w.sync(); err != nil {
		return err
	}
	end := w.head.seal(make([]byte, frameHead), frame{offset: w.size, synced: w.synced, first: w.next})
	if err := w.append(end); err != nil {
		return err
	}
	return w.leave(w.head.number + 1) // syncs first
}

// abandon closes the file after an error.
func (w *writer) abandon() {
	if w.file != nil {
		w.file.Close()
		w.file = nil
	}
}

// resume durably truncates the file to its length before a failed write, and opens it to append. It removes a file
// without a header.
func (w *writer) resume() (err error) {
	if w.repair != nil {
		if err := w.repair(); err != nil {
			return err
		}
		w.repair = nil
	}
	file := path(w.dir, w.head.number)
	if w.size >= headerBytes {
		if w.file, err = w.disk.OpenAppend(file, w.size); err == nil {
			w.synced = w.size
		}
		return err
	}
	if err := w.disk.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return w.disk.SyncFolder(w.dir)
}

// remove durably removes the files with numbers below the given one.
func remove(d *disk.Disk, dir string, limit uint64) error {
	files, err := list(d, dir)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f logFile) bool { return f.number >= limit })
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
