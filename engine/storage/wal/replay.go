package wal

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// A Report says what [Open] or [Check] found.
type Report struct {
	Files    int
	Records  uint64
	Bytes    int64    // of the files, without what was torn
	Last     Position // of the last record; that of Options.From without one
	Clean    bool     // the log was closed; false as well when there is no file
	TornFile string   // the last file, when a crash left its end unfinished
	Torn     int64    // bytes of that end
	Duration time.Duration
}

// String returns the report in one line.
func (r Report) String() string {
	text := fmt.Sprintf("%s records in %d log files, %s, in %v", humanize.Comma(int64(r.Records)), r.Files,
		humanize.IBytes(uint64(r.Bytes)), r.Duration.Round(time.Millisecond))
	if r.TornFile != "" {
		text += fmt.Sprintf("; %d unfinished bytes at the end of %s were never acknowledged and are left out", r.Torn, r.TornFile)
	}
	return text
}

// Check reads the log in the folder dir as [Open] does, and changes nothing.
func Check(dir string, o Options, replay func(at Position, record []byte) error) (Report, error) {
	began := time.Now()
	found, err := scan(dir, o, replay)
	found.Duration = time.Since(began)
	return found.Report, err
}

// Paths returns the paths of the files of the log in the folder dir that are needed from a mark on, in
// their order.
func Paths(dir string, from Mark) (paths []string, err error) {
	numbers, err := list(dir)
	for _, n := range numbers {
		if n >= from.File {
			paths = append(paths, path(dir, n))
		}
	}
	return paths, err
}

// A scanned is what is in a folder, and what is to be repaired.
type scanned struct {
	Report
	next    uint64 // number of the file that is created next
	torn    string // file that is cut to keep bytes, or removed when that is nothing; empty: none
	keep    int64
	options Options
}

// scan reads the files of the log in order, and calls replay with their records.
func scan(dir string, o Options, replay func(Position, []byte) error) (*scanned, error) {
	s := &scanned{next: max(o.From.File, 1), options: o, Report: Report{Last: o.From.Last}}
	numbers, err := list(dir)
	if err != nil {
		return s, err
	}
	numbers = slices.DeleteFunc(numbers, func(n uint64) bool { return n < s.next })
	for i, n := range numbers {
		if n != s.next {
			return s, &store.CorruptError{File: path(dir, n), Section: "header", Block: -1, Why: fmt.Sprintf("the file before it, %s, is missing: restore it from a backup", path(dir, s.next))}
		}
		data, err := os.ReadFile(path(dir, n)) // not mapped: what happens to the file meanwhile is no matter
		if err != nil {
			return s, err
		}
		if err := s.file(path(dir, n), data, i == len(numbers)-1, replay); err != nil {
			return s, err
		}
	}
	return s, nil
}

// file reads the content of the file at path, which has the number s.next.
func (s *scanned) file(path string, data []byte, last bool, replay func(Position, []byte) error) error {
	r := reader{path: path, data: data}
	if last && unborn(data) {
		s.torn, s.TornFile, s.Torn = path, path, int64(len(data))
		return nil
	}
	if why := r.head.parse(data); why != "" {
		return r.corrupt("header", 0, why)
	}
	switch h := &r.head; {
	case h.log != s.options.ID:
		return r.corrupt("header", 16, "it belongs to the log of another index")
	case h.number != s.next:
		return r.corrupt("header", 48, fmt.Sprintf("it was file %d and has been renamed", h.number))
	case h.first != s.Last+1:
		return r.corrupt("header", 56, fmt.Sprintf("its first record is %d, and the last one before is %d", h.first, s.Last))
	}
	r.next = s.Last + 1
	end, err := r.frames(last, replay)
	if err != nil {
		return err
	}
	s.Files++
	s.Bytes += end
	s.Records += uint64(r.next - r.head.first)
	s.Last = r.next - 1
	s.Clean = r.ended
	s.next++
	if torn := int64(len(data)) - end; torn > 0 {
		s.torn, s.keep, s.TornFile, s.Torn = path, end, path, torn
	}
	return nil
}

// unborn says whether a crash cut off the creation of a file: its header, which is in one sector and
// durable before a frame follows, is not there.
func unborn(data []byte) bool {
	return len(data) < headerBytes || len(data) == headerBytes && len(bytes.Trim(data, "\x00")) == 0
}

// repair removes the files that are not needed any more, and what was torn.
func (s *scanned) repair(d *disk.Disk, dir string) error {
	if err := remove(d, dir, s.options.From.File); err != nil {
		return err
	}
	switch {
	case s.torn == "":
		return nil
	case s.keep > 0:
		return d.Truncate(s.torn, s.keep)
	}
	if err := d.Remove(s.torn); err != nil {
		return err
	}
	return d.SyncFolder(dir)
}

// list returns the numbers of the log files in a folder, ascending.
func list(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), ".log")
		n, err := strconv.ParseUint(digits, 10, 64)
		if ok && err == nil && path("", n) == e.Name() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// A reader reads one file.
type reader struct {
	path  string
	data  []byte
	head  header
	next  Position // of the next record
	ended bool     // by a frame that says so
}

func (r *reader) corrupt(section string, at int64, why string) error {
	return &store.CorruptError{File: r.path, Section: section, Block: -1, Offset: at, Why: why}
}

// frames calls replay with the records of the file's frames, and returns where the last sound one
// ends. Behind that the last file may be torn.
func (r *reader) frames(last bool, replay func(Position, []byte) error) (end int64, err error) {
	f := frame{at: headerBytes}
	for f.at < int64(len(r.data)) {
		size := f.parse(r.data)
		if size == 0 || !r.head.sound(r.data, &f, size) {
			return f.at, r.damage(f.at, last)
		}
		if r.ended {
			return 0, r.corrupt("frame", f.at, "it follows the end of the log")
		}
		if f.first != r.next {
			return 0, r.corrupt("frame", f.at+16, fmt.Sprintf("its first record is %d, and %d should follow", f.first, r.next))
		}
		why, err := f.each(replay)
		if err != nil {
			return 0, err
		}
		if why != "" {
			return 0, r.corrupt("frame", f.at, why)
		}
		r.next += Position(f.records)
		r.ended = f.records == 0
		f.at += size
	}
	return f.at, nil
}

// damage returns the error of a frame that is not sound at offset at, nil where a crash explains it:
// in the last file, when no sound frame follows that was written after these bytes were durable.
func (r *reader) damage(at int64, last bool) error {
	switch {
	case !last:
		return r.corrupt("frame", at, mismatch)
	case r.ended:
		return r.corrupt("frame", at, "bytes behind the end of the log")
	}
	left := 16 * int64(len(r.data)) // of bytes that are summed: a hostile file may have large frames everywhere
	for f := (frame{at: at + alignBytes}); f.at < int64(len(r.data)); f.at += alignBytes {
		size := f.parse(r.data)
		if size == 0 || f.synced <= at || f.first < r.next {
			continue
		}
		if left -= size; left < 0 || r.head.sound(r.data, &f, size) {
			return r.corrupt("frame", at, fmt.Sprintf("%s (a later record, at offset %#x, says that this one was written in full)", mismatch, f.at))
		}
	}
	return nil
}
