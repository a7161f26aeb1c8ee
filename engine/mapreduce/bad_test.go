package mapreduce_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/copies"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/mapreduce"
	"ndd/engine/memory"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// wantError demands an error that wraps one and says something.
func wantError(t *testing.T, err, wraps error, says string) {
	t.Helper()
	if err == nil || wraps != nil && !errors.Is(err, wraps) || !strings.Contains(err.Error(), says) {
		t.Fatalf("error %v, want one that wraps %v and says %q", err, wraps, says)
	}
}

// pairsMapped is the sorted output of a map of the job pairs, and its results.
func pairsMapped(t *testing.T) (mapped string) {
	t.Helper()
	out, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(printLines(sets.All(400, 1, 3, 2)[1].Base)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return sorted(out)
}

// TestLost: every single record that is taken from a shuffle, or changed in it, is missed.
func TestLost(t *testing.T) {
	mapped := pairsMapped(t)
	lines := slices.Collect(strings.Lines(mapped))
	reduce := func(lines []string, change func(*mapreduce.Options)) error {
		_, err := step(t, reduceOf(mapreduce.Pairs{K: 3}), strings.NewReader(strings.Join(lines, "")), change)
		return err
	}
	if err := reduce(lines, nil); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(lines); i += 1 + i/20 {
		if !strings.HasPrefix(lines[i], "--~end") || !strings.Contains(lines[i], "records=0 ") {
			wantError(t, reduce(slices.Delete(slices.Clone(lines), i, i+1), nil), mapreduce.ErrLost, "partition")
		}
		if !strings.Contains(lines[i], "~end") {
			wantError(t, reduce(slices.Insert(slices.Clone(lines), i, lines[i]), nil), mapreduce.ErrLost, "records arrived and")
		}
	}
	wantError(t, reduce(nil, func(o *mapreduce.Options) { o.Partitions = 0 }), nil, "partitions")
	wantError(t, reduce(lines, func(o *mapreduce.Options) { o.Partitions = 3 }), nil, "all tasks of a job need the same number")
	wantError(t, reduce(lines, func(o *mapreduce.Options) { o.Parts = 2 }), mapreduce.ErrLost, "1 parts arrived, and there must be 2")
	twice := sorted(mapped + mapped)
	wantError(t, reduce(slices.Collect(strings.Lines(twice)), func(o *mapreduce.Options) { o.Parts = 1 }), mapreduce.ErrLost, "2 parts arrived, and there must be 1")
}

// TestTwice: what arrives twice with its end records changes no result.
func TestTwice(t *testing.T) {
	set := sets.All(400, 40, 3, 2)[1]
	q := filepath.Join(t.TempDir(), "q.bin")
	if err := os.WriteFile(q, store.Bytes64(set.Queries), 0o644); err != nil {
		t.Fatal(err)
	}
	documents := printLines(set.Base)
	for _, job := range []mapreduce.Mapper{mapreduce.Scan{Queries: q, K: 3}, mapreduce.Pairs{K: 3}, mapreduce.Assign{}} {
		checkTwice(t, job, documents)
	}
	l := newLocal(t, 1, 1)
	edges := l.run(mapreduce.Pairs{K: 3}, []string{documents})
	checkTwice(t, mapreduce.Stars{Round: mapreduce.LargeStar}, edges)
	checkTwice(t, mapreduce.Stars{Round: mapreduce.SmallStar}, edges)
	checkTwice(t, mapreduce.Dedup{}, l.run(mapreduce.Assign{}, []string{documents}))
	checkTwice(t, mapreduce.Index{}, "a\t----------1----------2\nb\t----------1\n")
}

func checkTwice(t *testing.T, job mapreduce.Mapper, input string) {
	t.Helper()
	mapped, err := step(t, mapOf(job), strings.NewReader(input), nil)
	if err != nil {
		t.Fatal(err)
	}
	var results [2]string
	for i, mapped := range []string{mapped, mapped + mapped} {
		if results[i], err = step(t, reduceOf(job.(mapreduce.Reducer)), strings.NewReader(sorted(mapped)), nil); err != nil {
			t.Fatalf("%T: %v", job, err)
		}
	}
	once, _, _ := strings.Cut(results[0], "~end")
	twice, _, _ := strings.Cut(results[1], "~end")
	if once == "" || once != twice {
		t.Fatalf("%T: a part that arrives twice changes the results from\n%.300s\nto\n%.300s", job, once, twice)
	}
}

// TestOrder: keys that are not sorted by their bytes are an error.
func TestOrder(t *testing.T) {
	lines := slices.Collect(strings.Lines(pairsMapped(t)))
	slices.Reverse(lines)
	_, err := step(t, reduceOf(mapreduce.Pairs{K: 3}), strings.NewReader(strings.Join(lines, "")), nil)
	wantError(t, err, mapreduce.ErrOrder, "line 2")
}

// TestCollected: results that miss a task, or a line, are not collected.
func TestCollected(t *testing.T) {
	results, err := step(t, reduceOf(mapreduce.Pairs{K: 3}), strings.NewReader(pairsMapped(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	collect := func(results string, parts int) error {
		_, err := step(t, mapreduce.Collect, strings.NewReader(results), func(o *mapreduce.Options) { o.Parts = parts })
		return err
	}
	if err := collect(results, 1); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(results, "\n")
	body, _, _ := strings.Cut(results, "~end")
	wantError(t, collect(rest, 1), mapreduce.ErrLost, "were sent")
	wantError(t, collect(body, 0), mapreduce.ErrLost, "no end record")
	wantError(t, collect("", 0), mapreduce.ErrLost, "no end record")
	wantError(t, collect(results, 2), mapreduce.ErrLost, "1 parts came, and there must be 2")
	wantError(t, collect(results+results, 1), mapreduce.ErrLost, "2 parts came")
}

// TestLostBetweenJobs: a job misses what the job before wrote and it was not given.
func TestLostBetweenJobs(t *testing.T) {
	documents := printLines(sets.Uniform(100, 3))
	documents += mapreduce.EndOf(documents)
	lines := slices.Collect(strings.Lines(documents))
	run := func(lines []string) error {
		mapped, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(strings.Join(lines, "")), nil)
		if err == nil {
			_, err = step(t, reduceOf(mapreduce.Pairs{K: 3}), strings.NewReader(sorted(mapped)), nil)
		}
		return err
	}
	if err := run(lines); err != nil {
		t.Fatal(err)
	}
	wantError(t, run(lines[1:]), mapreduce.ErrLost, "lack 1 of the records")
	wantError(t, run(append(lines[:1:1], lines...)), mapreduce.ErrLost, "1 records more")
}

// TestBadRecords: a bad record is counted, shown and skipped; one too many, or nothing else, fails the task.
func TestBadRecords(t *testing.T) {
	good := printLines(sets.Uniform(3, 3))
	for name, bad := range map[string]string{
		"no fingerprint": "nonsense\ta 1\n", "invalid UTF-8": "0123456789abcdef\t\xff\xfe 1\n", "a control character": "0123456789abcdef\ta\x01 1\n",
		"short": "0123456789abcde\ta 1\n", "end": "~end\tparts\n", "empty end": "~end\t\n",
	} {
		var warned []string
		counted := map[string]int64{}
		options := func(most int64) func(*mapreduce.Options) {
			return func(o *mapreduce.Options) {
				o.MaxBad = most
				o.Warn = func(s string) { warned = append(warned, s) }
				o.Count = func(name string, n int64) { counted[name] = n }
			}
		}
		if _, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(good+bad), options(1)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if counted["bad_records"] != 1 || counted["fingerprints"] != 3 || len(warned) != 1 || !strings.Contains(warned[0], "line 4") {
			t.Fatalf("%s: counted %v, warned %q", name, counted, warned)
		}
		_, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(good+bad), options(0))
		wantError(t, err, mapreduce.ErrBad, "line 4 of the part")
		if name == "end" || name == "empty end" {
			continue // no record at all
		}
		_, err = step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(bad), options(10))
		wantError(t, err, mapreduce.ErrBad, "all of 1")
	}
	_, err := step(t, mapOf(mapreduce.Fingerprint{Recipe: simhash.Default()}), strings.NewReader("{\"text\":\"no ID here\"}\n{\"id\":\"a\",\"text\":\"b\"}\n"), nil)
	wantError(t, err, mapreduce.ErrBad, "it has no ID")
	_, err = step(t, mapOf(mapreduce.Fingerprint{Recipe: simhash.Default()}), strings.NewReader("{\"id\":\"a\",\"text\":\"b\"}\n{\"id\":\"b\",\"te"), nil)
	wantError(t, err, mapreduce.ErrBad, "broken")
	// Invalid UTF-8 in a text is replaced and counted, in an ID it is kept.
	counted := map[string]int64{}
	out, err := step(t, mapOf(mapreduce.Fingerprint{Recipe: simhash.Default()}), strings.NewReader("{\"id\":\"a\",\"text\":\"b \xff c\"}\n"), func(o *mapreduce.Options) {
		o.Count = func(name string, n int64) { counted[name] = n }
	})
	if err != nil || counted["repaired_documents"] != 1 || !strings.HasPrefix(out, "----------------\ta ") {
		t.Fatalf("%v, %v: %q", err, counted, out)
	}
}

// TestCutChunks: a chunk that is cut within a fingerprint, a record or a line is an error in every form.
func TestCutChunks(t *testing.T) {
	raw := store.Bytes64(sets.Uniform(100, 3))
	var record strings.Builder
	rawRecord(&record, 0, raw)
	dir := t.TempDir()
	name := filepath.Join(dir, "chunk.bin")
	if err := os.WriteFile(name, raw[:len(raw)-3], 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := ndf.Create(filepath.Join(dir, "chunk.ndf"), simhash.Default(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := w.Append(ndf.Document{ID: fmt.Sprint(i), Fingerprint: simhash.Fingerprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "chunk.ndf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "half.ndf"), whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString(raw)
	for _, c := range []struct {
		form        mapreduce.Form
		input, says string
	}{
		{mapreduce.RawBytes, record.String()[:record.Len()-3], "within record 0: cut in the middle"},
		{mapreduce.RawBytes, record.String() + "\x00\x00", "within record 1: cut in the middle"},
		{mapreduce.RawBytes, record.String() + "\x00\x00\x00\x08", "within record 1: cut in the middle"},
		{mapreduce.RawBytes, "0123456789abcdef", "not Hadoop's rawbytes"},
		{mapreduce.Base64, "0\t" + encoded[:len(encoded)-5], "cut in the middle"},
		{mapreduce.Base64, base64.StdEncoding.EncodeToString(raw[:13]), "13 bytes are no fingerprints"},
		{mapreduce.Base64, "x\t" + encoded, "is no row"},
		{mapreduce.Paths, name, "chunk.bin"},
		{mapreduce.Paths, filepath.Join(dir, "half.ndf"), "half.ndf"},
		{mapreduce.Paths, name + "\tx", "not the row"},
		{mapreduce.Paths, filepath.Join(dir, "none.bin"), "none.bin"},
		{mapreduce.Paths, "hdfs://host/chunk.bin", "address of WebHDFS is not known"},
	} {
		_, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(c.input), func(o *mapreduce.Options) { o.Form = c.form })
		wantError(t, err, nil, c.says)
		if strings.Contains(c.says, "cut") && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%v does not wrap ErrCorrupt", err)
		}
	}
}

// TestOtherRecipe: queries, files and parts of other recipes are refused.
func TestOtherRecipe(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, recipe simhash.Recipe) string {
		path := filepath.Join(dir, name)
		w, err := ndf.Create(path, recipe, store.Options{})
		if err == nil {
			err = errors.Join(w.Append(ndf.Document{ID: "a", Fingerprint: 1}), w.Commit())
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, other := file("one.ndf", simhash.Default()), file("other.ndf", simhash.Simhash())
	fingerprints := func(r simhash.Recipe) string {
		out, err := step(t, mapOf(mapreduce.Fingerprint{Recipe: r}), strings.NewReader(jsonLines(10)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	scan := mapreduce.Scan{Queries: one, K: 3}
	if _, err := step(t, mapOf(scan), strings.NewReader(fingerprints(simhash.Default())), nil); err != nil {
		t.Fatal(err)
	}
	_, err := step(t, mapOf(scan), strings.NewReader(fingerprints(simhash.Simhash())), nil)
	wantError(t, err, mapreduce.ErrRecipe, "one.ndf, beside the map")
	wantError(t, err, mapreduce.ErrRecipe, "parts are of recipe minwise-")
	_, err = step(t, mapOf(scan), strings.NewReader(other+"\n"), func(o *mapreduce.Options) { o.Form = mapreduce.Paths })
	wantError(t, err, mapreduce.ErrRecipe, "other.ndf")
	// Maps that met different recipes are refused by the reduce.
	var mapped [2]string
	for i, r := range []simhash.Recipe{simhash.Default(), simhash.Simhash()} {
		if mapped[i], err = step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(fingerprints(r)), nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err = step(t, reduceOf(mapreduce.Pairs{K: 3}), strings.NewReader(sorted(mapped[0]+mapped[1])), nil)
	wantError(t, err, mapreduce.ErrRecipe, "")
}

// TestOtherJob: a reduce refuses what maps of another job, or of other settings, have sent, where it could be taken for its own.
func TestOtherJob(t *testing.T) {
	prints := printLines(sets.All(400, 1, 3, 2)[1].Base)
	edges := "0000000000000001\t0000000000000002\n"
	signatures := "a\t----------1----------2\nb\t----------1\n"
	side := filepath.Join(t.TempDir(), "signatures.tsv")
	if err := os.WriteFile(side, []byte(signatures+mapreduce.EndOf(signatures)), 0o644); err != nil {
		t.Fatal(err)
	}
	winnow, spots := copies.Options{Method: copies.Winnow}, copies.Options{Method: copies.SpotSigs}
	for _, c := range []struct {
		input  string
		mapper mapreduce.Mapper
		other  mapreduce.Reducer
	}{
		{prints, mapreduce.Pairs{K: 3}, mapreduce.Pairs{K: 4}},
		{edges, mapreduce.Stars{Round: mapreduce.LargeStar}, mapreduce.Stars{Round: mapreduce.SmallStar}},
		{signatures, mapreduce.CopiesDocs{Queries: side, Copies: winnow}, mapreduce.CopiesDocs{Copies: spots}},
		{signatures, mapreduce.CopiesTerms{Copies: winnow}, mapreduce.CopiesTerms{Copies: copies.Options{Method: copies.Winnow, Threshold: 0.9}}},
		{signatures, mapreduce.CopiesTerms{Copies: winnow}, mapreduce.Index{}},
	} {
		mapped, err := step(t, mapOf(c.mapper), strings.NewReader(c.input), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := step(t, reduceOf(c.mapper.(mapreduce.Reducer)), strings.NewReader(sorted(mapped)), nil); err != nil {
			t.Fatal(err)
		}
		_, err = step(t, reduceOf(c.other), strings.NewReader(sorted(mapped)), nil)
		wantError(t, err, mapreduce.ErrJob, "a map was of ")
	}
}

// TestEmptyPart: a part without records gives an end record, in every form, and so does a reduce without any.
func TestEmptyPart(t *testing.T) {
	for _, form := range mapreduce.Forms {
		out, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(""), func(o *mapreduce.Options) { o.Form = mapreduce.Form(form) })
		if err != nil || out != "--~end\tparts=1 records=0 sum=0000000000000000 job=pairs,k=3,design=paper-4,bits=12\n" {
			t.Errorf("%s: %q, %v", form, out, err)
		}
	}
	for _, job := range []mapreduce.Reducer{mapreduce.Scan{}, mapreduce.Pairs{K: 3}, mapreduce.Stars{Round: mapreduce.LargeStar}, mapreduce.Assign{}, mapreduce.Dedup{}, mapreduce.Index{}} {
		out, err := step(t, reduceOf(job), strings.NewReader(""), nil)
		if err != nil || out != "~end\tparts=1 records=0 sum=0000000000000000\n" {
			t.Errorf("%T: %q, %v", job, out, err)
		}
	}
}

// TestMillionValues: a key with a million values costs a reduce the memory of one record, or is refused by name where a group must fit.
func TestMillionValues(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	var edges strings.Builder
	for i := range n {
		fmt.Fprintf(&edges, "%016x\t%016x\n", i+1, 0)
	}
	mapped, err := step(t, mapOf(mapreduce.Stars{Round: mapreduce.LargeStar}), strings.NewReader(edges.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	mapped = sorted(mapped)
	tight := memory.NewBudget(memory.Set(1 << 20))
	out, err := step(t, reduceOf(mapreduce.Stars{Round: mapreduce.LargeStar}), strings.NewReader(mapped), func(o *mapreduce.Options) { o.Budget = tight })
	if err != nil || strings.Count(out, "\n") != n+1 {
		t.Fatalf("%d lines of %d edges: %v", strings.Count(out, "\n"), n, err)
	}
	// Pairs bring a group together: what does not fit is refused, and the group named.
	same := make([]uint64, 60_000)
	for i := range same {
		same[i] = uint64(i) * 0x1_0001_0001 & 0xffff_ffff_ffff // all share their 16 leading bits
	}
	mapped, err = step(t, mapOf(mapreduce.Pairs{K: 0, Bits: 4}), strings.NewReader(printLines(same)), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = step(t, reduceOf(mapreduce.Pairs{K: 0, Bits: 4}), strings.NewReader(sorted(mapped)), func(o *mapreduce.Options) { o.Budget = tight })
	wantError(t, err, memory.ErrTooLarge, "fingerprints of key -")
}

// fullDisk fails as standard output on a full disk does.
type fullDisk struct{ room int }

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

// TestNotWritten: a task whose output cannot be written to the end fails.
func TestNotWritten(t *testing.T) {
	input := printLines(sets.Uniform(500, 3))
	whole, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(input), nil)
	if err != nil {
		t.Fatal(err)
	}
	for room := 0; room < len(whole); room += 1 + len(whole)/13 {
		err := mapreduce.Map(t.Context(), mapreduce.Pairs{K: 3}, mapreduce.Options{In: strings.NewReader(input), Out: &fullDisk{room}, Partitions: 64})
		wantError(t, err, nil, "no space left")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = mapreduce.Map(ctx, mapreduce.Pairs{K: 3}, mapreduce.Options{In: strings.NewReader(input), Out: &bytes.Buffer{}, Partitions: 64})
	wantError(t, err, context.Canceled, "")
}
