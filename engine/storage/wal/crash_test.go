package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"example.org/ndd/engine/oracle/crash"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

func le(b []byte) uint64              { return binary.LittleEndian.Uint64(b) }
func set(b []byte, v uint64)          { binary.LittleEndian.PutUint64(b, v) }
func text(position Position) string   { return fmt.Sprintf("%d:record %d", position, position) }
func record(position Position) []byte { return fmt.Appendf(nil, "record %d", position) }

// work appends records until an error, and calls ack for each batch. It rotates the log, and removes the old files
// that told allows it to remove. First it opens the log and checks that the records are consecutive.
func work(t testing.TB, d *disk.Disk, dir string, o Options, batches int, ack func(last Position, start Mark)) error {
	replay, records := collect()
	l, r, err := Open(d, dir, o, replay)
	if err != nil {
		return err
	}
	sequence(t, "at the beginning", *records, r.Last)
	next, from := r.Last+1, o.Start
	for i := range batches {
		var pos Position
		for range 1 + i%4*20 {
			if pos, err = l.Append(record(next)); err != nil {
				return errors.Join(err, l.Close())
			}
			next++
		}
		if err := l.Sync(t.Context(), pos); err != nil {
			return errors.Join(err, l.Close())
		}
		ack(pos, from)
		if i%3 == 2 {
			before, err := l.Rotate()
			if err == nil && i%2 == 0 {
				from = before
				ack(pos, from) // the manifest says so
				err = l.Remove(before)
			}
			if err != nil {
				return errors.Join(err, l.Close())
			}
		}
	}
	return l.Close()
}

// sequence fails unless records are all records up to last, without a gap.
func sequence(t testing.TB, name string, records []string, last Position) {
	t.Helper()
	for i, got := range records {
		if want := text(last - Position(len(records)-1-i)); got != want {
			t.Fatalf("%s: record %d of %d is %q, want %q", name, i, len(records), got, want)
		}
	}
}

// An acknowledgement has the changes that were acknowledged at a moment.
type acknowledgement struct {
	last Position
	mark Mark // mark in the manifest
}

// TestPowerCut cuts the power after every call and opens the log. All acknowledged records are
// there in order, perhaps with later ones. With NoSync the records are a beginning of the appended ones,
// and the log is never damaged. Then it cuts the power during recovery and afterwards.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for noSync, seeds := range map[bool]int{false: 6, true: 3} {
		seeds *= long.Or(1, 7)
		t.Run(fmt.Sprint("NoSync ", noSync), func(t *testing.T) { powerCut(t, noSync, seeds) })
	}
}

func powerCut(t *testing.T, noSync bool, seeds int) {
	base, cut, second := t.TempDir(), filepath.Join(t.TempDir(), "cut"), filepath.Join(t.TempDir(), "second")
	r := crash.Record(t, base)
	promise := func(last Position, start Mark) {
		if noSync {
			last = start.Last
		}
		r.Mark(acknowledgement{last, start})
	}
	must.Do(t, work(t, r.Disk(), base, Options{NoSync: noSync}, 12, promise))
	states, deep := 0, 0
	r.States(1, seeds, func(s crash.State) {
		states++
		had := last(r.Marks(s))
		r.Cut(cut, s)
		if states%10 > 0 {
			after(t, s.String(), crash.Unsynced, cut, had)
			return
		}
		repeated := crash.Record(t, cut)
		after(t, s.String(), repeated.Disk(), cut, had)
		repeated.States(1, 2, func(s2 crash.State) {
			deep++
			repeated.Cut(second, s2)
			after(t, s.String()+" "+s2.String(), crash.Unsynced, second, had)
		})
	})
	t.Logf("%d states, and %d after a second power cut", states, deep)
	if states < 150 || deep < 300 {
		t.Errorf("%d and %d states", states, deep)
	}
}

// last returns the last acknowledgement.
func last(marks []any) acknowledgement {
	if len(marks) == 0 {
		return acknowledgement{}
	}
	return marks[len(marks)-1].(acknowledgement)
}

// after opens a log after a power cut and appends a record.
func after(t *testing.T, name string, d *disk.Disk, dir string, had acknowledgement) {
	t.Helper()
	l, r, records := open(t, d, dir, Options{Start: had.mark})
	sequence(t, name, records, r.Last)
	if r.Last < had.last {
		t.Fatalf("%s: records up to %d, and %d was acknowledged: %+v", name, r.Last, had.last, r)
	}
	put(t, l, string(record(r.Last+1)))
	closed(t, l)
}

// TestFaults makes each call fail, alone and with all later ones. No record is acknowledged afterwards, and a new
// opening finds every acknowledged record.
func TestFaults(t *testing.T) {
	t.Parallel()
	run := func(d *disk.Disk, dir string) (had acknowledgement, err error) {
		err = work(t, d, dir, Options{}, 9, func(last Position, start Mark) { had = acknowledgement{last, start} })
		return had, err
	}
	calls := faults.Calls(t, func(d *disk.Disk) error { _, err := run(d, t.TempDir()); return err })
	if len(calls) < 35 {
		t.Errorf("%d calls", len(calls))
	}
	for n, call := range calls {
		for _, lasting := range []bool{false, true} {
			f := faults.Fault{Call: call, Number: n, Lasting: lasting}
			dir := t.TempDir()
			had, err := run(f.Disk(), dir)
			if !errors.Is(err, f.Err()) && !(call.Call == disk.CallRemove && lasting) {
				t.Errorf("%+v: %v", f, err)
			}
			after(t, fmt.Sprintf("%+v", f), nil, dir, had)
		}
	}
}

// TestFailedSync checks that nothing is acknowledged after a failed sync, even if the next sync would succeed. Any
// number of callers wait before, during and after it.
func TestFailedSync(t *testing.T) {
	var syncs atomic.Int64
	fault := errors.New("the disk is broken")
	d := disk.WithFailures(func(c disk.Call, _ string) error {
		if c == disk.CallSync && syncs.Add(1) == 5 {
			return fault
		}
		return nil
	})
	dir := t.TempDir()
	l, _, _ := open(t, d, dir, Options{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				pos, err := l.Append([]byte("r"))
				if err == nil {
					err = l.Sync(t.Context(), pos)
				}
				if err == nil {
					continue
				}
				if !errors.Is(err, fault) {
					t.Errorf("%v", err)
				}
				return
			}
		})
	}
	all.Wait()
	_, err := l.Append(nil)
	_, rotate := l.Rotate()
	for i, err := range []error{err, rotate, l.Remove(Mark{}), l.Close()} {
		if !errors.Is(err, fault) {
			t.Errorf("call %d after it: %v", i, err)
		}
	}
	if n := syncs.Load(); n != 5 {
		t.Errorf("%d syncs", n)
	}
}

// TestRemoveIsDurable checks that the removal of files is durable when Remove returns.
func TestRemoveIsDurable(t *testing.T) {
	dir, cut := t.TempDir(), filepath.Join(t.TempDir(), "cut")
	r := crash.Record(t, dir)
	l, _, _ := open(t, r.Disk(), dir, Options{})
	put(t, l, "a")
	mark, err := l.Rotate()
	must.Do(t, err)
	must.Do(t, l.Remove(mark))
	r.Cut(cut, crash.State{Calls: r.Calls()})
	if got := faults.FileNames(t, cut); got != "" {
		t.Errorf("after a power cut there is %s", got)
	}
	closed(t, l)
}

// TestResume fails every call once, like a disk that is full for a while. After a failed write or file creation the
// log continues with all records, including those whose Sync failed. After a failed sync it does not continue.
func TestResume(t *testing.T) {
	t.Parallel()
	run := func(d *disk.Disk, dir string) (failures int, last Position, err error) {
		l, _, err := Open(d, dir, Options{}, func(Position, []byte) error { return nil })
		if err != nil {
			return 0, 0, err
		}
		for i := range 8 {
			pos := add(t, l, string(record(last+1)))
			last = pos
			if i%3 == 2 {
				rotate(t, l)
			}
			if err := l.Sync(t.Context(), pos); err != nil {
				failures++
				if _, e := l.Append(nil); e == nil {
					t.Error("appended before Resume")
				}
				if err := l.Resume(); err != nil {
					return failures, last, errors.Join(err, l.Close())
				}
			}
		}
		return failures, last, l.Close()
	}
	calls := faults.Calls(t, func(d *disk.Disk) error { _, _, err := run(d, t.TempDir()); return err })
	resumed := 0
	for n, call := range calls {
		f := faults.Fault{Call: call, Number: n}
		dir := t.TempDir()
		failures, last, err := run(f.Disk(), dir)
		repeated := call.Call == disk.CallWrite || call.Call == disk.CallCreate
		if repeated && failures == 1 {
			resumed++
			if err != nil {
				t.Errorf("%+v: %v", f, err)
			}
		} else if !errors.Is(err, f.Err()) {
			t.Errorf("%+v: resumed after it, %v", f, err)
		}
		_, r, records := open(t, nil, dir, Options{})
		sequence(t, fmt.Sprint(f), records, r.Last)
		if err == nil && r.Last != last {
			t.Errorf("%+v: records up to %d, of %d", f, r.Last, last)
		}
	}
	if resumed < 12 {
		t.Errorf("resumed after %d of %d calls", resumed, len(calls))
	}
}

// TestResumeTwice keeps the disk full for a while: each Resume fails until there is space.
func TestResumeTwice(t *testing.T) {
	var full atomic.Bool
	d := disk.WithFailures(func(c disk.Call, _ string) error {
		if full.Load() && (c == disk.CallWrite || c == disk.CallCreate || c == disk.CallTruncate) {
			return syscall.ENOSPC
		}
		return nil
	})
	dir := t.TempDir()
	l, _, _ := open(t, d, dir, Options{})
	put(t, l, "record 1")
	full.Store(true)
	pos := add(t, l, "record 2")
	for range 3 {
		if err := l.Sync(t.Context(), pos); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Sync: %v", err)
		}
		if err := l.Resume(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Resume: %v", err)
		}
	}
	full.Store(false)
	must.Do(t, l.Resume())
	put(t, l, "record 3")
	if err := l.Resume(); err != nil {
		t.Errorf("without an error before: %v", err)
	}
	closed(t, l)
	if _, _, records := open(t, nil, dir, Options{}); !slices.Equal(records, []string{text(1), text(2), text(3)}) {
		t.Errorf("%v", records)
	}
}

// TestFailedRepair fails every call of an opening that must cut off a torn end or remove files.
func TestFailedRepair(t *testing.T) {
	t.Parallel()
	for name, torn := range map[string]int{"a frame": 7, "a header": -1} {
		for number := range 10 {
			dir := t.TempDir()
			first, end := small(t, dir, false)
			keep := len(end) - torn
			if torn < 0 {
				keep = 5
			}
			write(t, dir, first, end[:keep])
			f := faults.Fault{Number: number}
			l, _, err := Open(f.Disk(), dir, Options{}, func(Position, []byte) error { return nil })
			if err == nil {
				if number < 2 {
					t.Errorf("%s: call %d did not fail", name, number)
				}
				closed(t, l)
				break
			}
			if !errors.Is(err, f.Err()) {
				t.Errorf("%s: %v", name, err)
			}
			_, _, records := open(t, nil, dir, Options{})
			if n := len(records); !slices.Equal(records, smallRecords[:n]) || n != map[bool]int{true: 3, false: 5}[torn < 0] {
				t.Errorf("%s: %v", name, records)
			}
		}
	}
}
