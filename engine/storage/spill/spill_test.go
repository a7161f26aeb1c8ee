package spill

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

func compare3(a, b [3]uint64) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}

// records returns n records in order, some of them repeated.
func records(rng *rand.Rand, n int) [][3]uint64 {
	list := make([][3]uint64, n)
	for i := range list {
		list[i] = [3]uint64{rng.Uint64N(50) << 58, rng.Uint64N(4), rng.Uint64N(20)}
	}
	slices.SortFunc(list, compare3)
	return list
}

// nothingLeft fails unless the folder is empty.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	if remaining, err := os.ReadDir(dir); err != nil || len(remaining) > 0 {
		t.Errorf("left over: %v, %v", remaining, err)
	}
}

// TestMerge merges any number of runs and a list in memory, and compares the result with a sort. Many runs are
// merged in several steps.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 1, 2, runsMax - 1, runsMax, runsMax + 1, 3 * runsMax} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		s := NewRuns[[3]uint64](nil, dir, "things", 1)
		var want [][3]uint64
		var wait sync.WaitGroup
		for range n {
			list := records(rng, rng.IntN(400)) // more than a buffer of 4 KiB, or none
			want = append(want, list...)
			wait.Go(func() {
				if err := s.Spill(list); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if s.Bytes() < int64(24*len(want)) || len(s.runs) >= runsMax {
			t.Errorf("%d runs: %d bytes of %d records, %d runs are left", n, s.Bytes(), len(want), len(s.runs))
		}
		lists := [][][3]uint64{nil, records(rng, 100), records(rng, 1)}
		want = append(append(want, lists[1]...), lists[2]...)
		slices.SortFunc(want, compare3)
		want = slices.Compact(want)
		for range 2 { // it may be read again
			var got [][3]uint64
			for r, err := range s.Merge(lists) {
				must.Do(t, err)
				got = append(got, r)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d runs: %d records, want %d", n, len(got), len(want))
			}
		}
		for range s.Merge(lists) {
			break
		}
		one, err := s.Merged(lists)
		must.Do(t, err)
		if got, err := one.Map(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d runs: %d records in one run, want %d, %v", n, len(got), len(want), err)
		}
		must.Do(t, one.Close())
		must.Do(t, errors.Join(s.Close(), s.Close()))
	}
	nothingLeft(t, dir)
}

// TestRun appends distinct keys, maps them, and does so again.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	r, err := Create[uint64](nil, dir, "keys", 64)
	must.Do(t, err)
	defer r.Close()
	if got, err := r.Map(); err != nil || len(got) > 0 {
		t.Errorf("an empty run: %d, %v", got, err)
	}
	for round := range uint64(3) {
		must.Do(t, r.Rewind())
		var want []uint64
		for i := range uint64(1000) {
			v := round << 40
			must.Do(t, r.AppendDistinct([]uint64{v + i, v + i, v + i + 1, v + i + 1}))
		}
		for i := range uint64(1001) {
			want = append(want, round<<40+i)
		}
		must.Do(t, r.Append(nil))
		if got, err := r.Map(); err != nil || !slices.Equal(got, want) || r.count != len(want) {
			t.Fatalf("%d of %d keys, want %d: %v", len(got), r.count, len(want), err)
		}
	}
	must.Do(t, r.Close())
	nothingLeft(t, dir)
}

// TestFaults makes each call to the disk fail. The error names the content and the folder, and no file is left.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	work := func(d *disk.Disk) (err error) {
		s := NewRuns[[2]uint64](d, dir, "things", 1)
		defer func() { err = errors.Join(err, s.Close()) }()
		for i := range uint64(runsMax) {
			if err := s.Spill([][2]uint64{{i, 1}, {i + 1, 2}}); err != nil {
				return err
			}
		}
		n := 0
		for _, err := range s.Merge([][][2]uint64{{{0, 0}}}) {
			if err != nil {
				return err
			}
			n++
		}
		if n != 1+2*runsMax {
			t.Errorf("%d records", n)
		}
		return nil
	}
	calls := faults.Calls(t, work)
	for n, call := range calls {
		if n%7 > 0 && n < len(calls)-20 {
			continue
		}
		f := faults.Fault{Call: call, Number: n}
		err := work(f.Disk())
		var e *Error
		if call.Call == disk.CallRemove && err == nil {
			continue // done again when the file is closed
		}
		if !errors.Is(err, f.Err()) || !errors.As(err, &e) || e.Dir != dir || !strings.Contains(err.Error(),
			"temporary file of things in "+dir+": ") {
			t.Errorf("%+v: %v", f, err)
		}
	}
	nothingLeft(t, dir)
	_, err := Create[uint64](nil, filepath.Join(dir, "none"), "keys", 64)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestLost reads runs from truncated files: this is an error, not the end.
func TestLost(t *testing.T) {
	s := NewRuns[uint64](nil, t.TempDir(), "things", 1)
	defer s.Close()
	must.Do(t, s.Spill([]uint64{1, 2, 3}))
	must.Do(t, s.runs[0].file.File().Truncate(8))
	n, last := 0, error(nil)
	for _, err := range s.Merge(nil) {
		n, last = n+1, err
	}
	var e *Error
	if !errors.As(last, &e) || n != 1 {
		t.Errorf("%d records, %v", n, last)
	}
}

// TestColumn reads numbers back, in memory and from a file. After a full disk all calls return the error. No file is
// left.
func TestColumn(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 1, 100, 50_000} {
		c := NewColumn[uint32](nil, dir, "numbers", 400)
		var want []uint32
		for i := range n {
			want = append(want, uint32(i)*7)
			must.Do(t, c.Append(uint32(i)*7))
		}
		must.Do(t, c.AppendAll(want))
		want = append(want, want...)
		must.Do(t, errors.Join(c.End(), c.End()))
		if !slices.Equal(c.All, want) || c.Len() != 2*n || c.IsSpilled() != (n > 50) {
			t.Errorf("%d numbers: %d, spilled %v", 2*n, c.Len(), c.IsSpilled())
		}
		must.Do(t, errors.Join(c.Close(), c.Close()))
		for _, call := range []disk.Call{disk.CallCreate, disk.CallWrite} {
			fails := func(made disk.Call, _ string) error {
				if made == call {
					return syscall.ENOSPC
				}
				return nil
			}
			c := NewColumn[uint32](disk.WithFailures(fails), dir, "numbers", 400)
			c.AppendAll(want)
			err := c.End()
			if e, is := errors.AsType[*Error](err); is != (n > 50) || is && (e.Dir != dir || c.Append(1) == nil) {
				t.Errorf("%d numbers, %s fails: %v", 2*n, call, err)
			}
			c.Close()
		}
	}
	nothingLeft(t, dir)
}
