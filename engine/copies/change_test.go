package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ndd/engine/copies/postings"
	"ndd/engine/index/live/rows"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// sections returns what a file of postings has, by section.
func sections(t testing.TB, dir, file string) map[string][]byte {
	t.Helper()
	f, err := store.Open(filepath.Join(dir, file), store.KindPostings)
	must.Do(t, err)
	defer f.Close()
	all := map[string][]byte{}
	for _, s := range f.Sections() {
		all[s.Name] = slices.Clone(s.Data)
	}
	return all
}

// answers returns what is found in an index of some texts.
func answers(t testing.TB, dir string, o Options, texts []string) (all []string) {
	t.Helper()
	x := openIndexAt(t, dir)
	must.Do(t, x.Check(context.Background()))
	searcher, err := x.Searcher(o)
	must.Do(t, err)
	signer := newSigner(t, o)
	for i, text := range texts {
		sets := signer.Sign(text)
		hits, err := searcher.Search(context.Background(), &sets)
		must.Do(t, err)
		var found []string
		for _, h := range hits {
			found = append(found, fmt.Sprint(i, h))
		}
		slices.Sort(found) // where a document stands in the index may have changed
		all = append(all, found...)
	}
	return all
}

// openIndexAt opens an index, which the test closes.
func openIndexAt(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := OpenIndex(context.Background(), dir, 1)
	must.Do(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

func newSigner(t testing.TB, o Options) *Signer {
	t.Helper()
	s, err := NewSigner(o)
	must.Do(t, err)
	return s
}

// create makes an index of texts from number from on, in segments of so many.
func create(t testing.TB, o Options, texts []string, each int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	for from := 0; from == 0 || from < len(texts); from += each {
		var w *IndexWriter
		var err error
		if from == 0 {
			w, err = CreateIndex(dir, o, false)
		} else {
			w, err = AppendIndex(context.Background(), dir, o)
		}
		must.Do(t, err)
		s := newSigner(t, o)
		for i := from; i < min(from+each, len(texts)); i++ {
			sets := s.Sign(texts[i])
			sets.Site = siteOf(i)
			must.Do(t, w.Add(id(i), sets))
		}
		_, err = w.Commit(context.Background())
		must.Do(t, err)
		must.Do(t, w.Abort()) // nothing, behind Commit
	}
	return dir
}

// TestMerge: segments with deleted documents merge into the bytes of an index that was built of the
// others at once, whatever the memory and the threads.
func TestMerge(t *testing.T) {
	texts := corpus(rand.New(rand.NewPCG(21, 22)), 120)
	texts = append(texts, texts[3], texts[3], texts[40]) // equal ones, one in another segment
	for i, room := range []uint64{0, 1, 1 << 12} {
		o := Options{Threads: 2}
		dir := create(t, o, texts, 50)
		var gone, kept []string
		wanted := filepath.Join(t.TempDir(), "wanted")
		w, err := CreateIndex(wanted, o, false)
		must.Do(t, err)
		signer := newSigner(t, o)
		for i, text := range texts {
			if i%7 == 3 {
				gone = append(gone, id(i))
				continue
			}
			kept = append(kept, text)
			sets := signer.Sign(text)
			sets.Site = siteOf(i)
			must.Do(t, w.Add(id(i), sets))
		}
		_, err = w.Commit(context.Background())
		must.Do(t, err)
		if n, missing, err := Delete(context.Background(), dir, append(gone, "nobody", "nobody"),
			o); n != len(gone) || len(missing) != 1 || err != nil {
			t.Fatalf("%d deleted, not there: %q, %v", n, missing, err)
		}
		want := answers(t, wanted, o, kept)
		if got := answers(t, dir, o, kept); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("after deleting: %d answers, want %d", len(got), len(want))
		}
		before, err := OpenIndex(context.Background(), dir, 1)
		must.Do(t, err)
		m := Options{Threads: 1 + i, Room: postings.Room{Bytes: room, Dir: t.TempDir()}}
		if segments, deleted, err := Merge(context.Background(), dir,
			m); segments != 3 || deleted != uint64(len(gone)) || err != nil {
			t.Fatalf("%d segments, %d deleted, %v", segments, deleted, err)
		}
		if err := before.Check(context.Background()); err != nil { // goes on with the old segments
			t.Error(err)
		}
		before.Close()
		got, wantBytes := sections(t, dir, "00000005.postings"), sections(t, wanted, "00000001.postings")
		for name := range wantBytes {
			if !slices.Equal(got[name], wantBytes[name]) || len(got) != len(wantBytes) {
				t.Errorf("room %d, %s: %d bytes, want %d", room, name, len(got[name]), len(wantBytes[name]))
			}
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "*.postings")); len(files) != 1 {
			t.Errorf("left behind: %v", files)
		}
		if segments, deleted, err := Merge(context.Background(), dir, m); segments != 1 || deleted != 0 || err != nil {
			t.Errorf("of one segment: %d, %d, %v", segments, deleted, err)
		}
	}
}

// TestConflicts: a document whose ID is taken, by one of the index or of the same input, replaces
// it, is left out, or is refused.
func TestConflicts(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	old, added, later := english(random, 20), english(random, 20), english(random, 20)
	for conflict, want := range map[rows.OnConflict]int{rows.Replace: 2, rows.Keep: 0, rows.Refuse: 0} {
		o := Options{Method: SpotSigs, OnConflict: conflict}
		dir := create(t, o, []string{old, english(random, 20)}, 1)
		w, err := AppendIndex(context.Background(), dir, o)
		must.Do(t, err)
		signer := newSigner(t, o)
		for i, text := range []string{added, later} {
			err = w.Add(id(0), signer.Sign(text))
			if want := `ID "page-0": another document has it`; (err != nil) != (conflict == rows.Refuse) ||
				err != nil && err.Error() != want {
				t.Fatalf("%d, document %d: %v", conflict, i, err)
			}
		}
		if conflict == rows.Refuse {
			must.Do(t, w.Abort())
		} else if r, err := w.Commit(context.Background()); err != nil || r.Taken != 2 ||
			!slices.Equal(r.TakenIDs, []string{id(0), id(0)}) {
			t.Fatalf("%d: %+v, %v", conflict, r, err)
		} else if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		got := answers(t, dir, o, []string{old, added, later})
		if len(got) != 1 || got[0][0] != "0 1 2"[2*want] {
			t.Errorf("%d: found %v, want text %d alone", conflict, got, want)
		}
		if x := openIndexAt(t, dir); x.Documents() != 2 || x.Deleted() != uint64(want) {
			t.Errorf("%d: %d documents, %d deleted", conflict, x.Documents(), x.Deleted())
		}
	}
}

// TestReplaceAll: a document replaces all that have its ID, where an index has an ID several times,
// and only once.
func TestReplaceAll(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 26))
	o := Options{Method: SpotSigs}
	signer := newSigner(t, o)
	texts := []string{english(random, 20), english(random, 20), english(random, 20), english(random, 20),
		english(random, 20)}
	dir := create(t, o, texts[:1], 1)
	add := func(some []string, forget bool) {
		t.Helper()
		w, err := AppendIndex(context.Background(), dir, o)
		must.Do(t, err)
		for _, text := range some {
			if forget { // that the ID is taken
				w.taken = newTaken()
			}
			must.Do(t, w.Add(id(0), signer.Sign(text)))
		}
		_, err = w.Commit(context.Background())
		must.Do(t, err)
		must.Do(t, w.Abort())
	}
	add(texts[1:3], true)
	add(texts[3:], false) // the last replaces the fourth, too
	if got := answers(t, dir, o, texts); len(got) != 1 || got[0][0] != '4' {
		t.Errorf("found %v, want text 4 alone", got)
	}
	if x := openIndexAt(t, dir); x.Documents() != 1 || x.Deleted() != 4 {
		t.Errorf("%d documents, %d deleted", x.Documents(), x.Deleted())
	}
}

// TestDeletedLies: a manifest that contradicts itself on deleted documents is refused.
func TestDeletedLies(t *testing.T) {
	dir := create(t, Options{}, corpus(rand.New(rand.NewPCG(25, 26)), 20), 10)
	for name, lie := range map[string]func(m *Manifest){
		"one more":      func(m *Manifest) { m.Segments[0].Deleted++ },
		"not said":      func(m *Manifest) { m.Segments[1].Deleted, m.deleted[1] = 1, nil; m.deleted = m.deleted[:1] },
		"beyond":        func(m *Manifest) { m.deleted[0].set(12); m.Segments[0].Deleted++ },
		"of no segment": func(m *Manifest) { m.Segments = m.Segments[:1]; m.Segments = append(m.Segments, m.Segments[0]) },
	} {
		m, err := ReadManifest(dir)
		must.Do(t, err)
		m.delete(0, 3)
		lie(m)
		bad := t.TempDir()
		must.Do(t, m.write(bad, store.Options{}))
		if _, err := ReadManifest(bad); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFaults: whichever call to the disk fails, a new index is there whole or not at all, and one
// that is changed answers as before or as after; the next merge leaves nothing behind.
func TestFaults(t *testing.T) {
	texts := corpus(rand.New(rand.NewPCG(27, 28)), 12)
	sound := create(t, Options{}, texts, 5)
	s, signed := newSigner(t, Options{}), make([]Sets, len(texts))
	for i, text := range texts {
		signed[i] = s.Sign(text)
	}
	add := func(w *IndexWriter, err error) error {
		if err != nil {
			return err
		}
		defer w.Abort()
		for i, sets := range signed {
			if err := w.Add(id(12+i), sets); err != nil {
				return err
			}
		}
		_, err = w.Commit(context.Background())
		return err
	}
	for name, c := range map[string]struct {
		before, after uint64 // documents
		change        func(dir string, o Options) error
	}{
		"create": {0, 12, func(dir string, o Options) error { return add(CreateIndex(dir, o, false)) }},
		"append": {12, 24, func(dir string, o Options) error { return add(AppendIndex(context.Background(), dir, o)) }},
		"delete": {12, 11, func(dir string, o Options) error {
			_, _, err := Delete(context.Background(), dir, []string{id(1)}, o)
			return err
		}},
		"merge": {12, 12, func(dir string, o Options) error {
			_, _, err := Merge(context.Background(), dir, o)
			return err
		}},
	} {
		for fails := 0; ; fails++ {
			dir := filepath.Join(t.TempDir(), "index")
			if c.before > 0 {
				must.Do(t, os.CopyFS(dir, os.DirFS(sound)))
			}
			calls := 0
			err := c.change(dir, Options{Room: postings.Room{Disk: disk.Failing(func(disk.Call, string) error {
				if calls++; calls == fails+1 {
					return errors.New("injected")
				}
				return nil
			})}})
			n := uint64(0)
			if x, e := OpenIndex(context.Background(), dir, 1); e == nil {
				n = x.Documents()
				x.Close()
			} else if c.before > 0 || !errors.Is(e, fs.ErrNotExist) {
				t.Fatalf("%s, call %d fails: %v; %v", name, fails, err, e)
			}
			if n != c.after && (n != c.before || err == nil) {
				t.Fatalf("%s, call %d fails: %v; %d documents", name, fails, err, n)
			}
			if n > 0 {
				_, _, err := Merge(context.Background(), dir, Options{})
				must.Do(t, err)
				left, err := os.ReadDir(dir) // the manifest, the lock and one segment
				if x := openIndexAt(t, dir); err != nil || len(left) != 3 || x.Documents() != n {
					t.Fatalf("%s, call %d fails: left behind: %v, %v", name, fails, left, err)
				}
			}
			if calls <= fails {
				break
			}
		}
	}
}

// TestMergeMeanwhile: an index that is merged between the look at its manifest and at its segments
// is opened as it is then.
func TestMergeMeanwhile(t *testing.T) {
	dir := create(t, Options{}, corpus(rand.New(rand.NewPCG(29, 30)), 20), 10)
	m, err := ReadManifest(dir)
	must.Do(t, err)
	_, _, err = Merge(context.Background(), dir, Options{})
	must.Do(t, err)
	if _, err := openIndex(context.Background(), dir, m, 1); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("by the manifest before: %v", err)
	}
	done := make(chan error)
	go func() {
		for i := range 5 {
			_, _, err := Delete(context.Background(), dir, []string{id(i)}, Options{})
			if err == nil {
				_, _, err = Merge(context.Background(), dir, Options{})
			}
			if err != nil {
				done <- err
				return
			}
		}
		close(done)
	}()
	for {
		x, err := OpenIndex(context.Background(), dir, 1)
		must.Do(t, err)
		must.Do(t, x.Close())
		select {
		case err := <-done:
			must.Do(t, err)
			return
		default:
		}
	}
}

// TestIndexFrequent: a document whose signatures very many documents have is counted, as all pairs
// count it.
func TestIndexFrequent(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	common := english(random, 6)
	var texts []string
	for range 12 {
		texts = append(texts, common+english(random, 1))
	}
	o := Options{Method: SpotSigs, Join: postings.Options{MaxDocuments: 5, MaxEqual: 100}}
	if _, r := detect(t, o, texts...); r.Frequent != len(texts) || r.Common == 0 || r.Slices == 0 {
		t.Errorf("all pairs: %+v", r)
	}
	s, err := openIndexAt(t, create(t, o, texts, 6)).Searcher(o)
	must.Do(t, err)
	signer := newSigner(t, o)
	for text, want := range map[string]int{common: 1, english(random, 20): 0} {
		before := s.Frequent
		sets := signer.Sign(text)
		if _, err := s.Search(context.Background(), &sets); err != nil || s.Frequent-before != want {
			t.Errorf("%d documents are counted, want %d; %v", s.Frequent-before, want, err)
		}
	}
}
