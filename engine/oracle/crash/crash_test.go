package crash

import (
	"bufio"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// tree returns the files below a folder with their contents.
func tree(t *testing.T, dir string) string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = string(data)
		return err
	})
	must.Do(t, err)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, name+"="+files[name])
	}
	return strings.Join(all, " ")
}

// TestStates writes a file to a folder that has one. For each moment it lists the state after a power cut, without
// and with all changes that are not durable.
func TestStates(t *testing.T) {
	base, cut := t.TempDir(), filepath.Join(t.TempDir(), "cut")
	must.Do(t, os.WriteFile(filepath.Join(base, "old"), []byte("old"), 0o600))
	r := Record(t, base)
	d := r.Disk()
	f, err := d.CreateAppend(filepath.Join(base, "a"))
	must.Do(t, err)
	for _, step := range []func() error{
		func() error { _, err := io.WriteString(f, "1"); return err },
		f.Sync,
		func() error { _, err := io.WriteString(f, "2"); return err },
		func() error { return d.SyncFolder(base) },
		func() error { // truncates and syncs
			a, err := d.OpenAppend(filepath.Join(base, "a"), 1)
			must.Do(t, err)
			return a.Close()
		},
		func() error { return d.Remove(filepath.Join(base, "old")) },
		func() error { return d.SyncFolder(base) },
		func() error { return d.Link(filepath.Join(base, "a"), filepath.Join(base, "b")) },
	} {
		must.Do(t, step())
		r.Mark(r.Calls())
	}
	f.Close()
	var got []string
	for after := range r.Calls() + 1 {
		line := ""
		for _, keep := range []int{0, 100} {
			s := State{Calls: after, Keep: keep}
			r.Cut(cut, s)
			line += " | " + tree(t, cut)
		}
		if n := len(got); n == 0 || got[n-1] != line {
			got = append(got, line)
		}
	}
	want := []string{
		" | old=old | old=old",
		" | old=old | a= old=old",       // created
		" | old=old | a=1 old=old",      // the content is written, and then synced, but the name is not synced
		" | old=old | a=12 old=old",     // written again
		" | a=1 old=old | a=12 old=old", // the folder is synced
		" | a=1 old=old | a=1 old=old",  // cut
		" | a=1 old=old | a=1",          // removed
		" | a=1 | a=1",                  // the folder is synced
		" | a=1 | a=1 b=1",              // linked
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if marks := r.Marks(State{Calls: r.Calls()}); len(marks) != 8 || marks[0] != 2 {
		t.Errorf("%v", marks)
	}
	if got := tree(t, base); got != "a=1 b=1" {
		t.Errorf("the folder itself: %s", got)
	}
}

// TestPublished publishes a file and a folder with package disk. At every moment, the complete old or the complete
// new one exists, and at the end the new one.
func TestPublished(t *testing.T) {
	base, cut := t.TempDir(), filepath.Join(t.TempDir(), "cut")
	must.Do(t, os.WriteFile(filepath.Join(base, "f"), []byte("old"), 0o600))
	r := Record(t, base)
	content := strings.Repeat("new", 1000)
	f, err := r.Disk().Create(filepath.Join(base, "f"))
	must.Do(t, err)
	io.WriteString(f, content)
	must.Do(t, f.Commit())
	folder, err := r.Disk().CreateFolder(filepath.Join(base, "folder"))
	must.Do(t, err)
	for _, name := range []string{"x", "y/z"} {
		if err := folder.Write(name, func(w *bufio.Writer) error {
			_,
				err := w.WriteString(content)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	must.Do(t, folder.Commit())
	seen := map[string]int{}
	r.States(1, 20, func(s State) {
		r.Cut(cut, s)
		data, err := os.ReadFile(filepath.Join(cut, "f"))
		if got := string(data); err != nil || got != "old" && got != content {
			t.Errorf("%s: %d bytes, %v", s, len(got), err)
		}
		seen["f"+string(data[:1])]++
		if _, err := os.Stat(filepath.Join(cut, "folder")); err == nil {
			seen["folder"]++
			if got := tree(t, filepath.Join(cut, "folder")); got != "x="+content+" y/z="+content {
				t.Errorf("%s: the folder has %d bytes", s, len(got))
			}
		}
		if s.Calls == r.Calls() && tree(t, cut) != "f="+content+" folder/x="+content+" folder/y/z="+content {
			t.Errorf("%s: not durable at the end", s)
		}
	})
	if seen["fo"] < 20 || seen["fn"] < 20 || seen["folder"] < 10 {
		t.Errorf("states: %v", seen)
	}
}

// TestTorn writes many sectors. A power cut keeps any of those that are not durable.
func TestTorn(t *testing.T) {
	base, cut := t.TempDir(), filepath.Join(t.TempDir(), "cut")
	r := Record(t, base)
	f, err := r.Disk().CreateAppend(filepath.Join(base, "f"))
	must.Do(t, err)
	defer f.Close()
	must.Do(t, r.Disk().SyncFolder(base))
	io.WriteString(f, strings.Repeat("x", 100*sectorBytes))
	holes := 0
	for seed := range uint64(20) {
		r.Cut(cut, State{Calls: r.Calls(), Keep: 50, Seed: seed})
		data, err := os.ReadFile(filepath.Join(cut, "f"))
		must.Do(t, err)
		kept := strings.Count(string(data), strings.Repeat("x", sectorBytes))
		if kept < 20 || kept > 80 || strings.Trim(string(data), "x\x00") != "" {
			t.Errorf("seed %d: %d sectors", seed, kept)
		}
		if strings.Contains(strings.TrimRight(string(data), "\x00"), "\x00") {
			holes++
		}
	}
	if holes < 15 {
		t.Errorf("%d of 20 have a hole", holes)
	}
}
