package work

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// TestKey checks that every property that the entries of a file depend on changes the key.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	must.Do(t, os.WriteFile(path, []byte("{}\n"), 0o644))
	keys := map[digest]string{}
	for name, change := range map[string]func(*input.File, *ingest.Config){
		"nothing": func(*input.File, *ingest.Config) {},
		"folder":  func(f *input.File, _ *ingest.Config) { f.Root = filepath.Dir(path) },
		"job":     func(_ *input.File, c *ingest.Config) { c.Job = "lines" },
		"exact":   func(_ *input.File, c *ingest.Config) { c.Exact = true },
		"sketch":  func(_ *input.File, c *ingest.Config) { c.Sketches = true },
		"recipe":  func(_ *input.File, c *ingest.Config) { c.Recipe = simhash.Default() },
		"extract": func(_ *input.File, c *ingest.Config) { c.Document.Extract = text.ExtractAuto },
		"format":  func(_ *input.File, c *ingest.Config) { c.Document.Format = format.Lines },
		"text":    func(_ *input.File, c *ingest.Config) { c.Document.TextField = "body" },
		"ID":      func(_ *input.File, c *ingest.Config) { c.Document.IDField = "key" },
		"values":  func(_ *input.File, c *ingest.Config) { c.Document.ValueFields = [][]string{{"date"}} },
		"most":    func(_ *input.File, c *ingest.Config) { c.Document.MaxDocumentBytes = 100 },
	} {
		f, c := input.File{Path: path}, ingest.Config{}
		change(&f, &c)
		k, err := keyOf(t.Context(), f, &c)
		must.Do(t, err)
		if other, again := keys[k.digest()]; again {
			t.Errorf("%s and %s have one key", name, other)
		}
		keys[k.digest()] = name
	}
}

// begun returns a folder at dir that has begun a run of some files.
func begun(t *testing.T, dir string, paths ...string) (w *Folder, taken *Taken, warned *[]string) {
	t.Helper()
	taken, warned = new(Taken), new([]string)
	w, err := Open(t.Context(), nil, dir, 1, func(of Taken) { *taken = of }, func(msg string) { *warned = append(*warned, msg) })
	must.Do(t, err)
	t.Cleanup(func() { w.Close() })
	must.Do(t, w.Begin(t.Context(), paths, &ingest.Config{}))
	return w, taken, warned
}

// TestUnreadableIsNotKept checks that a file that could not be read may be readable later.
func TestUnreadableIsNotKept(t *testing.T) {
	dir, path := filepath.Join(t.TempDir(), "w"), filepath.Join(t.TempDir(), "a.jsonl")
	must.Do(t, os.WriteFile(path, []byte("{}\n"), 0o644))
	for _, unreadable := range []bool{true, false} {
		w, taken, _ := begun(t, dir, path)
		if taken.Stored != 0 {
			t.Errorf("%+v", taken)
		}
		if unreadable {
			w.Keep(&ingest.Entry{Skip: &input.Skip{Source: path, Reason: input.Unreadable, Err: errors.New("denied")}})
		}
		w.Finish(input.File{Path: path}, 0)
		must.Do(t, w.Close())
	}
	if _, taken, _ := begun(t, dir, path); taken.Stored != 1 {
		t.Errorf("%+v", taken)
	}
}

// TestEntriesBeyondTheFile checks that a list is damaged if it names more bytes of entries than the file has.
func TestEntriesBeyondTheFile(t *testing.T) {
	dir, path := filepath.Join(t.TempDir(), "w"), filepath.Join(t.TempDir(), "a.jsonl")
	w, _, _ := begun(t, dir)
	must.Do(t, w.Close())
	file := filepath.Join(dir, "000001.work")
	out, err := store.CreateWith(file, store.KindWork, 0, store.Options{})
	must.Do(t, err)
	out.Section("entries")
	out.Write(make([]byte, 10))
	out.Section("files")
	out.Write([]byte(`[{"Key":{"Path":"` + path + `"},"Bytes":7},{"Key":{"Path":"b"},"Bytes":4}]`))
	must.Do(t, out.Commit())
	_, _, warned := begun(t, dir, path)
	if _, err := os.Stat(file); len(*warned) != 1 || err == nil {
		t.Errorf("%q, %v", *warned, err)
	}
}

// TestCopiesAfterStops checks that copies of earlier runs are taken over, with the reports that they were kept with,
// unless they are damaged. A file that has changed since the run began has no copy that is kept, and one with another
// decision is not taken over.
func TestCopiesAfterStops(t *testing.T) {
	in, out, dir := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "w")
	var paths []string
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		paths = append(paths, filepath.Join(in, name))
		must.Do(t, os.WriteFile(paths[len(paths)-1], []byte("{}\n"), 0o644))
		must.Do(t, os.WriteFile(filepath.Join(out, name), []byte(name), 0o644))
	}
	const changed, damaged = 3, 1
	result := []Copy{{Name: "a", Uncut: 7}, {Name: "b"}, {Ending: ".zst"}, {Name: "d"}, {Name: "e", Ending: ".zst", Uncut: 12}}
	for i, path := range paths {
		w, _, warned := begun(t, dir, paths...)
		c := w.CopiesIn(out)
		taken := 0
		for j, before := range paths {
			path, got, ok := c.Take(input.File{Path: before}, []byte("x"))
			want := result[j]
			want.Name = ""
			if ok != (j < i && j != changed && (j != damaged || i == damaged+1)) || ok && got != want || ok && (path == "") != (result[j].Name == "") {
				t.Errorf("run %d: %s: %v %+v", i, before, ok, got)
			}
			if ok {
				taken++
			}
			if _, _, ok := c.Take(input.File{Path: before}, []byte("y")); ok {
				t.Errorf("run %d: %s: a copy with another decision is taken over", i, before)
			}
			if j == damaged && ok { // a power cut
				must.Do(t, os.WriteFile(path, nil, 0o644))
			}
		}
		if c.Taken() != taken {
			t.Errorf("run %d: %d copies are taken over, want %d", i, c.Taken(), taken)
		}
		if i == changed {
			must.Do(t, os.WriteFile(path, []byte("{} \n"), 0o644))
		}
		for range 2 { // the second time it is there
			c.Keep(input.File{Path: path}, []byte("x"), result[i])
		}
		kept, err := filepath.Glob(filepath.Join(dir, "*.copy"))
		if must.Do(t, err); len(kept) != []int{1, 2, 3, 2, 3}[i] { // run 3 removes the damaged one
			t.Errorf("run %d: %q are kept", i, kept)
		}
		if must.Do(t, w.Close()); len(*warned) > 0 {
			t.Error(*warned)
		}
	}
	w, _, _ := begun(t, dir, paths...)
	must.Do(t, w.DropCopies())
	if remaining, err := filepath.Glob(filepath.Join(dir, "*.copy")); err != nil || len(remaining) > 0 {
		t.Errorf("%q are left, %v", remaining, err)
	}
}
