package work

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/crash"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// inputs writes a folder with files of many kinds, some of them unreadable.
func inputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	words := func(i, n int) (s string) {
		for j := range n {
			s += fmt.Sprint(" word", i*j%97)
		}
		return s
	}
	lines := func(from, n int) (s string) {
		for i := range n {
			s += fmt.Sprintf(`{"name":"doc %d%s","date":"2020-01-%02d","text":"%s"}`+"\n", from+i, strings.Repeat("-", n/4),
				i%28+1, words(from+i, i%40))
		}
		return s + "broken\n"
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(lines(5000, 100)))
	z.Close()
	for name, data := range map[string]string{
		"a.jsonl": lines(0, 50), "b/large.jsonl": lines(1000, 1200), "c.jsonl.gz": packed.String(),
		"d.jsonl.gz": packed.String()[:packed.Len()-9], "e.txt": "caf\u00e9, th\u00e9, caf\xe9 " + words(7, 50), "f.txt": "",
		"g.bin": "\x00\x01\x02",
		"h.csv": "id,text\n1," + words(3, 30) + "\n2,\n", "i.html": "<meta charset=none><p>" + words(9, 20), ".hidden": "x"} {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		must.Do(t, os.WriteFile(path, []byte(data), 0o644))
	}
	return dir
}

// read is the result of a run.
type read struct {
	records []ingest.Record
	skips   []string
	report  ingest.Report
	taken   Taken
	warned  []string
}

// errStopped ends a run.
var errStopped = errors.New("stopped")

// run reads a folder, with the work folder at dir unless that is "", and stops after some records.
func run(ctx context.Context, d *disk.Disk, in, dir string, threads, stop int, opts format.Options) (
	r read, err error) {
	opts.IDField, opts.ValueFields = "name", [][]string{{"date"}}
	cfg := ingest.Config{Threads: threads, Document: opts, Skipped: func(s *input.Skip) error {
		r.skips = append(r.skips, s.Error()+fmt.Sprint(s.Offset, s.End, s.Rows, s.ResumedAt))
		return nil
	}}
	if dir != "" {
		w, err := Open(ctx, d, dir, threads, func(t Taken) { r.taken = t },
			func(msg string) { r.warned = append(r.warned, msg) })
		if err != nil {
			return r, err
		}
		defer w.Close()
		cfg.Work = w
	}
	r.report, err = ingest.Run(ctx, []string{in}, cfg, func(rec ingest.Record) error {
		if stop--; stop < 0 {
			return errStopped
		}
		r.records = append(r.records, rec)
		return nil
	})
	return r, err
}

// all is no limit of records.
const all = 1 << 30

// requireSame fails the test unless the results of two runs are equal.
func requireSame(t *testing.T, got, want read) {
	t.Helper()
	if !reflect.DeepEqual(got.records, want.records) || !slices.Equal(got.skips, want.skips) {
		t.Fatalf("%d records and skips %q, want %d and %q", len(got.records), got.skips, len(want.records), want.skips)
	}
	clear := func(r ingest.Report) ingest.Report {
		r.Skipped.Examples = slices.Clone(r.Skipped.Examples)
		for i, s := range r.Skipped.Examples {
			r.Skipped.Examples[i] = &input.Skip{Source: s.Error()}
		}
		r.BytesRead = 0
		return r
	}
	if a, b := clear(got.report), clear(want.report); !reflect.DeepEqual(a, b) {
		t.Fatalf("report %+v\nwant %+v", a, b)
	}
}

// TestTakeOver checks that the entries that a run takes over equal those that it would read, for any number of threads,
// and it does not read their files. A run that was stopped after any number of documents continues with the first
// unfinished file. At most 1 MiB of small files is read again.
func TestTakeOver(t *testing.T) {
	for _, threads := range []int{1, 3} {
		in := inputs(t)
		want, err := run(t.Context(), nil, in, "", 2, all, format.Options{})
		if err != nil || len(want.records) < 1400 || len(want.skips) < 7 || want.report.NoID == 0 ||
			want.report.Repaired == 0 {
			t.Fatalf("%d records, skips %q, %v, %+v", len(want.records), want.skips, err, want.report)
		}
		dir := filepath.Join(t.TempDir(), "deep", "work")
		for i, stop := range []int{0, 5, 40, 1100, 1300, all, all} {
			got, err := run(t.Context(), nil, in, dir, threads, stop, format.Options{})
			if len(got.warned) > 0 || stop < all && !errors.Is(err, errStopped) || stop == all && err != nil {
				t.Fatalf("%v %q", err, got.warned)
			}
			// a.jsonl ends with document 50, b/large.jsonl with 1250.
			if maximum := []int{0, 0, 0, 0, 1, 3, 9}[i]; got.taken.Stored > maximum || i > 3 && got.taken.Stored == 0 {
				t.Errorf("run %d took over %d files", i, got.taken.Stored)
			}
			if stop == all {
				requireSame(t, got, want)
			}
		}
		pieces := func() []string { names, _ := filepath.Glob(filepath.Join(dir, "*.work")); return names }
		before := pieces()
		got, err := run(t.Context(), nil, in, dir, threads, all, format.Options{})
		if err != nil || got.taken.Stored != 9 || !slices.Equal(pieces(), before) {
			t.Fatalf("%v %+v, and %q after %q", err, got.taken, pieces(), before)
		}
		requireSame(t, got, want)
	}
}

// TestChanges checks that new files, changed files and changed options are reported, and no earlier entries are used
// for them.
func TestChanges(t *testing.T) {
	in, dir := inputs(t), t.TempDir()
	name := func(s string) string { return filepath.Join(in, s) }
	check := func(opts format.Options, want Taken) {
		t.Helper()
		sound, _ := run(t.Context(), nil, in, "", 1, all, opts)
		got, err := run(t.Context(), nil, in, dir, 2, all, opts)
		want.Dir = dir
		if err != nil || !reflect.DeepEqual(got.taken, want) {
			t.Fatalf("%v: %+v, want %+v", err, got.taken, want)
		}
		requireSame(t, got, sound)
	}
	run(t.Context(), nil, in, dir, 2, all, format.Options{})
	os.WriteFile(name("a.jsonl"), []byte(`{"text":"a new text"}`+"\n"), 0o644)
	os.WriteFile(name("new.txt"), []byte("words"), 0o644)
	os.Remove(name("f.txt"))
	check(format.Options{}, Taken{Files: 9, Stored: 7, Read: []string{name("a.jsonl"), name("new.txt")}, Unused: 2})
	for _, opts := range []format.Options{{TextField: "name"}, {MaxDocumentBytes: 100}, {Format: format.Lines}} {
		got, _ := run(t.Context(), nil, in, dir, 2, all, opts)
		if got.taken.Stored != 0 || len(got.taken.Read) != 9 {
			t.Errorf("%+v: %+v", opts, got.taken)
		}
	}
	check(format.Options{}, Taken{Files: 9, Stored: 9, Unused: 2 + 3*9})

	// A file that changes while it is read is not kept.
	os.WriteFile(name("new.txt"), []byte("more words"), 0o644)
	w, err := Open(t.Context(), nil, dir, 1, func(Taken) {
		os.WriteFile(name("new.txt"), []byte("other words"), 0o644)
	}, func(msg string) {
		if !strings.Contains(msg, "new.txt: changed while it was read") {
			t.Error(msg)
		}
	})
	must.Do(t, err)
	opts := format.Options{IDField: "name", ValueFields: [][]string{{"date"}}}
	if _, err := ingest.Run(t.Context(), []string{in}, ingest.Config{Document: opts, Work: w},
		func(ingest.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), nil, dir, 1, nil, nil); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second process: %v", err)
	}
	must.Do(t, w.Close())
	check(format.Options{}, Taken{Files: 9, Stored: 8, Read: []string{name("new.txt")}, Unused: 3 + 3*9})

	// A change of a file is seen by its time, where the size is the same.
	info, _ := os.Stat(name("new.txt"))
	os.WriteFile(name("new.txt"), []byte("fresh words"), 0o644)
	os.Chtimes(name("new.txt"), info.ModTime(), info.ModTime().Add(time.Millisecond))
	check(format.Options{}, Taken{Files: 9, Stored: 8, Read: []string{name("new.txt")}, Unused: 4 + 3*9})

	// Another text of the same size, with the time that the file had, in place or under its name.
	if inode, _ := inodeOf(in); inode == 0 {
		t.Skip("needs a system with inodes, as Linux, where every run has it")
	}
	for i, replace := range []bool{false, true} {
		if info, _ = os.Stat(name("new.txt")); replace {
			must.Do(t, os.Remove(name("new.txt")))
		}
		os.WriteFile(name("new.txt"), []byte([]string{"first words", "other words"}[i]), 0o644)
		os.Chtimes(name("new.txt"), info.ModTime(), info.ModTime())
		check(format.Options{}, Taken{Files: 9, Stored: 8, Read: []string{name("new.txt")}, Unused: 5 + i + 3*9})
	}
}

// TestBadFolder checks that a folder that is no work folder is refused and not changed. A
// damaged file in a work folder is reported, removed, and read again.
func TestBadFolder(t *testing.T) {
	in, dir := inputs(t), t.TempDir()
	want, _ := run(t.Context(), nil, in, dir, 2, all, format.Options{})
	if _, err := run(t.Context(), nil, in, in, 1, all, format.Options{}); err == nil ||
		!strings.Contains(err.Error(), "no work folder") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(in, disk.LockName)); err == nil {
		t.Error("a lock in a foreign folder")
	}
	pieces, _ := filepath.Glob(filepath.Join(dir, "*.work"))
	data, err := os.ReadFile(pieces[0])
	must.Do(t, err)
	data[5000] ^= 1
	os.WriteFile(pieces[0], data, 0o644)
	got, err := run(t.Context(), nil, in, dir, 2, all, format.Options{})
	if err != nil || len(got.warned) != 1 || !strings.Contains(got.warned[0], pieces[0]) || got.taken.Stored == 9 {
		t.Fatalf("%v %q %+v", err, got.warned, got.taken)
	}
	requireSame(t, got, want)
}

// TestFaults checks that if any call to the disk fails, for example because the disk is full, the run succeeds or
// returns an error. The next run gives the same result as a run without faults.
func TestFaults(t *testing.T) {
	in := inputs(t)
	want, _ := run(t.Context(), nil, in, "", 2, all, format.Options{})
	calls := faults.Calls(t, func(d *disk.Disk) error {
		_, err := run(t.Context(), d, in, filepath.Join(t.TempDir(), "w"), 2, all, format.Options{})
		return err
	})
	faults.Durable(t, calls)
	for n := range calls {
		dir := filepath.Join(t.TempDir(), "w")
		f := faults.Fault{Call: calls[n], Number: n, Lasting: n%2 == 0}
		got, err := run(t.Context(), f.Disk(), in, dir, 2, all, format.Options{})
		if err == nil && len(got.warned) == 0 || err != nil && !errors.Is(err, f.Err()) {
			t.Errorf("%+v: %v, and warned %q", f, err, got.warned)
		}
		if err == nil {
			requireSame(t, got, want)
		}
		if got, err = run(t.Context(), nil, in, dir, 2, all, format.Options{}); err != nil || len(got.warned) > 0 {
			t.Fatalf("%+v: %v %q", f, err, got.warned)
		}
		requireSame(t, got, want)
	}
}

// TestPowerCut checks that after a power cut at any moment, a run takes over all complete files.
func TestPowerCut(t *testing.T) {
	in, base := inputs(t), t.TempDir()
	want, _ := run(t.Context(), nil, in, "", 2, all, format.Options{})
	recorder := crash.Record(t, base)
	if _, err := run(t.Context(), recorder.Disk(), in, filepath.Join(base, "w"), 2, all, format.Options{}); err != nil {
		t.Fatal(err)
	}
	maximum := 0
	recorder.States(3, 1, func(s crash.State) {
		dir := filepath.Join(t.TempDir(), "cut")
		recorder.Cut(dir, s)
		got, err := run(t.Context(), nil, in, filepath.Join(dir, "w"), 2, all, format.Options{})
		if err != nil || len(got.warned) > 0 {
			t.Fatalf("%v: %v %q", s, err, got.warned)
		}
		maximum = max(maximum, got.taken.Stored)
		requireSame(t, got, want)
	})
	if maximum == 0 {
		t.Error("nothing was ever taken over")
	}
}
