package droplist

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// targetOf returns a target for copies of the folder in.
func targetOf(t *testing.T, copies map[string]string) *rewrite.Target {
	t.Helper()
	to, err := rewrite.NewTarget(t.Context(), []string{"in"})
	must.Do(t, err)
	to.Create = files.Into(copies)
	return to
}

// TestCopy checks that a table of documents, by file and row or by ID, makes the copies without these documents, in one
// share or several.
func TestCopy(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = "a text of some words that says nothing"
	all := map[string]string{"in/z.jsonl.gz": files.Pack(t, "z.jsonl.gz", `{"id":"z","text":"`+text+`"}`+"\n"),
		"in/cut.jsonl.gz": files.Pack(t, "z.jsonl.gz", strings.Repeat(`{"text":"few"}`+"\n", 9))[:30],
		"in/b/c.txt":      text, "in/b/d.txt": text}
	for i := range 6 {
		var lines strings.Builder
		for j := range 5 {
			fmt.Fprintf(&lines, "{\"id\":\"%d-%d\",\"text\":\"%s\"}\n", i, j, text)
		}
		all[fmt.Sprintf("in/%d.jsonl", i+1)] = lines.String()
	}
	files.Write(t, all)
	gone := func(d *format.Document) bool {
		return strings.HasSuffix(d.ID, "-1") || strings.HasSuffix(d.ID, "d.txt")
	}
	var rows, ids strings.Builder
	rows.WriteString("id\tfile\trow\n")
	fmt.Fprint(&ids, `{"id":"z","kept":true}`+"\n")
	n, want := 0, map[string]string{}
	job := rewrite.Job{Inputs: []string{"in"}, Threads: 1, Judge: func(input.File, int, int) rewrite.Judge {
		return rewrite.Judge{Unit: func(x *format.Extractor, u format.Unit) (v rewrite.Verdict, err error) {
			doc, err := x.Extract(u)
			if err != nil || !gone(&doc) {
				return v, nil
			}
			row := fmt.Sprint(doc.Line)
			if doc.Line == 0 {
				row = ""
			}
			fmt.Fprintf(&rows, "%s\t./%s\t%s\n", doc.ID, doc.Source, row)
			fmt.Fprintf(&ids, "{\"kept\":false,\"id\":%q}\n", doc.ID)
			n++
			return rewrite.Verdict{Drop: true}, nil
		}}
	}}
	_, err := job.Copy(t.Context(), targetOf(t, want))
	must.Do(t, err)
	files.Write(t, map[string]string{"rows.tsv": rows.String(), "ids.jsonl": ids.String(), "none.tsv": "file\trow\n",
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
		table     string
		shares    int
		dropped   int64
		unmatched []string
	}{
		{"rows.tsv", 1, int64(n), nil}, {"rows.tsv", 4, int64(n), nil}, {"ids.jsonl", 1, int64(n), nil},
		{"ids.jsonl", 4, int64(n), nil}, {"none.tsv", 1, 0, nil}, {"none.jsonl", 2, 0, nil},
		{"more.tsv", 1, int64(n), []string{"in/9.jsonl:4 (no input)", "in/1.jsonl:999", "in/b/c.txt:1"}},
		{"more.tsv", 3, int64(n), []string{"in/1.jsonl:999", "in/9.jsonl:4 (no input)", "in/b/c.txt:1"}},
		{"more.jsonl", 1, int64(n), []string{""}},
	} {
		got, remaining, dropped, unmatched := map[string]string{}, []string(nil), int64(0), int64(0)
		for i := range c.shares {
			opts := format.Options{}
			opts.Share, err = input.NewShare(t.Context(), []string{"in"}, i, c.shares)
			must.Do(t, err)
			d, err := Read(t.Context(), c.table, []string{"in"}, opts.Share)
			must.Do(t, err)
			report, l, err := d.Copy(t.Context(), []string{"in"}, opts, 2, targetOf(t, got))
			must.Do(t, err)
			remaining = append(remaining, report.Lost...)
			remaining = append(remaining, l.Named...)
			dropped, unmatched = dropped+l.Dropped, unmatched+l.Unmatched
		}
		i := slices.IndexFunc(remaining, func(s string) bool { return strings.HasPrefix(s, "in/cut.jsonl.gz") })
		if i < 0 {
			t.Errorf("%s: the damaged file is not named: %q", c.table, remaining)
			continue
		}
		if remaining = slices.Delete(remaining, i, i+1); c.table == "more.jsonl" {
			remaining = append(remaining, "") // IDs are counted only
		}
		if c.shares > 1 {
			slices.Sort(remaining)
		}
		if dropped != c.dropped || !slices.Equal(remaining, c.unmatched) || unmatched != int64(len(c.unmatched)) {
			t.Errorf("%s, %d shares: %d dropped, want %d; %d left, %q, want %q", c.table, c.shares, dropped, c.dropped, unmatched,
				remaining, c.unmatched)
		}
		if c.dropped > 0 && !maps.Equal(got, want) {
			t.Errorf("%s, %d shares: copies differ from the copies of one process", c.table, c.shares)
		}
		if c.dropped == 0 && len(got) < len(want) {
			t.Errorf("%s: %d files are copied, want %d or more", c.table, len(got), len(want))
		}
	}
	testFolder(t, rows.String(), want)
	for table, says := range map[string]string{
		"broken.tsv": `broken.tsv: row 1: row "x" is no number`,
		"short.tsv":  `short.tsv: row 1: 1 fields, but column "file" is number 2`,
		"empty.tsv":  "empty.tsv: the header is missing", "other.tsv": "file and row, or id; the columns are name, row",
		"kept.tsv":    "a column reason, as the table of kept documents has",
		"away.tsv":    "none of its files is an input: it has out/1.jsonl:1",
		"broken.json": "must end with .tsv, .jsonl or .parquet", "nowhere.tsv": "nowhere.tsv: no such file",
		"nowhere": "nowhere: no such file",
	} {
		if _, err := Read(t.Context(), table, []string{"in"}, nil); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", table, err, says)
		}
	}
}
