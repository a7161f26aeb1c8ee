package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"example.org/ndd/engine/storage/disk"
)

// A Writer writes one file, section by section. Create it with [CreateWith]. For each section call [Writer.Section],
// and then [Writer.Write] as often as needed. Then call [Writer.Commit]. [Writer.Abort] removes the temporary file
// after an error. Abort does nothing after Commit, so it can be deferred.
//
// Another goroutine computes checksums and writes the file, one batch later than the caller:
//
//	caller --Write--> batch of 2 MiB --channel--> sums, file
//
// So the caller waits for the disk only if four batches (8 MiB) are full. A later Write returns an error of this
// goroutine; Commit always does.
//
// Batches end at the boundaries of huge pages. A file system with large folios keeps each batch in the page cache as
// one huge page, so that a mapped file has huge pages without a copy. Mapping then takes 1 page fault instead of 32,
// and random probes miss the TLB less often.
type Writer struct {
	file   *disk.File // nil after Commit or Abort
	head   header
	offset uint64 // offset in the file of the next byte
	length uint64 // length of the committed file

	entries []entry
	batch   batch

	batches chan batch
	buffers chan []byte
	done    sync.WaitGroup
	failed  atomic.Pointer[error]
	sums    checksummer // used by the goroutine until done
}

const (
	batchBytes = 2 << 20 // a huge page of amd64, and of arm64 with pages of 4 KiB
	batchesMax = 4       // number of batches in use
)

// batch collects bytes of the file, up to a multiple of batchBytes.
type batch struct {
	data  []byte
	parts []part
}

// A part is a number of bytes of a batch, with padding, that belong to one section. Section -1 is for bytes outside
// of sections, such as the header.
type part struct{ section, bytes int }

func (b *batch) add(section int, p []byte) {
	b.data = append(b.data, p...)
	if n := len(b.parts); n > 0 && b.parts[n-1].section == section {
		b.parts[n-1].bytes += len(p)
	} else {
		b.parts = append(b.parts, part{section, len(p)})
	}
}

// Options configures [CreateWith]. The zero value is the default for all callers except tests.
type Options struct {
	Random  io.Reader  // source of the file's identity; default crypto/rand
	Disk    *disk.Disk // default: the disk of the system
	Bytes   uint64     // approximate length, to reserve memory for a file in memory
	Private bool       // only the owner may read the file
}

// CreateWith creates a file of that kind for the given generation of an index. [Writer.Commit] publishes it at path,
// and replaces an existing file.
func CreateWith(path string, kind Kind, generation uint64, o Options) (*Writer, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	id := Identity{Generation: generation}
	if _, err := io.ReadFull(o.Random, id.ID[:]); err != nil {
		return nil, fmt.Errorf("store: reading the identity of %s: %w", path, err)
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
		batches: make(chan batch, batchesMax), buffers: make(chan []byte, batchesMax)}
	for range batchesMax - 1 { // the caller owns one batch
		w.buffers <- nil
	}
	w.sums.id = &w.head.Identity
	w.done.Go(w.run)
	w.add(w.head.append(nil))
	return w, nil
}

// Bytes returns the length of the committed file.
func (w *Writer) Bytes() uint64 { return w.length }

// Identity returns the identity of the new file.
func (w *Writer) Identity() Identity { return w.head.Identity }

// Section ends the current section and begins the next one. Its name has 1 to 32 bytes. Names need not be unique:
// readers see the sections of one name in order.
func (w *Writer) Section(name string) {
	if name == "" || len(name) > nameMax {
		panic(fmt.Sprintf("store: section name %q is not of 1 to %d bytes", name, nameMax))
	}
	w.endSection()
	w.entries = append(w.entries, entry{name: name, offset: w.offset})
}

// Write appends to the current section. It fails after an earlier batch could not be written.
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

// add appends bytes of the current section, its padding, or the header.
func (w *Writer) add(p []byte) {
	for len(p) > 0 {
		n := min(len(p), batchBytes-len(w.batch.data))
		w.batch.add(len(w.entries)-1, p[:n])
		w.offset += uint64(n)
		p = p[n:]
		if len(w.batch.data) == batchBytes {
			w.submit()
		}
	}
}

// submit passes the batch to the writing goroutine and takes an empty one.
func (w *Writer) submit() {
	w.batches <- w.batch
	w.batch = batch{data: (<-w.buffers)[:0]}
}

func (w *Writer) endSection() {
	if len(w.entries) == 0 || w.file == nil {
		return
	}
	e := &w.entries[len(w.entries)-1]
	w.add(make([]byte, e.padded()-e.length))
}

// run computes the checksums of batches and writes them. After an error it only empties the channel.
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
		w.buffers <- b.data
	}
	w.sums.end()
}

func (w *Writer) err() error {
	if p := w.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// Commit ends the last section, writes checksums, footer and trailer, makes the file durable and publishes it.
// [disk.File.Commit] describes the state after an error.
func (w *Writer) Commit() error {
	if w.file == nil {
		return errFinished
	}
	w.endSection()
	w.batches <- w.batch
	defer w.Abort()
	w.wait()
	err := w.err()
	if err == nil {
		tail := w.head.appendTail(nil, w.offset, w.entries, w.sums.sums)
		w.length = w.offset + uint64(len(tail))
		_, err = w.file.Write(tail)
	}
	if err == nil {
		err = w.file.Commit()
	}
	return err
}

var errFinished = errors.New("store: the file was already committed or aborted")

// Abort removes the temporary file, unless the file was committed.
func (w *Writer) Abort() {
	if w.file == nil {
		return
	}
	w.wait()
	w.file.Abort()
	w.file = nil
	w.failed.CompareAndSwap(nil, &errFinished)
}

// wait stops the goroutine after it has written all submitted batches.
func (w *Writer) wait() {
	if w.batches != nil {
		close(w.batches)
		w.done.Wait()
		w.batches = nil
	}
}

// A checksummer computes the checksums of the sections' blocks. It receives the bytes in pieces of any length.
type checksummer struct {
	id      *Identity
	sums    [][]uint64 // checksums by section
	section int        // section of the last bytes
	rest    []byte     // its last bytes, less than a block
}

// write adds the next bytes of a section. Section numbers ascend. -1 marks bytes outside of sections, which have no
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
