package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
)

// A File is an open file with a verified header, footer and trailer. Its methods are safe for concurrent use, except
// [File.Close].
type File struct {
	path    string
	data    []byte
	release func() error // releases data; nil if the caller owns it

	isMapped bool
	advice   readAhead

	head    header
	tail    trailer
	entries []entry
}

// Open maps the file at path and checks all of it except the blocks of the sections. The time does not depend on
// their size. The error wraps [ErrCorrupt] if the file exists but is not a valid file of that kind. The caller closes
// the file.
func Open(path string, kind Kind) (*File, error) { return OpenOn(nil, path, kind) }

// OpenOn is [Open] for a file on d. It removes the name of a file on a disk in memory; Close frees the content.
func OpenOn(d *disk.Disk, path string, kind Kind) (*File, error) {
	if d.IsInMemory() {
		content, err := d.Take(path)
		if err != nil {
			return nil, err
		}
		f, err := OpenBytes(path, content.Data, kind)
		if err != nil {
			content.Free()
			return nil, err
		}
		f.release = func() error { content.Free(); return nil }
		return f, nil
	}
	f, err := open(d, path, kind, func(file *os.File, bytes int64) (data []byte, release func() error, err error) {
		data, err = mapFile(file, bytes)
		return data, func() error { return unmap(data) }, err
	})
	if err == nil {
		f.isMapped = true
	}
	return f, err
}

// open opens the file at path, reads its content by get and checks it.
func open(d *disk.Disk, path string, kind Kind, get func(file *os.File, bytes int64) ([]byte, func() error,
	error)) (*File, error) {
	// Open the file and refuse folders and devices.
	file, err := d.Open(path)
	if errors.Is(err, disk.ErrSpecial) {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%w: %s: is a directory where a file (%s) is needed", ErrCorrupt, path, kind)
	}
	// Read or map its content, and check it.
	f := &File{path: path}
	if f.data, f.release, err = get(file, info.Size()); err != nil {
		return nil, err
	}
	err = func() (err error) {
		defer EndFaults(BeginFaults(), &err)
		return f.check(kind)
	}()
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// OpenBytes is [Open] for the content of a file in memory. The content must not change while the File is used. Errors
// name path.
func OpenBytes(path string, data []byte, kind Kind) (*File, error) {
	f := &File{path: path, data: data}
	if err := f.check(kind); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) check(kind Kind) error {
	if err := f.parse(); err != nil {
		return err
	}
	if f.head.kind != kind {
		return f.corrupt("header", 12, "the file is of kind %q, want %q", f.head.kind, kind)
	}
	return nil
}

// ErrStream is returned for a pipe or a device. It can be read once and has no length, so it would look like an empty
// file, or lose the bytes that were read.
var ErrStream = errors.New("a pipe or a device cannot be mapped: write it to a file first")

// Sniff returns the kind of the file at path, from its first bytes. ok is false if it does not begin like a file of
// ndd. Sniff does not read a pipe or a device; err then wraps [ErrStream].
func Sniff(path string) (kind Kind, ok bool, err error) {
	// Opening a pipe waits for its writer.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return 0, false, fmt.Errorf("%s: %w", path, ErrStream)
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	var b [16]byte
	switch n, _ := f.Read(b[:]); {
	case bytes.HasPrefix(b[:], LogMagic[:]):
		return KindLog, true, nil
	case n < len(b) || !HasMagic(b[:]):
		return 0, false, nil
	}
	return Kind(binary.LittleEndian.Uint32(b[12:])), true, nil
}

// HasMagic reports whether data begins like a file of ndd.
func HasMagic(data []byte) bool { return bytes.HasPrefix(data, headMagic[:]) }

// Corrupt returns a [CorruptError] about the list of sections of the file.
func (f *File) Corrupt(reason string, args ...any) error {
	return f.corrupt("footer", f.tail.footer, reason, args...)
}

func (f *File) corrupt(part string, offset uint64, reason string, args ...any) error {
	return &CorruptError{File: f.path, Section: part, Block: -1, Offset: int64(offset), Reason: fmt.Sprintf(reason, args...)}
}

// parse reads and checks all parts except the blocks. It checks every offset against the rest of the file. Sections,
// checksums, footer and trailer must fill the file without a gap.
func (f *File) parse() error {
	// Check the header and the trailer, which give the offsets of everything else.
	length := uint64(len(f.data))
	if length < pageBytes+trailerBytes {
		if length >= 8 && [8]byte(f.data[:8]) == headMagic {
			return f.corrupt("header", length, "the file ends after %d bytes", length)
		}
		return f.corrupt("header", 0, "not a file of ndd (%d bytes, no magic)", length)
	}
	if reason := f.head.parse(f.data); reason != "" {
		return f.corrupt("header", 0, "%s", reason)
	}
	end := length - trailerBytes
	if reason := f.tail.parse(f.data[end:], &f.head.Identity); reason != "" {
		return f.corrupt("trailer", end, "%s", reason)
	}
	// Check that these offsets fit the file.
	t := &f.tail
	if t.length != length {
		return f.corrupt("trailer", end+24, "the file should have %d bytes and has %d", t.length, length)
	}
	if t.sections > sectionsMax || t.footer > end || t.sums > t.footer || end-t.footer != t.sections*entryBytes {
		return f.corrupt("trailer", end, "offsets do not fit the file")
	}
	// Verify the footer.
	footer := f.data[t.footer:end]
	if f.head.sum(footerSection, 0, footer) != t.footerSum {
		return f.corrupt("footer", t.footer, mismatch)
	}
	// Check that each section and its checksums follow the previous ones, and verify the checksums' digest.
	f.entries = make([]entry, t.sections)
	next, sums := uint64(pageBytes), t.sums
	for i := range f.entries {
		e := &f.entries[i]
		e.parse(footer[i*entryBytes:])
		offset := t.footer + uint64(i)*entryBytes
		if e.offset != next || e.length > t.sums || e.padded() > t.sums-next {
			return f.corrupt("footer", offset, "section %q does not fit the file", e.name)
		}
		n := e.blocks() * sumBytes
		if n > t.footer-sums {
			return f.corrupt("footer", offset, "the checksums of section %q do not fit the file", e.name)
		}
		if f.head.sum(sumsSection, uint64(i), f.data[sums:sums+n]) != e.digest {
			return f.corrupt(e.name, sums, "the block checksums do not match their digest: "+damaged)
		}
		next += e.padded()
		sums += n
	}
	// Sections and checksums must fill the file.
	if next != t.sums || sums != t.footer {
		return f.corrupt("footer", t.footer, "bytes that belong to no section")
	}
	return nil
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Kind returns the kind of the file.
func (f *File) Kind() Kind { return f.head.kind }

// Identity returns the file's random identity and its generation.
func (f *File) Identity() Identity { return f.head.Identity }

// Bytes returns the file's length.
func (f *File) Bytes() uint64 { return uint64(len(f.data)) }

// A Section is a named part of a file. Its bytes are valid until the file is closed. They are read-only.
type Section struct {
	Name   string
	Data   []byte
	Offset uint64 // offset in the file
	file   *File
}

// Corrupt returns a [CorruptError] about a byte offset in the section.
func (s *Section) Corrupt(offset uint64, reason string, args ...any) error {
	file := s.file
	if file == nil { // tests keep sections in memory
		file = &File{path: "memory"}
	}
	return file.corrupt(s.Name, s.Offset+offset, reason, args...)
}

// JSON decodes the content of the section. It must be a single value without unknown fields. The error wraps
// [ErrCorrupt].
func (s *Section) JSON(value any) error {
	d := json.NewDecoder(bytes.NewReader(s.Data))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		offset := d.InputOffset() // end of the valid part
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = e.Offset
		}
		if field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return s.Corrupt(uint64(offset), "unknown field %s: a newer ndd wrote it; read it with that one, or make it "+
				"again with this one", field)
		}
		return s.Corrupt(uint64(offset), "%v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return s.Corrupt(uint64(d.InputOffset()), "data after the JSON value")
	}
	return nil
}

// Sections returns all sections in the order of the file.
func (f *File) Sections() []Section {
	out := make([]Section, len(f.entries))
	for i := range f.entries {
		out[i] = f.section(i)
	}
	return out
}

func (f *File) section(i int) Section {
	e := &f.entries[i]
	return Section{Name: e.name, Data: f.data[e.offset : e.offset+e.length : e.offset+e.length], Offset: e.offset, file: f}
}

// Section returns the section with that name. The error wraps [ErrCorrupt] if there is none, or more than one.
func (f *File) Section(name string) (Section, error) {
	index := -1
	for i := range f.entries {
		if f.entries[i].name == name {
			if index >= 0 {
				return Section{}, f.Corrupt("two sections %q", name)
			}
			index = i
		}
	}
	if index < 0 {
		return Section{}, f.Corrupt("no section %q", name)
	}
	return f.section(index), nil
}

// Close releases the memory of the file. Its sections must not be used afterwards.
func (f *File) Close() error {
	release := f.release
	f.data, f.release, f.advice.mapped = nil, nil, nil
	if release == nil {
		return nil
	}
	return release()
}

// Map maps a file of raw bytes, without header or checksums. It returns the bytes with a function that unmaps them.
// The caller may close the file earlier.
func Map(f *os.File) ([]byte, func() error, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	switch {
	case info.IsDir():
		return nil, nil, fmt.Errorf("%s: is a directory", f.Name())
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s: %w", f.Name(), ErrStream)
	}
	data, err := mapFile(f, info.Size())
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unmap(data) }, nil
}

// MapRandom is [Map] for random reads: the system reads single pages and does not read ahead.
func MapRandom(f *os.File) ([]byte, func() error, error) {
	data, unmap, err := Map(f)
	if err == nil {
		adviseRandom(data, true)
	}
	return data, unmap, err
}

// readBytes is the size of one read from the file.
const readBytes = 8 << 20

// Load is like [OpenOn], but reads the file into memory outside the Go heap, with huge pages. There, random probes
// are faster than in a mapped file with pages of 4 KiB. Load needs as much memory as the file has bytes; the caller
// reserves it (package memory). It reads with the given number of goroutines until ctx ends. Later changes of the
// file have no effect.
func Load(ctx context.Context, d *disk.Disk, path string, kind Kind, threads int) (*File, error) {
	return open(d, path, kind, func(file *os.File, bytes int64) ([]byte, func() error, error) {
		if int64(int(bytes)) != bytes {
			return nil, nil, fmt.Errorf("%s: %d bytes do not fit this machine's address space", path, bytes)
		}
		buffer, err := memory.Make[uint8](int(bytes))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := readAll(ctx, file, buffer.Data, threads); err != nil {
			buffer.Free()
			return nil, nil, err
		}
		return buffer.Data, func() error { buffer.Free(); return nil }, nil
	})
}

// readAll fills data from the beginning of the file.
func readAll(ctx context.Context, file *os.File, data []byte, threads int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(threads, 1))
	for offset := 0; offset < len(data); offset += readBytes {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, err := file.ReadAt(data[offset:min(offset+readBytes, len(data))], int64(offset))
			if errors.Is(err, io.EOF) {
				err = &CorruptError{File: file.Name(), Section: "trailer", Block: -1, Offset: int64(offset),
					Reason: "the file was truncated while it was read"}
			}
			return err
		})
	}
	return group.Wait()
}

// ErrCorrupt is wrapped by every error about damaged or foreign content.
var ErrCorrupt = errors.New("corrupt")

// Reasons of a [CorruptError], with what to do.
const (
	damaged  = "damaged since it was written; copy it again, or make it again"
	mismatch = "checksum mismatch: " + damaged
)

// A CorruptError describes the place and the kind of damage in a file. It wraps [ErrCorrupt].
type CorruptError struct {
	File    string // path
	Section string // name of the section, or "header", "footer", "trailer"
	Block   int64  // block of the section, -1 if the error is not about one block
	Offset  int64  // byte offset in the file
	Reason  string
}

func (e *CorruptError) Error() string {
	if e.Block >= 0 {
		return fmt.Sprintf("%s: %s, block %d, offset %#x: %s", e.File, e.Section, e.Block, e.Offset, e.Reason)
	}
	return fmt.Sprintf("%s: %s, offset %#x: %s", e.File, e.Section, e.Offset, e.Reason)
}

func (e *CorruptError) Unwrap() error { return ErrCorrupt }
