package dedup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/near/source"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// TestExactTexts checks that of documents with one text the preferred one is kept, with any number of threads. If texts
// are compared, equal ones are read once, with the same result as without hashes.
func TestExactTexts(t *testing.T) {
	t.Chdir(t.TempDir())
	var lines strings.Builder
	first := map[string]Row{} // row of each text
	want := map[Row]Row{}     // kept for each dropped row
	for i := range 300 {
		text := fmt.Sprintf("%s %d", rivers, i*i%70)
		if i%5 == 0 {
			text = fmt.Sprint(i % 3) // short
		}
		fmt.Fprintf(&lines, "{\"text\":%q}\n", text)
		if row, again := first[text]; again {
			want[Row(i)] = row
		} else {
			first[text] = Row(i)
		}
	}
	write(t, map[string][]byte{"a.jsonl": []byte(lines.String())})
	for threads := range 3 {
		c := read(t, "a.jsonl", ingest.Config{Exact: true, Threads: threads}, ReadOptions{Threads: threads})
		r := found(t, c, Options{Exact: true})
		got := map[Row]Row{}
		for d := range r.Dropped() {
			if got[d.Row] = Row(d.KeptRow); d.Likeness != same || !r.Equal(d.Row, Row(d.KeptRow)) {
				t.Errorf("%+v", d)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}

	c := read(t, "a.jsonl", ingest.Config{}, ReadOptions{})
	o := Options{K: 6, Rule: Rule{{Jaccard: 0.9}}, Texts: &Texts{}}
	r := found(t, c, o)
	with := slices.Collect(r.Dropped())
	with = with[len(r.SameText):]
	c.hashes.All = nil
	if without := slices.Collect(found(t, c, o).Dropped()); !slices.Equal(with, without) || len(with) < 150 || len(r.SameText) == 0 {
		t.Errorf("%d drops, without hashes %d", len(with), len(without))
	}
}

// TestSplitUnequal checks that documents whose hashes agree in 64 bits alone are no duplicates of each other.
func TestSplitUnequal(t *testing.T) {
	c := appended(t, ReadOptions{})
	for i, h := range []uint64{1, 2, 1, 3, 2, 2} {
		must.Do(t, c.Append(Document{ID: fmt.Sprint(i), Fingerprint: 7, Hash: [2]uint64{7, h}}))
	}
	r := found(t, c, Options{Exact: true})
	var got []string
	for cl := range r.Clusters() {
		got = append(got, fmt.Sprint(cl.Kept, cl.Rows))
	}
	if want := []string{"0 [0 2]", "1 [1 4 5]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	firsts, of, err := (&search{c: c}).distinct(new(memory.Arena), []Row{0, 1, 2, 3, 5})
	if err != nil || !slices.Equal(firsts, []Row{0, 1, 3}) || !slices.Equal(of, []uint32{0, 1, 0, 2, 1}) {
		t.Errorf("%v %v", firsts, of)
	}
}

// TestEqualShort checks that of documents with one short text one is kept, by the policy, in a pipe, too. Protected
// documents stay, and no other document is compared with them.
func TestEqualShort(t *testing.T) {
	t.Chdir(t.TempDir())
	in := `{"id":"a","text":"a b","score":1}
{"id":"b","text":"` + rivers + `","score":5}
{"id":"c","text":"a b","score":3}
{"id":"d","text":"a c","score":1}
{"id":"g","text":"","score":1}
{"id":"h","text":"","score":2}
{"id":"e","text":"a b","score":2}
{"id":"f","text":"` + rivers + `","score":1}
`
	write(t, map[string]string{"in.jsonl": in, "safe.jsonl": in})
	for _, c := range []struct {
		keep   string
		source source.Options
		want   string // dropped>kept
	}{
		{"first", source.Options{}, "in.jsonl: c>a e>a f>b"},
		{"score", source.Options{}, "in.jsonl: a>c e>c f>b"},
		{"first", source.Options{Protect: []string{"safe.jsonl"}}, "in.jsonl: a>a b>b c>a d>d e>a f>b"},
	} {
		keep, err := keep.Parse(c.keep)
		must.Do(t, err)
		inputs := []string{"in.jsonl"}
		if len(c.source.Protect) > 0 {
			inputs = []string{"in.jsonl", "safe.jsonl"}
		}
		for _, o := range []Options{{K: 3}, {K: 6, Rule: Rule{{Jaccard: 0.7}}, Texts: &Texts{}}} {
			corpus, _, err := ReadDocuments(t.Context(), inputs, ingest.Config{}, ReadOptions{Keep: keep, Source: c.source})
			must.Do(t, err)
			r := found(t, corpus, o)
			var got []string
			for d := range r.Dropped() {
				if corpus.Place(d.Row).File == "in.jsonl" {
					got = append(got, corpus.ID(d.Row)+">"+d.Kept)
				} else {
					t.Errorf("%+v: %+v is protected", c, d)
				}
			}
			slices.Sort(got)
			if got := "in.jsonl: " + strings.Join(got, " "); got != c.want {
				t.Errorf("%s, %+v: %s, want %s", c.keep, o, got, c.want)
			}
			kept := 0
			for range r.Kept() {
				kept++
			}
			if kept+r.NumDropped() != corpus.Len() {
				t.Errorf("%d kept and %d dropped of %d", kept, r.NumDropped(), corpus.Len())
			}
			if len(c.source.Protect) > 0 {
				continue
			}
			copies, _ := copied(t, r)
			if n := strings.Count(copies["in.jsonl"], "\n"); n != 5 {
				t.Errorf("%d lines are kept: %s", n, copies["in.jsonl"])
			}
			notes, _ := written(t, r, r.Annotate)
			if n := strings.Count(notes["in.jsonl"], `"ndd_kept":false`); n != 3 {
				t.Errorf("%d lines are noted as dropped: %s", n, notes["in.jsonl"])
			}
			corpus.Close()
		}
	}
	var out bytes.Buffer
	seen := map[simhash.Fingerprint]bool{}
	dropped, _, err := Filter(t.Context(), strings.NewReader(in), &out, ingest.Config{Document: format.Options{
		Format: format.JSONL, MaxDocumentBytes: 1 << 20}}, func(r ingest.Record) (bool, error) {
		again := seen[r.Fingerprint]
		seen[r.Fingerprint] = true
		return again, nil
	})
	if err != nil || dropped != 3 || strings.Count(out.String(), "\n") != 5 {
		t.Errorf("a pipe: %d dropped, %v: %s", dropped, err, out.String())
	}
}

// TestSomeHashes checks that texts without a hash, in a file next to one with hashes, equal no text.
func TestSomeHashes(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"hashed.ndf", "bare.ndf"} {
		w, err := ndf.Create(name, simhash.Default(), store.Options{})
		must.Do(t, err)
		d := ndf.Document{Fingerprint: 7, Hash: ndf.Hash{1, 2}}
		if name == "hashed.ndf" {
			w.KeepHashes()
		}
		for _, d.ID = range []string{"a", "b"} {
			must.Do(t, cmp.Or(w.Append(d), w.AppendUnmarked(d)))
		}
		if name == "hashed.ndf" { // half of the hash is that of another text
			must.Do(t, w.AppendUnmarked(ndf.Document{ID: "c", Hash: ndf.Hash{1, 3}}))
		}
		must.Do(t, w.Commit())
	}
	c, err := ReadPrints(t.Context(), []string{"bare.ndf", "hashed.ndf"}, ReadOptions{})
	must.Do(t, err)
	defer c.Close()
	r := found(t, c, Options{})
	if want := []Drop{{Row: 7, KeptRow: 6, Likeness: same}}; !slices.Equal(r.SameText, want) || r.NumDropped() != 4 {
		t.Errorf("%+v, want %+v; %d dropped", r.SameText, want, r.NumDropped())
	}
	if r.Equal(0, 1) || !r.Equal(4, 5) {
		t.Error("hashes of 0 are equal texts, or equal hashes are not")
	}
}

// TestSomeSketches refuses a fingerprint file in which one document has no sketch.
func TestSomeSketches(t *testing.T) {
	t.Chdir(t.TempDir())
	w, err := ndf.Create("some.ndf", simhash.Default(), store.Options{})
	must.Do(t, err)
	w.KeepSketches()
	must.Do(t, cmp.Or(w.Append(ndf.Document{ID: "a", Sketch: sketch.Sketch{1}}), w.Append(ndf.Document{ID: "b"}), w.Commit()))
	_, err = ReadPrints(t.Context(), []string{"some.ndf"}, ReadOptions{Sketches: true})
	if !errors.Is(err, ndf.ErrSketches) || !strings.Contains(err.Error(), `document "b" in some.ndf has no sketch`) {
		t.Errorf("a document without a sketch: %v", err)
	}
}

// TestDroppedInOrder yields the dropped documents by row, and none of the many that follow the last one.
func TestDroppedInOrder(t *testing.T) {
	c := appended(t, ReadOptions{})
	for i := range uint64(300) {
		must.Do(t, c.Append(Document{ID: fmt.Sprint(i), Fingerprint: simhash.Fingerprint(i / 2 * (1 - i/100)), Short: i >= 100,
			Place: Place{"a", int64(i) + 1}}))
	}
	var got []string
	for id, place := range DroppedInOrder(found(t, c, Options{})) {
		got = append(got, fmt.Sprint(id, place))
	}
	if len(got) != 50 || got[0] != "1{a 2}" || got[49] != "99{a 100}" {
		t.Errorf("%d: %q", len(got), got)
	}
}

// TestProtectedCount counts near documents that protection keeps apart from near ones that are not alike.
func TestProtectedCount(t *testing.T) {
	c := appended(t, ReadOptions{Sketches: true, Source: source.Options{Protect: []string{"safe"}}})
	for i, file := range []string{"safe", "in", "safe", "in", "safe", "in"} {
		s := sketch.Sketch{7, 7}
		if i == 5 {
			s = sketch.Sketch{1: 1 << 60, 2: 99, 3: 1234567, 4: 1 << 33, 5: 31, 6: 77, 7: 1}
		}
		must.Do(t, c.Append(Document{ID: fmt.Sprint(i), Fingerprint: 7, Sketch: s, Place: Place{file, 1}}))
	}
	if r := found(t, c, Options{K: 3, Rule: Rule{{Jaccard: 0.7}}}); r.NumDropped() != 2 || r.Protected != 2 || r.Rejected != 1 {
		t.Errorf("%d dropped, %d protected, %d rejected", r.NumDropped(), r.Protected, r.Rejected)
	}
}
