package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// TestWriterFaults makes each call to the disk fail while a file of several batches is written. There is an error,
// and the old file is complete, or the new one if only its name may not be durable.
func TestWriterFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	small(t, path, Identity{})
	before := must.Read(t, path)
	part := make([]byte, batchBytes/4)
	calls := faults.Each(t, 1, func(d *disk.Disk) error {
		must.Do(t, os.WriteFile(path, before, 0o644))
		w, err := CreateWith(path, KindSegment, 1, Options{Disk: d})
		if err != nil {
			return err
		}
		defer w.Abort()
		for range 3 {
			w.Section("s")
			for range 4 * batchesMax {
				w.Write(part) // Commit returns its error
			}
		}
		err = w.Commit()
		w.Section("late")
		if _, e := w.Write(part); e == nil {
			t.Error("a write after Commit")
		}
		if w.Commit() == nil {
			t.Error("a second Commit")
		}
		return err
	}, func(f faults.Fault, whole bool) {
		f1, err := Open(path, KindSegment)
		if err != nil {
			t.Fatalf("%+v: %v", f, err)
		}
		defer f1.Close()
		if err := f1.Verify(t.Context(), 1, nil); err != nil || len(f1.Sections()) != map[bool]int{false: 4, true: 3}[whole] {
			t.Errorf("%+v: %d sections, %v", f, len(f1.Sections()), err)
		}
		if remaining := faults.FileNames(t, dir); remaining != "f" {
			t.Errorf("%+v: %s", f, remaining)
		}
	})
	if calls < 3*batchesMax {
		t.Errorf("%d calls", calls)
	}
}

// TestWriterFailsEarly checks that a writer of much data gets an error early.
func TestWriterFailsEarly(t *testing.T) {
	f := faults.Fault{Call: faults.Call{Call: disk.CallWrite}, Number: 1, Lasting: true}
	w, err := CreateWith(filepath.Join(t.TempDir(), "f"), KindSegment, 1, Options{Disk: f.Disk()})
	must.Do(t, err)
	defer w.Abort()
	w.Section("s")
	part := make([]byte, batchBytes)
	for range 2 * batchesMax {
		if _, err = w.Write(part); err != nil {
			break
		}
	}
	if !errors.Is(err, f.Err()) {
		t.Errorf("the error after %d batches: %v", 2*batchesMax, err)
	}
}

// TestBatches checks that all writes end at boundaries of huge pages, for sections of any length.
func TestBatches(t *testing.T) {
	var sizes []int
	w, err := CreateWith(filepath.Join(t.TempDir(), "f"), KindSegment, 1, Options{Disk: disk.Hooked(watch(func(op *disk.Op) {
		if op.Call == disk.CallWrite {
			sizes = append(sizes, len(op.Data))
		}
	}))})
	must.Do(t, err)
	defer w.Abort()
	for i := range 5 {
		w.Section("s")
		for range 20 {
			_, err = w.Write(make([]byte, 70_001*(i+1)))
			must.Do(t, err)
		}
	}
	must.Do(t, w.Commit())
	whole := slices.Repeat([]int{batchBytes}, 10)
	if len(sizes) != 12 || !slices.Equal(sizes[:10], whole) || sizes[10] > batchBytes {
		t.Errorf("written in pieces of %d bytes", sizes)
	}
}

// A watch is called with each call to a disk.
type watch func(*disk.Op)

func (w watch) Before(op *disk.Op) error { w(op); return nil }
func (watch) After(*disk.Op)             {}
