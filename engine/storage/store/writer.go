package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"ndd/engine/storage/disk"
)

// A Writer writes one file, section after section. Create it with [CreateWith],
// call [Writer.Section], then [Writer.Write] as often as needed for each
// section, then [Writer.Commit]. After an error, or to give up, call
// [Writer.Abort], which removes the temporary file; Abort after Commit does
// nothing, so that it can be deferred.
//
// Another goroutine computes checksums and writes the file, one batch of bytes behind the caller:
//
//	caller --Write--> batch of 2 MiB --channel--> sums, file
//
// so that the caller, who encodes, waits for the disk only when four batches (8 MiB) are full. An
// error of writing is returned by a later Write, and by Commit in any case.
//
// Batches end where huge pages do. A file system with large folios keeps each batch in the page
// cache as one huge page, so that the mapped file is in huge pages without a copy: mapping takes 1
// page fault instead of 32, and random probes miss the TLB less often.
type Writer struct {
	file   *disk.File // nil when committed or given up
	head   header
	at     uint64 // offset in the file of what is written next
	length uint64 // of the committed file

	entries []entry
	batch   batch

	batches chan batch
	free    chan []byte
	done    sync.WaitGroup
	failed  atomic.Pointer[error]
	sums    checksummer // the goroutine's until done
}

const (
	batchBytes = 2 << 20 // a huge page of amd64, and of arm64 with pages of 4 KiB
	batchesMax = 4       // in all
)

// batch is the bytes of the file that are collected next, up to a multiple of batchBytes.
type batch struct {
	data  []byte
	parts []part
}

// A part is how many bytes of a batch, padding included, belong to a section; section -1 is for
// bytes that belong to none, such as the header.
type part struct{ section, bytes int }

func (b *batch) add(section int, p []byte) {
	b.data = append(b.data, p...)
	if n := len(b.parts); n > 0 && b.parts[n-1].section == section {
		b.parts[n-1].bytes += len(p)
	} else {
		b.parts = append(b.parts, part{section, len(p)})
	}
}

// Options configures [CreateWith]. The zero value is right for all but tests.
type Options struct {
	Random  io.Reader  // source of the file's identity; default crypto/rand
	Disk    *disk.Disk // default the system's
	Bytes   uint64     // the length of the file, about, if it is in memory
	Private bool       // only its owner may read it
}

// CreateWith begins a file of that kind for the given generation of an index. [Writer.Commit] publishes
// it at path, where it replaces a file of that name.
func CreateWith(path string, kind Kind, generation uint64, o Options) (*Writer, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	id := Identity{Generation: generation}
	if _, err := io.ReadFull(o.Random, id.ID[:]); err != nil {
		return nil, fmt.Errorf("store: an identity for %s: %w", path, err)
	}
	create := o.Disk.Create
	if o.Private {
		create = o.Disk.CreatePrivate
	}
	file, err := create(path)
	if err != nil {
		return nil, err
	}
	if err := file.Reserve(o.Bytes); err != nil {
		file.Abort()
		return nil, err
	}
	w := &Writer{file: file, head: header{kind, id},
		batches: make(chan batch, batchesMax), free: make(chan []byte, batchesMax)}
	for range batchesMax - 1 { // the caller has one
		w.free <- nil
	}
	w.sums.id = &w.head.Identity
	w.done.Go(w.run)
	w.add(w.head.append(nil))
	return w, nil
}

// Bytes returns the length of a file that was committed.
func (w *Writer) Bytes() uint64 { return w.length }

// Identity returns the identity of the file that is being written.
func (w *Writer) Identity() Identity { return w.head.Identity }

// Section ends the current section and begins the next, with a name of 1 to 32 bytes. Names need
// not be unique: readers see the sections of one name in order.
func (w *Writer) Section(name string) {
	if name == "" || len(name) > nameMax {
		panic(fmt.Sprintf("store: section name %q is not of 1 to %d bytes", name, nameMax))
	}
	w.endSection()
	w.entries = append(w.entries, entry{name: name, offset: w.at})
}

// Write appends to the current section. It fails once an earlier batch could not be written to the
// file.
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

// add appends bytes of the current section, with its padding, or of none.
func (w *Writer) add(p []byte) {
	for len(p) > 0 {
		n := min(len(p), batchBytes-len(w.batch.data))
		w.batch.add(len(w.entries)-1, p[:n])
		w.at += uint64(n)
		p = p[n:]
		if len(w.batch.data) == batchBytes {
			w.submit()
		}
	}
}

// submit gives the batch to the goroutine that writes, and takes an empty one.
func (w *Writer) submit() {
	w.batches <- w.batch
	w.batch = batch{data: (<-w.free)[:0]}
}

func (w *Writer) endSection() {
	if len(w.entries) == 0 || w.file == nil {
		return
	}
	e := &w.entries[len(w.entries)-1]
	w.add(make([]byte, e.padded()-e.length))
}

// run computes the checksums of batches and writes them. After an error it only empties the
// channel.
func (w *Writer) run() {
	for b := range w.batches {
		data := b.data
		for _, p := range b.parts {
			w.sums.write(p.section, data[:p.bytes])
			data = data[p.bytes:]
		}
		if w.failed.Load() == nil {
			if _, err := w.file.Write(b.data); err != nil {
				w.failed.Store(&err)
			}
		}
		w.free <- b.data
	}
	w.sums.end()
}

func (w *Writer) err() error {
	if p := w.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// Commit ends the last section, writes the checksums, footer and trailer, makes the file durable
// and publishes it under its name. What remains after an error is described at [disk.File.Commit].
func (w *Writer) Commit() error {
	if w.file == nil {
		return errGivenUp
	}
	w.endSection()
	w.batches <- w.batch
	defer w.Abort()
	w.wait()
	err := w.err()
	if err == nil {
		tail := w.head.appendTail(nil, w.at, w.entries, w.sums.sums)
		w.length = w.at + uint64(len(tail))
		_, err = w.file.Write(tail)
	}
	if err == nil {
		err = w.file.Commit()
	}
	return err
}

var errGivenUp = errors.New("store: the file was committed or given up before")

// Abort removes the temporary file, unless the file was committed.
func (w *Writer) Abort() {
	if w.file == nil {
		return
	}
	w.wait()
	w.file.Abort()
	w.file = nil
	w.failed.CompareAndSwap(nil, &errGivenUp)
}

// wait ends the goroutine, after it has written all batches that were submitted.
func (w *Writer) wait() {
	if w.batches != nil {
		close(w.batches)
		w.done.Wait()
		w.batches = nil
	}
}

// A checksummer computes the checksums of sections' blocks while their bytes arrive, in pieces of
// any length.
type checksummer struct {
	id      *Identity
	sums    [][]uint64 // by section
	section int        // whose bytes came last
	rest    []byte     // of it, less than a block
}

// write adds the next bytes of a section. Sections ascend; -1 is for bytes of none, which have no
// checksum.
func (s *checksummer) write(section int, data []byte) {
	if section < 0 {
		return
	}
	if section != s.section {
		s.end()
		s.section = section
	}
	if len(s.rest) > 0 {
		n := min(blockBytes-len(s.rest), len(data))
		s.rest = append(s.rest, data[:n]...)
		if data = data[n:]; len(s.rest) == blockBytes {
			s.end()
		}
	}
	for ; len(data) >= blockBytes; data = data[blockBytes:] {
		s.add(data[:blockBytes])
	}
	s.rest = append(s.rest, data...)
}

// end completes the last block of the section, which may be short.
func (s *checksummer) end() {
	if len(s.rest) > 0 {
		s.add(s.rest)
		s.rest = s.rest[:0]
	}
}

func (s *checksummer) add(block []byte) {
	for len(s.sums) <= s.section {
		s.sums = append(s.sums, nil)
	}
	sums := &s.sums[s.section]
	*sums = append(*sums, s.id.sum(uint64(s.section), uint64(len(*sums)), block))
}
