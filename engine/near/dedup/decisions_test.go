package dedup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/oracle/must"
)

// TestDecisions: a table of what was dropped, by file and row or by ID, makes the copies of the
// process that dropped it, in one share or several.
func TestDecisions(t *testing.T) {
	sharedCorpus(t)
	write(t, map[string][]byte{"in/z.jsonl.gz": pack(t, "z.jsonl.gz", `{"id":"z","text":"`+bread+`"}`+"\n"),
		"in/cut.jsonl.gz": pack(t, "z.jsonl.gz", strings.Repeat(`{"text":"few"}`+"\n", 9))[:40]})
	r := found(t, read(t, "in", ingest.Config{}, ReadOptions{}), Options{K: 3})
	want, _ := copied(t, r)
	var rows, ids strings.Builder
	rows.WriteString("id\tfile\trow\n")
	fmt.Fprint(&ids, `{"id":"z","kept":true}`+"\n")
	n := 0
	for d := range r.Dropped() {
		at := r.corpus.Place(d.Row)
		row := fmt.Sprint(at.Row)
		if at.Row == 0 {
			row = ""
		}
		fmt.Fprintf(&rows, "%s\t./%s\t%s\n", r.corpus.ID(d.Row), at.File, row)
		fmt.Fprintf(&ids, "{\"kept\":false,\"id\":%q}\n", r.corpus.ID(d.Row))
		n++
	}
	write(t, map[string]string{"rows.tsv": rows.String(), "ids.jsonl": ids.String(), "none.tsv": "file\trow\n",
		"none.jsonl": "", "more.tsv": rows.String() + "x\tin/9.jsonl\t4\nx\tin/1.jsonl\t999\nx\tin/b/c.txt\t1\n",
		"more.jsonl":  ids.String() + `{"id":7}` + "\n",
		"broken.tsv":  "file\trow\nin/1.jsonl\tx\n",
		"short.tsv":   "row\tfile\n1\n",
		"empty.tsv":   "",
		"other.tsv":   "name\trow\n",
		"kept.tsv":    "id\treason\tfile\trow\n",
		"away.tsv":    "file\trow\nout/1.jsonl\t1\n",
		"broken.json": "",
	})
	for _, c := range []struct {
		table   string
		of      int
		dropped int64
		left    []string
	}{
		{"rows.tsv", 1, int64(n), nil}, {"rows.tsv", 4, int64(n), nil}, {"ids.jsonl", 1, int64(n), nil},
		{"ids.jsonl", 4, int64(n), nil}, {"none.tsv", 1, 0, nil}, {"none.jsonl", 2, 0, nil},
		{"more.tsv", 1, int64(n), []string{"in/9.jsonl:4 (no input)", "in/1.jsonl:999", "in/b/c.txt:1"}},
		{"more.tsv", 3, int64(n), []string{"in/1.jsonl:999", "in/9.jsonl:4 (no input)", "in/b/c.txt:1"}},
		{"more.jsonl", 1, int64(n), []string{"7"}},
	} {
		got, left, dropped, unmatched := map[string]string{}, []string(nil), int64(0), int64(0)
		for i := range c.of {
			opts := document.Options{}
			var err error
			opts.Share, err = document.NewShare(t.Context(), []string{"in"}, i, c.of)
			must.Do(t, err)
			d, err := ReadDecisions(t.Context(), c.table, []string{"in"}, opts.Share)
			must.Do(t, err)
			report, l, err := d.Copy(t.Context(), []string{"in"}, opts, 2, copiesOf(t, got, "in"))
			must.Do(t, err)
			left = append(left, report.Lost...)
			left = append(left, l.Named...)
			dropped, unmatched = dropped+l.Dropped, unmatched+l.Unmatched
		}
		i := slices.IndexFunc(left, func(s string) bool { return strings.HasPrefix(s, "in/cut.jsonl.gz") })
		if i < 0 {
			t.Errorf("%s: the damaged file is not named: %q", c.table, left)
			continue
		}
		left = slices.Delete(left, i, i+1)
		if c.of > 1 {
			slices.Sort(left)
		}
		if dropped != c.dropped || !slices.Equal(left, c.left) || unmatched != int64(len(c.left)) {
			t.Errorf("%s, %d shares: %d dropped, want %d; %d left, %q, want %q", c.table, c.of, dropped, c.dropped, unmatched,
				left, c.left)
		}
		if c.dropped > 0 && !maps.Equal(got, want) {
			t.Errorf("%s, %d shares: copies differ from those of one process", c.table, c.of)
		}
		if c.dropped == 0 && len(got) < len(want) {
			t.Errorf("%s: %d files are copied, want %d or more", c.table, len(got), len(want))
		}
	}
	for table, says := range map[string]string{
		"broken.tsv": `broken.tsv: row 1: row "x" is no number`,
		"short.tsv":  `short.tsv: row 1: 1 fields, of which column "file" is number 2`,
		"empty.tsv":  "empty.tsv: the header is missing", "other.tsv": "file and row, or id; the columns are name, row",
		"kept.tsv":    "a column reason, as the table of kept documents has",
		"away.tsv":    "none of its files is an input: it has out/1.jsonl:1",
		"broken.json": "must end with .tsv, .jsonl or .parquet", "nowhere.tsv": "nowhere.tsv: no such file",
	} {
		if _, err := ReadDecisions(t.Context(), table, []string{"in"}, nil); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", table, err, says)
		}
	}
}
