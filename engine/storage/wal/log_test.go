package wal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// constant is a source of identities that are all the same byte.
type constant byte

func (c constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

// collect returns a replay function, and the records that it saw.
func collect() (func(Position, []byte) error, *[]string) {
	var all []string
	return func(position Position, record []byte) error {
		all = append(all, fmt.Sprintf("%d:%s", position, record))
		return nil
	}, &all
}

// open opens a log, and returns the records that it had.
func open(t testing.TB, d *disk.Disk, dir string, o Options) (*Log, Report, []string) {
	t.Helper()
	replay, records := collect()
	l, r, err := Open(d, dir, o, replay)
	must.Do(t, err)
	return l, r, *records
}

// add appends a record.
func add(t testing.TB, l *Log, record string) Position {
	t.Helper()
	pos, err := l.Append([]byte(record))
	must.Do(t, err)
	return pos
}

func rotate(t testing.TB, l *Log) {
	t.Helper()
	_, err := l.Rotate()
	must.Do(t, err)
}

// put appends records and waits until they are acknowledged.
func put(t testing.TB, l *Log, records ...string) (position Position) {
	t.Helper()
	for _, r := range records {
		position = add(t, l, r)
	}
	must.Do(t, l.Sync(t.Context(), position))
	return position
}

func closed(t testing.TB, l *Log) {
	t.Helper()
	must.Do(t, l.Close())
}

// TestExample compares the bytes of a file with the example in the package comment.
func TestExample(t *testing.T) {
	dir := t.TempDir()
	o := Options{ID: [16]byte(bytes.Repeat([]byte("L"), 16)), Random: constant('F')}
	l, _, _ := open(t, nil, dir, o)
	put(t, l, "one", "two")
	closed(t, l)
	data := must.Read(t, path(dir, 1))
	_, example, _ := strings.Cut(string(must.Read(t, "doc.go")), "An example:")
	lines := 0
	for line := range strings.Lines(example) {
		var pos int
		if n, _ := fmt.Sscanf(line, "//\t%x  ", &pos); n != 1 || !strings.HasPrefix(line, "//\t0000") {
			continue
		}
		lines++
		for half, want := range []string{line[13:36], line[38:min(61, len(line))]} {
			if want = strings.TrimSpace(want); want == "" || strings.HasPrefix(want, "SUM") {
				continue
			}
			from := pos + 8*half
			if got := hex.EncodeToString(data[from : from+8]); got != strings.ReplaceAll(want, " ", "") {
				t.Errorf("offset %#x: %s, the documentation says %s", from, got, want)
			}
		}
	}
	if lines != 10 || len(data) != 0x98 {
		t.Errorf("%d lines; %d bytes", lines, len(data))
	}
}

// TestLog appends to files, rotates, removes and opens again.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	o := Options{ID: [16]byte{1}}
	l, r, had := open(t, nil, dir, o)
	if r != (Report{}) || had != nil || faults.FileNames(t, dir) != "" {
		t.Errorf("a new log: %+v, %v, %s", r, had, faults.FileNames(t, dir))
	}
	if n, err := l.Rotate(); n != (Mark{1, 0}) || err != nil {
		t.Errorf("rotated without a record: %v, %v", n, err)
	}
	put(t, l, "a", "b")
	put(t, l, "")
	if n, err := l.Rotate(); n != (Mark{2, 3}) || err != nil {
		t.Fatal(n, err)
	}
	put(t, l, strings.Repeat("large", batchBytes/5), "c", strings.Repeat("large", 2*batchBytes/5), "d")
	if n, err := l.Rotate(); n != (Mark{3, 7}) || err != nil {
		t.Fatal(n, err)
	}
	if pos := put(t, l, "e"); pos != 8 {
		t.Errorf("position %d", pos)
	}
	closed(t, l)
	if got := faults.FileNames(t, dir); got != "00000001.wal 00000002.wal 00000003.wal" {
		t.Error(got)
	}

	l, r, had = open(t, nil, dir, o)
	for i := range had {
		had[i] = had[i][:min(len(had[i]), 7)]
	}
	if want := []string{"1:a", "2:b", "3:", "4:large", "5:c", "6:large", "7:d", "8:e"}; !slices.Equal(had, want) {
		t.Errorf("%v, want %v", had, want)
	}
	if r.Files != 3 || r.Records != 8 || r.Last != 8 || r.TornFile != "" {
		t.Errorf("%+v", r)
	}
	must.Do(t, l.Remove(Mark{3, 7}))
	if pos := put(t, l, "f"); pos != 9 {
		t.Errorf("position %d", pos)
	}
	if n, err := l.Rotate(); n != (Mark{5, 9}) || err != nil {
		t.Fatal(n, err)
	}
	if pos, err := l.Append([]byte("not written when its file is removed")); pos != 10 || err != nil {
		t.Fatal(pos, err)
	}
	if n, err := l.Rotate(); n != (Mark{6, 10}) || err != nil {
		t.Fatal(n, err)
	}
	if err := l.Remove(Mark{6, 10}); err != nil || faults.FileNames(t, dir) != "" {
		t.Errorf("%v; %s", err, faults.FileNames(t, dir))
	}
	put(t, l, "g")
	closed(t, l)
	for _, err := range []error{l.Close(), l.Sync(t.Context(), 12), l.Remove(Mark{})} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if err := l.Sync(t.Context(), 11); err != nil {
		t.Errorf("a record that was acknowledged: %v", err)
	}

	o.Start = Mark{6, 10}
	must.Do(t, os.WriteFile(path(dir, 4), []byte("came back after a power cut"), 0o600))
	l, r, had = open(t, nil, dir, o)
	if !slices.Equal(had, []string{"11:g"}) || r.Last != 11 || faults.FileNames(t, dir) != "00000006.wal" {
		t.Errorf("%v, %+v, %s", had, r, faults.FileNames(t, dir))
	}
	closed(t, l)
}

// TestRefused opens files that are no log of this owner.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string) error
		open   Options
		want   string
	}{
		"another log": {func(string) error { return nil }, Options{ID: [16]byte{2}},
			"belongs to the log of another index"},
		"a missing file": {func(dir string) error { return os.Remove(path(dir, 2)) }, Options{},
			"00000002.wal: header, offset 0x0: the log file is missing"},
		"the first one": {func(dir string) error { return os.Remove(path(dir, 1)) }, Options{},
			"00000001.wal: header, offset 0x0: the log file is missing"},
		"a renamed file": {func(dir string) error { return os.Rename(path(dir, 3), path(dir, 4)) }, Options{},
			"00000003.wal: header, offset 0x0: the log file is missing"},
		"two exchanged": {func(dir string) error {
			return errors.Join(os.Rename(path(dir, 2), path(dir, 0)), os.Rename(path(dir, 3), path(dir, 2)),
				os.Rename(path(dir, 0), path(dir, 3)))
		}, Options{}, "was file 3 and has been renamed"},
		"an earlier mark": {func(dir string) error { return os.Rename(path(dir, 1), path(dir, 0)) },
			Options{Start: Mark{2, 0}}, "its first record is 2, and the last one before is 0"},
		"a newer format": {func(dir string) error { return overwrite(path(dir, 3), 8, 2) }, Options{},
			"format version 2, this ndd reads version 1: a newer"},
		"another file": {func(dir string) error { return overwrite(path(dir, 1), 0, 'x') }, Options{},
			"not a write-ahead log"},
		"an error of replay": {func(string) error { return nil }, Options{}, "replayed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l, _, _ := open(t, nil, dir, Options{})
			for i := range 3 {
				put(t, l, fmt.Sprint(i))
				rotate(t, l)
			}
			closed(t, l)
			must.Do(t, c.change(dir))
			before := faults.FileNames(t, dir)
			replay := func(Position, []byte) error {
				if name == "an error of replay" {
					return errors.New("replayed")
				}
				return nil
			}
			_, _, err := Open(nil, dir, c.open, replay)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if name != "an error of replay" && !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%v is not store.ErrCorrupt", err)
			}
			if _, e := Check(dir, c.open, replay); e == nil || e.Error() != err.Error() {
				t.Errorf("Check says %v", e)
			}
			if got := faults.FileNames(t, dir); got != before {
				t.Errorf("files %s, before %s", got, before)
			}
		})
	}
	if _, _, err := Open(nil, filepath.Join(t.TempDir(), "none"), Options{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	l, _, _ := open(t, nil, t.TempDir(), Options{})
	defer closed(t, l)
	if _, err := l.Append(make([]byte, RecordMax+1)); err == nil || !strings.Contains(err.Error(),
		"16777216 are allowed") {
		t.Error(err)
	}
	put(t, l, string(make([]byte, RecordMax)))
}

// overwrite changes a byte of a file.
func overwrite(path string, offset int, value byte) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[offset] = value
	return os.WriteFile(path, data, 0o600)
}
