package store

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Writer writes one file, section after section. Create it with [Create],
// call [Writer.Section], then [Writer.Write] as often as needed for each
// section, then [Writer.Commit]. After an error, or to give up, call
// [Writer.Abort], which removes the temporary file; Abort after Commit does
// nothing, so that it can be deferred.
type Writer struct {
	path string
	file *os.File
	out  *bufio.Writer
	head header
	at   uint64 // bytes written

	entries []entry
	sums    [][]uint64 // by section
	block   []byte     // of the current section, not yet summed
	err     error
}

// Create begins the file at path, which will replace a file of that name.
func Create(path string, kind Kind, generation uint64) (*Writer, error) {
	id := Identity{Generation: generation}
	if _, err := rand.Read(id.ID[:]); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return create(path, kind, id)
}

func create(path string, kind Kind, id Identity) (*Writer, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, file: file, out: bufio.NewWriterSize(file, 1<<20), head: header{kind, id},
		block: make([]byte, 0, blockBytes)}
	w.put(w.head.append(nil))
	return w, w.err
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
	w.sums = append(w.sums, nil)
}

// Write appends to the current section.
func (w *Writer) Write(p []byte) (int, error) {
	if len(w.entries) == 0 {
		panic("store: Write before Section")
	}
	w.entries[len(w.entries)-1].length += uint64(len(p))
	w.add(p)
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// add appends section bytes, padding included, and sums every full block.
func (w *Writer) add(p []byte) {
	for len(p) > 0 {
		var block []byte
		if len(w.block) == 0 && len(p) >= blockBytes { // no copy
			block, p = p[:blockBytes], p[blockBytes:]
		} else {
			n := min(len(p), blockBytes-len(w.block))
			w.block = append(w.block, p[:n]...)
			p = p[n:]
			if len(w.block) < blockBytes {
				return
			}
			block, w.block = w.block, w.block[:0]
		}
		w.flush(block)
	}
}

func (w *Writer) flush(block []byte) {
	section := len(w.entries) - 1
	w.sums[section] = append(w.sums[section], w.head.sum(uint64(section), uint64(len(w.sums[section])), block))
	w.put(block)
}

func (w *Writer) endSection() {
	if len(w.entries) == 0 {
		return
	}
	e := &w.entries[len(w.entries)-1]
	w.add(make([]byte, e.padded()-e.length))
	if len(w.block) > 0 {
		w.flush(w.block)
		w.block = w.block[:0]
	}
}

func (w *Writer) put(p []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(p)
	w.at += uint64(n)
	w.err = err
}

// Commit ends the last section, writes sums, footer and trailer, syncs the
// file and publishes it under its name. On an error nothing is published.
func (w *Writer) Commit() error {
	w.endSection()
	t := trailer{sums: w.at, sections: uint64(len(w.entries))}
	for i, sums := range w.sums {
		b := make([]byte, 0, len(sums)*sumBytes)
		for _, s := range sums {
			b = binary.LittleEndian.AppendUint64(b, s)
		}
		w.entries[i].digest = w.head.sum(sumsSection, uint64(i), b)
		w.put(b)
	}
	t.footer = w.at
	var footer []byte
	for i := range w.entries {
		footer = w.entries[i].append(footer)
	}
	t.footerSum = w.head.sum(footerSection, 0, footer)
	w.put(footer)
	t.length = w.at + trailerBytes
	w.put(t.append(nil, &w.head.Identity))

	if w.err == nil {
		w.err = w.publish()
	}
	if w.err != nil {
		err := w.err
		w.Abort()
		return err
	}
	return nil
}

func (w *Writer) publish() error {
	if err := w.out.Flush(); err != nil {
		return err
	}
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
	w.file.Close()
	os.Remove(w.file.Name())
	w.file = nil
	if w.err == nil {
		w.err = errors.New("store: the file was given up")
	}
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
