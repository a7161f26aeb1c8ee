package live

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/engine/storage/wal"
)

// killed ends an index as kill -9 does, without a flush, and returns the files of its log.
func killed(t *testing.T, x *Index, dir string) []string {
	t.Helper()
	must.Do(t, x.end())
	logs, err := wal.Paths(nil, dir, wal.Mark{})
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	return logs
}

// TestLogMissing removes or empties the last file of a log after a kill. An index that lacks acknowledged changes is
// refused.
func TestLogMissing(t *testing.T) {
	t.Parallel()
	harms := map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	}
	for name, harm := range harms {
		for _, flushed := range []bool{false, true} {
			x, dir := newFolder(t)
			insertNumbered(t, x, 0, 5)
			if flushed {
				must.Do(t, x.Flush(t.Context()))
				insertNumbered(t, x, 5, 7)
			}
			logs := killed(t, x, dir)
			must.Do(t, harm(logs[len(logs)-1]))
			for _, write := range []bool{false, true} {
				_, err := Open(t.Context(), dir, OpenOptions{Write: write})
				if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), logs[len(logs)-1]) ||
					!strings.Contains(err.Error(), "restore a backup") {
					t.Errorf("%s, flushed %v, to write %v: %v", name, flushed, write, err)
				}
			}
		}
	}
}

// TestLogTruncated removes records from a log although the manifest says that the log has them.
func TestLogTruncated(t *testing.T) {
	x, dir := newFolder(t)
	insertNumbered(t, x, 0, 5)
	must.Do(t, x.upkeep.keep(true))
	log := killed(t, x, dir)[0]
	info, err := os.Stat(log)
	must.Do(t, err)
	if x := openFolder(t, dir, OpenOptions{}); x.Stats().Documents != 5 {
		t.Error(x.Stats())
	}
	must.Do(t, os.Truncate(log, info.Size()/2))
	if _, err := Open(t.Context(), dir, OpenOptions{}); !errors.Is(err, store.ErrCorrupt) ||
		!strings.Contains(err.Error(), "had at least 5") {
		t.Error(err)
	}
}

// TestReplayGoesBack checks that a record of unused document numbers cannot begin before the next number.
func TestReplayGoesBack(t *testing.T) {
	x, _ := newFolder(t)
	insertNumbered(t, x, 0, 5)
	r := &replay{indexState: x.indexState, writer: x.writer}
	for first, want := range map[rows.DocID]error{4: store.ErrCorrupt, 5: nil} {
		record := (&change{gap: true, first: first}).append(nil, &x.config)
		fails(t, fmt.Sprint("a gap up to document ", first), r.apply(100, record), want)
	}
}

// TestGenerations checks that no two manifests have the same generation, even if it is unknown whether the first one
// was written.
func TestGenerations(t *testing.T) {
	fail := false
	d := disk.WithFailures(func(c disk.Call, _ string) error {
		if fail && c == disk.CallSyncFolder {
			return errors.ErrUnsupported
		}
		return nil
	})
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true, Disk: d})
	for i := range 2 {
		fail = i == 0
		if err := x.writer.nameLog(func(*Manifest) {}); (err != nil) != fail {
			t.Fatal(err)
		}
		m, err := ReadManifest(dir)
		if err != nil || m.Generation != x.folder.manifest.Generation {
			t.Fatalf("generation %d is there, and %d was the last: %v", m.Generation, x.folder.manifest.Generation, err)
		}
	}
}

// TestNewFileNames checks that the first new file of an index that was built has an unused number.
func TestNewFileNames(t *testing.T) {
	m := &Manifest{Segments: []ManifestSegment{{ManifestFile: ManifestFile{File: "00000007.segment"}}}}
	if m.grow(Config{}, 0); m.Live.Files != 8 {
		t.Error(m.Live.Files)
	}
}
