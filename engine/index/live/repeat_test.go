package live

import (
	"path/filepath"
	"sync"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
)

// TestRepeatedCheck checks that a repeated check-and-insert has the same answer as the first one, wherever the
// document is stored by then. A request with another ID or other content is compared as usual.
func TestRepeatedCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	must.Do(t, Create(dir, Config{Design: halves(t), IDs: true, Sketches: true, Table: planar}))
	x := openFolder(t, dir, OpenOptions{Write: true, NoSync: true})
	first := []rows.Doc{{ID: "a", Fingerprint: 1, Sketch: sketch.Sketch{7}}, {ID: "b", Fingerprint: 0xff00}, {ID: "c", Fingerprint: 0xff0000}}
	insert(t, x, first...)
	for range 100 { // others with the same fingerprint
		insert(t, x, rows.Doc{Fingerprint: 1}, rows.Doc{Fingerprint: 0xff00})
	}
	reopen := func() {
		must.Do(t, x.end())
		x = openFolder(t, dir, OpenOptions{Write: true, NoSync: true})
	}
	for _, stage := range []struct {
		name string
		do   func()
	}{{"in a memtable", func() {}}, {"after a restart", reopen}, {"in a segment", func() { must.Do(t, x.Flush(t.Context())) }},
		{"after a merge", func() {
			insert(t, x, rows.Doc{ID: "later", Fingerprint: 0xff << 40})
			must.Do(t, x.Merge(t.Context(), 1))
		}}, {"in a segment, after a restart", reopen}} {
		stage.do()
		next := x.versions.Current().End()
		for i, d := range first {
			for _, how := range []rows.OnConflict{rows.Replace, rows.Keep, rows.Refuse} {
				d.OnConflict = how
				// Twice in one call, with one that has another ID and one that has other content.
				other, changed := d, d
				other.ID, changed.Fingerprint = "other", d.Fingerprint^1<<30
				out, err := x.CheckAndInsert(t.Context(), []rows.Doc{d, other, d, changed}, 3, 1)
				must.Do(t, err)
				for j, o := range out {
					before := o.Inserted && o.Repeated && o.Doc == rows.DocID(i) && o.Near == nil
					near := !o.Inserted && !o.Repeated && len(o.Near) > 0
					if same := j%2 == 0; same != before || same == near {
						t.Fatalf("%s, %q, call %d: %+v", stage.name, d.ID, j, o)
					}
				}
			}
		}
		similar := first[0]
		similar.Sketch[1]++
		out, err := x.CheckAndInsert(t.Context(), []rows.Doc{similar}, 0, 1)
		if err != nil || out[0].Inserted || len(out[0].Near) != 1 {
			t.Errorf("%s: a text with another sketch: %+v, %v", stage.name, out, err)
		}
		if now := x.versions.Current().End(); now != next {
			t.Errorf("%s: %d documents were added", stage.name, now-next)
		}
	}
}

// TestRepeatedTogether inserts the same document concurrently, and twice in one call. It is stored once, and every
// answer has its number.
func TestRepeatedTogether(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t), IDs: true})
	for round := range rows.DocID(100) {
		d := rows.Doc{ID: "same", Fingerprint: simhash.Fingerprint(round+1) * 0x9e3779b97f4a7c15}
		var group sync.WaitGroup
		var mu sync.Mutex
		firsts := 0
		for range 4 {
			c := checking(t, x, d, d) // nothing is found yet
			group.Go(func() {
				out, err := c.conclude()
				mu.Lock()
				defer mu.Unlock()
				for _, o := range out {
					if !o.Inserted || o.Doc != round {
						t.Errorf("round %d: %+v", round, o)
					}
					if !o.Repeated {
						firsts++
					}
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		if group.Wait(); firsts != 1 {
			t.Fatalf("round %d: inserted %d times", round, firsts)
		}
	}
}
