package work

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/input"
	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/text"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

// TestKey: whatever the entries of a file depend on makes another key.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	must.Do(t, os.WriteFile(path, []byte("{}\n"), 0o644))
	keys := map[digest]string{}
	for name, change := range map[string]func(*input.File, *ingest.Config){
		"nothing": func(*input.File, *ingest.Config) {},
		"folder":  func(f *input.File, _ *ingest.Config) { f.Root = filepath.Dir(path) },
		"job":     func(_ *input.File, c *ingest.Config) { c.Job = "lines" },
		"exact":   func(_ *input.File, c *ingest.Config) { c.Exact = true },
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

// TestUnreadableIsNotKept: a file that could not be read may be readable later.
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
		w.Finish(input.File{Path: path})
		must.Do(t, w.Close())
	}
	if _, taken, _ := begun(t, dir, path); taken.Stored != 1 {
		t.Errorf("%+v", taken)
	}
}

// TestEntriesBeyondTheFile: a list that names more bytes of entries than there are is damaged.
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

// TestCopiesAfterStops: the list of copies goes on after each stop, also after an incomplete line; a file that
// has changed since the run began has no copy that is kept.
func TestCopiesAfterStops(t *testing.T) {
	in, dir := t.TempDir(), filepath.Join(t.TempDir(), "w")
	var paths []string
	for _, name := range []string{"a", "b", "c", "d"} {
		paths = append(paths, filepath.Join(in, name))
		must.Do(t, os.WriteFile(paths[len(paths)-1], []byte("{}\n"), 0o644))
	}
	list := filepath.Join(dir, listName)
	for i, path := range paths {
		w, _, _ := begun(t, dir, paths...)
		for j, before := range paths {
			if _, got, ok := w.copies.Take(input.File{Path: before}, nil); ok != (j < i) || ok && got.Ending != before {
				t.Errorf("run %d: %s: %v %+v", i, before, ok, got)
			}
		}
		if i == 3 {
			data := must.Read(t, list)
			must.Do(t, os.WriteFile(path, []byte("{} \n"), 0o644))
			w.copies.Keep(input.File{Path: path}, nil, Copy{Ending: path})
			if string(must.Read(t, list)) != string(data) {
				t.Error("a copy of a file that has changed is kept")
			}
		} else {
			w.copies.Keep(input.File{Path: path}, nil, Copy{Ending: path})
		}
		must.Do(t, w.Close())
		f, err := os.OpenFile(list, os.O_APPEND|os.O_WRONLY, 0)
		must.Do(t, err)
		f.WriteString(`{"Of":"torn"}`)
		f.Close()
	}
}
