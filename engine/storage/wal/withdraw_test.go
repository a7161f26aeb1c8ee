package wal

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// TestWithdraw fills the disk between two files of a log. Written records are acknowledged. The others are
// withdrawn, even after the log continues. Nothing is withdrawn without an error, after a failed sync, or twice.
func TestWithdraw(t *testing.T) {
	var full, broken atomic.Bool
	creations := 0
	d := disk.WithFailures(func(c disk.Call, _ string) error {
		if c == disk.CallCreate {
			creations++
		}
		switch {
		case full.Load() && (c == disk.CallWrite && creations != 2 || c == disk.CallCreate && creations != 2):
			return syscall.ENOSPC
		case broken.Load() && c == disk.CallSync:
			return syscall.EIO
		}
		return nil
	})
	dir := t.TempDir()
	l, _, _ := open(t, d, dir, Options{})
	withdraw := func() (records []string, last Position, ok bool) {
		last, ok = l.Withdraw([]byte("nothing"), func(record []byte) { records = append(records, string(record)) })
		return records, last, ok
	}
	put(t, l, "record 1")
	if records, last, ok := withdraw(); ok || last != 1 || records != nil || l.Failing() {
		t.Errorf("without an error: %v %d %v", records, last, ok)
	}
	rotate(t, l)
	second := add(t, l, "record 2") // the second file can be created
	rotate(t, l)
	third, fourth := add(t, l, "record 3"), add(t, l, "record 4")
	full.Store(true)
	if err := l.Sync(t.Context(), fourth); !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrWithdrawn) ||
		!l.Failing() {
		t.Error(err)
	}
	if err := l.Sync(t.Context(), second); err != nil {
		t.Errorf("a written record is not acknowledged: %v", err)
	}
	if records, last, ok := withdraw(); !ok || last != second || !slices.Equal(records, []string{"record 3", "record 4"}) {
		t.Errorf("%v %d %v", records, last, ok)
	}
	full.Store(false)
	if err := l.Resume(); err != nil || l.Failing() {
		t.Fatal(err)
	}
	fifth := add(t, l, "record 5")
	for range 2 {
		for _, pos := range []Position{third, fourth} {
			if err := l.Sync(t.Context(), pos); !errors.Is(err, ErrWithdrawn) || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("Sync of %d: %v", pos, err)
			}
		}
		must.Do(t, l.Sync(t.Context(), fifth))
	}
	broken.Store(true)
	if err := l.Sync(t.Context(), add(t, l, "record 6")); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if records, _, ok := withdraw(); ok || records != nil {
		t.Errorf("after a sync that failed: %v", records)
	}
	if err := l.Close(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	_, _, records := open(t, nil, dir, Options{})
	if want := []string{text(1), text(2), "3:nothing", "4:nothing", text(5)}; !slices.Equal(records[:5], want) {
		t.Errorf("%q", records)
	}
}

// TestWrittenBeforeFull fills the disk between two batches of one file. The first batch is acknowledged and
// durable.
func TestWrittenBeforeFull(t *testing.T) {
	var writes, durable int // since the file was made
	full := false
	d := disk.WithFailures(func(c disk.Call, _ string) error {
		switch {
		case c == disk.CallWrite && full && writes == 1:
			return syscall.ENOSPC
		case c == disk.CallWrite && full:
			writes++
		case c == disk.CallSync:
			durable = writes
		}
		return nil
	})
	l, _, _ := open(t, d, t.TempDir(), Options{})
	put(t, l, "which makes the file")
	full = true
	batch := string(make([]byte, batchBytes))
	pos := [2]Position{add(t, l, batch), add(t, l, batch)}
	if err := l.Sync(t.Context(), pos[1]); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if err := l.Sync(t.Context(), pos[0]); err != nil || durable != 1 {
		t.Errorf("the earlier records are acknowledged with %v; %d of their batches are durable", err, durable)
	}
}

// TestOpenUnwritable opens a log with an unfinished end on a read-only disk. The complete records are read. Nothing
// is acknowledged before the end is cut off.
func TestOpenUnwritable(t *testing.T) {
	dir := t.TempDir()
	l, _, _ := open(t, nil, dir, Options{})
	put(t, l, "record 1")
	put(t, l, "record 2")
	l.file.abandon() // like a kill
	last := path(dir, 1)
	must.Do(t, os.Truncate(last, int64(len(must.Read(t, last)))-8))
	var readOnly atomic.Bool
	readOnly.Store(true)
	d := disk.WithFailures(func(disk.Call, string) error {
		if readOnly.Load() {
			return syscall.EROFS
		}
		return nil
	})
	l, report, records := open(t, d, dir, Options{})
	if !slices.Equal(records, []string{"1:record 1"}) || report.TornBytes == 0 || !l.Failing() {
		t.Errorf("%q, %+v", records, report)
	}
	if _, err := l.Append([]byte("record 3")); !errors.Is(err, syscall.EROFS) {
		t.Errorf("appending: %v", err)
	}
	if err := l.Resume(); !errors.Is(err, syscall.EROFS) || !l.Failing() {
		t.Errorf("going on: %v", err)
	}
	readOnly.Store(false)
	must.Do(t, l.Resume())
	put(t, l, "record 3")
	must.Do(t, l.Close())
	_, _, records = open(t, nil, dir, Options{})
	if !slices.Equal(records, []string{"1:record 1", "2:record 3"}) {
		t.Errorf("afterwards: %q", records)
	}
}
