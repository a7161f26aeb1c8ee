package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// A Writer writes one file, section after section. Create it with [Create],
// call [Writer.Section], then [Writer.Write] as often as needed for each
// section, then [Writer.Commit]. After an error, or to give up, call
// [Writer.Abort], which removes the temporary file; Abort after Commit does
// nothing, so that it can be deferred.
//
// Checksums and the file are another goroutine's work, a batch of blocks
// behind the caller:
//
//	caller --Write--> batch of 16 blocks --channel--> sums, file
//
// so that whoever encodes does not wait for the disk until four batches (4
// MiB) are full. An error of the file is reported by a later Write, and by
// Commit in any case.
type Writer struct {
	path string
	file *os.File
	head header
	at   uint64 // offset in the file of what is written next

	entries []entry
	batch   []byte // of the current section
	blocks  uint64 // of the current section, before batch

	batches chan batch
	free    chan []byte
	done    sync.WaitGroup
	failed  atomic.Pointer[error]
	sums    [][]uint64 // by section; the goroutine's until done
}

const (
	batchBytes = 16 * blockBytes
	batchesMax = 4 // under way at a time
)

// batch is some blocks of a section; only a section's last may be short.
type batch struct {
	section int // -1: bytes that are no section's and have no sums
	first   uint64
	data    []byte
}

// Options are how a file is written. The zero value is for every use but tests.
type Options struct {
	Random io.Reader // source of the file's identity; default crypto/rand
}

// Create begins the file at path, which will replace a file of that name.
func Create(path string, kind Kind, generation uint64) (*Writer, error) {
	return CreateWith(path, kind, generation, Options{})
}

// CreateWith is [Create] with options.
func CreateWith(path string, kind Kind, generation uint64, o Options) (*Writer, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	id := Identity{Generation: generation}
	if _, err := io.ReadFull(o.Random, id.ID[:]); err != nil {
		return nil, fmt.Errorf("store: an identity for %s: %w", path, err)
	}
	return create(path, kind, id)
}

func create(path string, kind Kind, id Identity) (*Writer, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, file: file, head: header{kind, id},
		batches: make(chan batch, batchesMax), free: make(chan []byte, batchesMax)}
	for range batchesMax {
		w.free <- nil
	}
	w.done.Go(w.run)
	w.put(w.head.append(nil))
	return w, nil
}

// Identity is the new file's.
func (w *Writer) Identity() Identity { return w.head.Identity }

// Section ends the current section and begins the next. Names need not be
// unique: readers see the sections of one name in order.
func (w *Writer) Section(name string) {
	if name == "" || len(name) > nameMax {
		panic(fmt.Sprintf("store: section name %q is not of 1 to %d bytes", name, nameMax))
	}
	w.endSection()
	w.entries = append(w.entries, entry{name: name, offset: w.at})
	w.blocks = 0
}

// Write appends to the current section.
func (w *Writer) Write(p []byte) (int, error) {
	if len(w.entries) == 0 {
		panic("store: Write before Section")
	}
	if err := w.err(); err != nil {
		return 0, err
	}
	w.entries[len(w.entries)-1].length += uint64(len(p))
	w.add(p)
	return len(p), nil
}

// add appends section bytes, padding included.
func (w *Writer) add(p []byte) {
	for len(p) > 0 {
		n := min(len(p), batchBytes-len(w.batch))
		w.batch = append(w.batch, p[:n]...)
		p = p[n:]
		if len(w.batch) == batchBytes {
			w.handOver()
		}
	}
}

// handOver gives the batch to the goroutine and takes an empty one.
func (w *Writer) handOver() {
	w.send(batch{len(w.entries) - 1, w.blocks, w.batch})
	w.blocks += batchBytes / blockBytes
	w.batch = (<-w.free)[:0]
}

func (w *Writer) send(b batch) {
	w.at += uint64(len(b.data))
	w.batches <- b
}

func (w *Writer) endSection() {
	if len(w.entries) == 0 || w.file == nil {
		return
	}
	e := &w.entries[len(w.entries)-1]
	w.add(make([]byte, e.padded()-e.length))
	if len(w.batch) > 0 {
		w.handOver()
	}
}

// put writes bytes that are no section's.
func (w *Writer) put(p []byte) { w.send(batch{section: -1, data: p}) }

// run sums and writes batches. After an error it only empties the channel.
func (w *Writer) run() {
	for b := range w.batches {
		if b.section >= 0 {
			w.sum(b)
		}
		if w.failed.Load() == nil {
			if _, err := w.file.Write(b.data); err != nil {
				w.failed.Store(&err)
			}
		}
		if b.section >= 0 {
			w.free <- b.data
		}
	}
}

func (w *Writer) sum(b batch) {
	for len(w.sums) <= b.section {
		w.sums = append(w.sums, nil)
	}
	for i, data := b.first, b.data; len(data) > 0; i++ {
		n := min(blockBytes, len(data))
		w.sums[b.section] = append(w.sums[b.section], w.head.sum(uint64(b.section), i, data[:n]))
		data = data[n:]
	}
}

func (w *Writer) err() error {
	if p := w.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// Commit ends the last section, writes sums, footer and trailer, syncs the
// file and publishes it under its name. On an error nothing is published.
func (w *Writer) Commit() error {
	if w.file == nil {
		return errGivenUp
	}
	w.endSection()
	close(w.batches)
	w.done.Wait()
	err := w.err()
	if err == nil {
		_, err = w.file.Write(w.head.appendTail(nil, w.at, w.entries, w.sums))
	}
	if err == nil {
		err = w.publish()
	}
	if err != nil {
		w.remove()
	}
	w.failed.CompareAndSwap(nil, &errGivenUp)
	return err
}

var errGivenUp = errors.New("store: the file was committed or given up before")

func (w *Writer) publish() error {
	if err := w.file.Chmod(0o644); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if err := w.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(w.file.Name(), w.path); err != nil {
		return err
	}
	w.file = nil
	return SyncDir(filepath.Dir(w.path))
}

// Abort removes what was written, unless it was committed.
func (w *Writer) Abort() {
	if w.file == nil {
		return
	}
	close(w.batches)
	w.done.Wait()
	w.remove()
}

func (w *Writer) remove() {
	w.file.Close()
	os.Remove(w.file.Name())
	w.file = nil
	w.failed.CompareAndSwap(nil, &errGivenUp)
}

// SyncDir makes the names in a directory durable.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return syncDir(d)
}
