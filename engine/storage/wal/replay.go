package wal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// A Report is the result of [Open] or [Check].
type Report struct {
	Files     int
	Records   uint64
	Bytes     int64    // size of all files without the torn end
	Last      Position // position of the last record, or Options.Start.Last if there is none
	TornFile  string   // the last file, if a crash left its end incomplete
	TornBytes int64    // bytes of that incomplete end
}

// Check reads the log in the folder dir like [Open], but changes nothing.
func Check(dir string, o Options, replay func(position Position, record []byte) error) (Report, error) {
	state, err := scan(nil, dir, o, replay)
	return state.Report, err
}

// Paths returns the paths of the log files in dir that are needed from a mark on, in order.
func Paths(d *disk.Disk, dir string, start Mark) (paths []string, err error) {
	files, err := list(d, dir)
	for _, f := range files {
		if f.number >= start.File {
			paths = append(paths, f.path)
		}
	}
	return paths, err
}

// A logState is the state of a log's folder, with the repair that it needs.
type logState struct {
	Report
	next     uint64 // number of the file that is created next
	tornFile string // file to truncate to keep bytes, or to remove if keep is 0; "": none
	keep     int64
	end      int64 // end of the last file's frames
	options  Options
}

// scan reads the files of the log in order, and calls replay with their records.
func scan(d *disk.Disk, dir string, o Options, replay func(Position, []byte) error) (*logState, error) {
	s := &logState{next: max(o.Start.File, 1), options: o, Report: Report{Last: o.Start.Last}}
	// List the needed files.
	files, err := list(d, dir)
	if err != nil {
		return s, err
	}
	files = slices.DeleteFunc(files, func(f logFile) bool { return f.number < s.next })
	// Replay them. Their numbers have no gap.
	for i, f := range files {
		if f.number != s.next {
			return s, s.missing(path(dir, s.next), filepath.Base(f.path)+" follows it")
		}
		data, err := d.ReadFile(f.path) // read, not mapped, so that later changes of the file do not matter
		if errors.Is(err, disk.ErrSpecial) || errors.Is(err, syscall.EISDIR) {
			return s, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
		if err != nil {
			return s, err
		}
		if err := s.file(f.path, data, i == len(files)-1, replay); err != nil {
			return s, err
		}
	}
	// Check that the log has everything that the manifest promises.
	if s.next <= o.Holds.File {
		return s, s.missing(path(dir, s.next), "the manifest names it")
	}
	if s.Last < o.Holds.Last {
		return s, &store.CorruptError{File: path(dir, s.next-1), Section: "frame", Block: -1, Offset: s.end,
			Reason: fmt.Sprintf("the log ends with record %d, and had at least %d: %s", s.Last, o.Holds.Last, restore)}
	}
	return s, nil
}

// missing returns the error for a missing file, with the reason why it should exist.
func (s *logState) missing(path, reason string) error {
	return &store.CorruptError{File: path, Section: "header", Block: -1,
		Reason: fmt.Sprintf("the log file is missing, and %s: %s", reason, restore)}
}

// file checks the content of the file with number s.next, and replays its records.
func (s *logState) file(path string, data []byte, last bool, replay func(Position, []byte) error) error {
	// An interrupted creation leaves no header. The log ends before this file.
	r := reader{path: path, data: data}
	if last && creationTorn(data) && s.next > s.options.Holds.File {
		s.tornFile, s.TornFile, s.TornBytes = path, path, int64(len(data))
		return nil
	}
	// Check the header against the position in the log.
	if reason := r.head.parse(data); reason != "" {
		return r.corrupt("header", 0, reason)
	}
	switch h := &r.head; {
	case h.log != s.options.ID:
		return r.corrupt("header", 16, "it belongs to the log of another index")
	case h.number != s.next:
		return r.corrupt("header", 48, fmt.Sprintf("it was file %d and has been renamed", h.number))
	case h.first != s.Last+1:
		return r.corrupt("header", 56, fmt.Sprintf("its first record is %d, and the last one before is %d", h.first, s.Last))
	}
	// Replay the records.
	r.next = s.Last + 1
	end, err := r.frames(last, replay)
	if err != nil {
		return err
	}
	// Add the file to the report, and note a torn end.
	s.Files++
	s.Bytes += end
	s.end = end
	s.Records += uint64(r.next - r.head.first)
	s.Last = r.next - 1
	s.next++
	if tornBytes := int64(len(data)) - end; tornBytes > 0 {
		s.tornFile, s.keep, s.TornFile, s.TornBytes = path, end, path, tornBytes
	}
	return nil
}

// creationTorn reports whether a crash interrupted the creation of a file, so that it has no header. The header is in
// one sector and durable before the first frame.
func creationTorn(data []byte) bool {
	return len(data) < headerBytes || len(data) == headerBytes && len(bytes.Trim(data, "\x00")) == 0
}

// repair removes the files before Options.Start and the torn end.
func (s *logState) repair(d *disk.Disk, dir string) error {
	if err := remove(d, dir, s.options.Start.File); err != nil {
		return err
	}
	switch {
	case s.tornFile == "":
		return nil
	case s.keep > 0:
		f, err := d.OpenAppend(s.tornFile, s.keep)
		if err != nil {
			return err
		}
		return f.Close()
	}
	if err := d.Remove(s.tornFile); err != nil {
		return err
	}
	return d.SyncFolder(dir)
}

// A logFile is one file of a log.
type logFile struct {
	number uint64
	path   string
}

// list returns the log files in a folder, ascending by number.
func list(d *disk.Disk, dir string) (files []logFile, err error) {
	entries, err := d.ReadDir(dir)
	for _, e := range entries {
		n, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), Extension), 10, 64)
		if err == nil && path("", n) == e.Name() {
			files = append(files, logFile{n, filepath.Join(dir, e.Name())})
		}
	}
	slices.SortStableFunc(files, func(a, b logFile) int { return cmp.Compare(a.number, b.number) })
	return files, err
}

// A reader reads one file.
type reader struct {
	path  string
	data  []byte
	head  header
	next  Position // position of the next record
	ended bool     // the last frame marked the end of the log
}

func (r *reader) corrupt(section string, offset int64, reason string) error {
	return &store.CorruptError{File: r.path, Section: section, Block: -1, Offset: offset, Reason: reason}
}

// frames calls replay with the records of the file. It returns the end of the last valid frame. The remainder of the
// last file may be torn.
func (r *reader) frames(last bool, replay func(Position, []byte) error) (end int64, err error) {
	f := frame{offset: headerBytes}
	for f.offset < int64(len(r.data)) {
		size := f.parse(r.data)
		if size == 0 || !r.head.sound(r.data, &f, size) {
			return f.offset, r.damage(f.offset, last)
		}
		if r.ended {
			return 0, r.corrupt("frame", f.offset, "it follows the end of the log")
		}
		if f.first != r.next {
			return 0, r.corrupt("frame", f.offset+16, fmt.Sprintf("its first record is %d, and %d should follow", f.first, r.next))
		}
		reason, err := f.each(replay)
		if err != nil {
			return 0, err
		}
		if reason != "" {
			return 0, r.corrupt("frame", f.offset, reason)
		}
		r.next += Position(f.records)
		r.ended = f.records == 0
		f.offset += size
	}
	return f.offset, nil
}

// damage returns the error for an invalid frame at offset, or nil if a crash explains it. A crash explains it in the
// last file, unless a later valid frame says that these bytes were durable.
func (r *reader) damage(offset int64, last bool) error {
	switch {
	case !last:
		return r.corrupt("frame", offset, mismatch)
	case r.ended:
		return r.corrupt("frame", offset, "bytes after the end of the log")
	}
	limit := 16 * int64(len(r.data)) // limit of bytes to sum, because a hostile file may have large frames everywhere
	for f := (frame{offset: offset + alignBytes}); f.offset < int64(len(r.data)); f.offset += alignBytes {
		size := f.parse(r.data)
		if size == 0 || f.synced <= offset || f.first < r.next {
			continue
		}
		if limit -= size; limit < 0 || r.head.sound(r.data, &f, size) {
			return r.corrupt("frame", offset, fmt.Sprintf("%s (a later record, at offset %#x, says that this one was written "+
				"in full)", mismatch, f.offset))
		}
	}
	return nil
}
