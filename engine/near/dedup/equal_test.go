package dedup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
	"ndd/engine/oracle/must"
)

// TestExactTexts: documents with one text go for the one preferred, whatever the threads, and equal ones
// are read once where texts are compared, with the same result as without hashes.
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
	o := Options{K: 6, Verify: &Verify{Rule: Rule{{Jaccard: 0.9}}}}
	with := slices.Collect(found(t, c, o).Dropped())
	c.hashes.All = nil
	if without := slices.Collect(found(t, c, o).Dropped()); !slices.Equal(with, without) || len(with) < 150 {
		t.Errorf("%d drops, without hashes %d", len(with), len(without))
	}
}

// TestSplitUnequal: documents whose hashes agree in 64 bits alone are no duplicates of each other.
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
	firsts, of, err := c.distinct(new(memory.Arena), []Row{0, 1, 2, 3, 5})
	if err != nil || !slices.Equal(firsts, []Row{0, 1, 3}) || !slices.Equal(of, []uint32{0, 1, 0, 2, 1}) {
		t.Errorf("%v %v", firsts, of)
	}
}
