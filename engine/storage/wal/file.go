package wal

import (
	"io"
	"os"
)

// A File is what one file of a log says of itself.
type File struct {
	Report
	Log      [16]byte // what the log belongs to
	Identity [16]byte // of this file alone
	Number   uint64
	First    Position // of its records
}

// IsLog reports whether the file at path begins as one of a log. It is false for what cannot be read.
func IsLog(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // opening a pipe may wait for its writer
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var begin [len(magic)]byte
	_, err = io.ReadFull(f, begin[:])
	return err == nil && begin == magic
}

// CheckFile reads one file of a log, whatever log it belongs to, as the last one of it, and calls
// replay, unless it is nil, with its records. The error wraps [store.ErrCorrupt] when it is damaged.
func CheckFile(path string, replay func(at Position, record []byte) error) (f File, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	r := reader{path: path, data: data}
	if why := r.head.parse(data); why != "" {
		return f, r.corrupt("header", 0, why)
	}
	if replay == nil {
		replay = func(Position, []byte) error { return nil }
	}
	h := &r.head
	f.Log, f.Identity, f.Number, f.First = h.log, h.file, h.number, h.first
	s := scanned{next: h.number, options: Options{ID: h.log}, Report: Report{Last: h.first - 1}}
	err = s.file(path, data, true, replay)
	f.Report = s.Report
	return f, err
}
