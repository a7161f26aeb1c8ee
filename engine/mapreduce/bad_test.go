package mapreduce_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// wantError fails the test unless an error wraps another one and contains a text.
func wantError(t *testing.T, err, wraps error, says string) {
	t.Helper()
	if err == nil || wraps != nil && !errors.Is(err, wraps) || !strings.Contains(err.Error(), says) {
		t.Fatalf("error %v, want one that wraps %v and says %q", err, wraps, says)
	}
}

// pairsMapped is the sorted output of a map of the job pairs.
func pairsMapped(t *testing.T) string {
	return sorted(runMap(t, mapreduce.Pairs{K: 3}, fingerprintLines(sets.All(400, 1, 3, 2)[1].Base)))
}

// TestLost checks that every single record that is taken from a shuffle, or changed in it, is missed.
func TestLost(t *testing.T) {
	mapped := pairsMapped(t)
	lines := slices.Collect(strings.Lines(mapped))
	reduce := func(lines []string, change func(*mapreduce.Options)) error {
		_, err := step(t, reduceOf(mapreduce.Pairs{K: 3}), strings.Join(lines, ""), change)
		return err
	}
	must.Do(t, reduce(lines, nil))
	for i := 0; i < len(lines); i += 1 + i/20 {
		if !strings.HasPrefix(lines[i], "--~end") || !strings.Contains(lines[i], `"records":0,`) {
			wantError(t, reduce(slices.Delete(slices.Clone(lines), i, i+1), nil), mapreduce.ErrLost, "partition")
		}
		if !strings.Contains(lines[i], "~end") {
			wantError(t, reduce(slices.Insert(slices.Clone(lines), i, lines[i]), nil), mapreduce.ErrLost, "records arrived and")
		}
	}
	wantError(t, reduce(nil, func(o *mapreduce.Options) { o.Partitions = 0 }), nil, "partitions")
	wantError(t, reduce(lines, func(o *mapreduce.Options) { o.Partitions = 3 }), nil,
		"all tasks of a job need the same number")
	wantError(t, reduce(lines, func(o *mapreduce.Options) { o.Parts = 2 }), mapreduce.ErrLost,
		"1 parts arrived, and there must be 2")
	twice := sorted(mapped + mapped)
	wantError(t, reduce(slices.Collect(strings.Lines(twice)), func(o *mapreduce.Options) { o.Parts = 1 }),
		mapreduce.ErrLost, "2 parts arrived, and there must be 1")
}

// TestTwice checks that output that arrives twice, with its end records, does not change the results.
func TestTwice(t *testing.T) {
	set := sets.All(400, 40, 3, 2)[1]
	documents := fingerprintLines(set.Base)
	l := newLocal(t, 1, 1)
	undecided := l.run(mapreduce.Dedup{}, []string{docLines(testDocs(set.Base, 1))})
	for _, c := range []struct {
		job   mapreduce.Mapper
		input string
	}{
		{mapreduce.Scan{Queries: files.New(t, "q.bin", store.Bytes64(set.Queries)), K: 3}, documents},
		{mapreduce.Pairs{K: 3}, documents}, {mapreduce.Dedup{}, docLines(testDocs(set.Base, 1))},
		{mapreduce.Dedup{}, undecided + l.run(mapreduce.Pairs{K: 3}, []string{undecided})},
		{mapreduce.CopiesTerms{Copies: copies.Options{Method: copies.Winnow}},
			"a\t----------1----------2\nb\t----------1\n"},
	} {
		mapped := runMap(t, c.job, c.input)
		once, _, _ := strings.Cut(runReduce(t, c.job, mapped), "~end")
		twice, _, _ := strings.Cut(runReduce(t, c.job, mapped+mapped), "~end")
		if once == "" || once != twice {
			t.Fatalf("%T: a part that arrives twice changes the results from\n%.300s\nto\n%.300s", c.job, once, twice)
		}
	}
}

// TestOrder checks that keys that are not sorted by their bytes are an error.
func TestOrder(t *testing.T) {
	lines := slices.Collect(strings.Lines(pairsMapped(t)))
	slices.Reverse(lines)
	_, err := step(t, reduceOf(mapreduce.Pairs{K: 3}), strings.Join(lines, ""), nil)
	wantError(t, err, mapreduce.ErrOrder, "line 2")
}

// TestCollected checks that results that miss a task, or a line, are not collected.
func TestCollected(t *testing.T) {
	results := runReduce(t, mapreduce.Pairs{K: 3}, pairsMapped(t))
	collect := func(results string, parts int) error {
		_, err := step(t, mapreduce.Collect, results, func(o *mapreduce.Options) { o.Parts = parts })
		return err
	}
	must.Do(t, collect(results, 1))
	_, tail, _ := strings.Cut(results, "\n")
	body, _, _ := strings.Cut(results, "~end")
	wantError(t, collect(tail, 1), mapreduce.ErrLost, "were sent")
	wantError(t, collect(body, 0), mapreduce.ErrLost, "no end record")
	wantError(t, collect("", 0), mapreduce.ErrLost, "no end record")
	wantError(t, collect(results, 2), mapreduce.ErrLost, "1 parts came, and there must be 2")
	wantError(t, collect(results+results, 1), mapreduce.ErrLost, "2 parts came")
	exchanged := "b\ta\n" + mapreduce.EndOf("a\tb\n")
	wantError(t, collect(exchanged, 1), mapreduce.ErrLost, "not those that were sent")
	wantError(t, collect("c\tc\n"+mapreduce.EndOf("d\td\n"), 1), mapreduce.ErrLost, "not those that were sent")
	unread := strings.Replace(mapreduce.EndOf(""), "}", `,"inputs":1,"unread":{"records":2,"sum":1}}`, 1)
	wantError(t, collect(unread, 1), mapreduce.ErrLost, "lack 2 of the records that the job before wrote")
	undecided := strings.Replace(mapreduce.EndOf(""), "}", `,"undecided":3,"documents":2}`, 1)
	wantError(t, collect(undecided+mapreduce.EndOf(""), 2), mapreduce.ErrUnfinished, "after round 2 of the job dedup 3 documents")
}

// TestLostBetweenJobs checks that a job reports an input that lacks results of the job before.
func TestLostBetweenJobs(t *testing.T) {
	documents := fingerprintLines(sets.Uniform(100, 3))
	documents += mapreduce.EndOf(documents)
	lines := slices.Collect(strings.Lines(documents))
	run := func(lines []string) error {
		mapped, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.Join(lines, ""), nil)
		if err == nil {
			_, err = step(t, reduceOf(mapreduce.Pairs{K: 3}), sorted(mapped), nil)
		}
		return err
	}
	must.Do(t, run(lines))
	wantError(t, run(lines[1:]), mapreduce.ErrLost, "lack 1 of the records")
	wantError(t, run(append(lines[:1:1], lines...)), mapreduce.ErrLost, "1 records more")
}

// TestBadRecords checks that a malformed record is counted, reported and skipped. The task fails if there are too many,
// or no others.
func TestBadRecords(t *testing.T) {
	good := fingerprintLines(sets.Uniform(3, 3))
	for name, bad := range map[string]string{
		"no fingerprint":      "nonsense\ta 1\n",
		"invalid UTF-8":       "0123456789abcdef\t\xff\xfe 1\n",
		"a control character": "0123456789abcdef\ta\x01 1\n",
		"short":               "0123456789abcde\ta 1\n",
		"end":                 "~end\tparts\n",
		"empty end":           "~end\t{}\n",
	} {
		var warned []string
		counted := map[string]int64{}
		options := func(maximum int64) func(*mapreduce.Options) {
			return func(o *mapreduce.Options) {
				o.MaxBad = maximum
				o.Warn = func(s string) { warned = append(warned, s) }
				o.Count = func(name string, n int64) { counted[name] = n }
			}
		}
		if _, err := step(t, mapOf(mapreduce.Pairs{K: 3}), good+bad, options(1)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if counted["bad_records"] != 1 || counted["fingerprints"] != 3 || len(warned) != 1 ||
			!strings.Contains(warned[0], "line 4") {
			t.Fatalf("%s: counted %v, warned %q", name, counted, warned)
		}
		_, err := step(t, mapOf(mapreduce.Pairs{K: 3}), good+bad, options(0))
		wantError(t, err, mapreduce.ErrBad, "line 4 of the part")
		if name == "end" || name == "empty end" {
			continue // an empty line is no record
		}
		_, err = step(t, mapOf(mapreduce.Pairs{K: 3}), bad, options(10))
		wantError(t, err, mapreduce.ErrBad, "all of 1")
	}
	for input, want := range map[string]string{
		`{"text":"no ID here"}` + "\n" + `{"id":"a","text":"b"}` + "\n": "it has no ID",
		`{"id":"a","text":"b"}` + "\n" + `{"id":"b","te`:                "broken",
		`{"id":"a","text":"b ` + "\xff" + ` c"}` + "\n":                 "invalid UTF-8",
	} {
		_, err := step(t, mapOf(mapreduce.Fingerprint{Recipe: simhash.Default()}), input, nil)
		wantError(t, err, mapreduce.ErrBad, want)
	}
}

// TestSkipped checks that the last results report each bad record that a map skipped, exactly once.
func TestSkipped(t *testing.T) {
	l := newLocal(t, 2, 1)
	l.options.MaxBad = 3
	documents := l.run(mapreduce.Fingerprint{Recipe: simhash.Default(), Sketches: true}, []string{jsonLines(30) + "{broken\n", jsonLines(40) + "{\n{\n"})
	_, err := step(t, mapreduce.Collect, l.run(mapreduce.Pairs{K: 3}, l.cut(documents)), func(o *mapreduce.Options) { o.Rows = mapreduce.PairRows })
	wantError(t, err, mapreduce.ErrSkipped, "bad records that maps skipped: 3")
	round := l.run(mapreduce.Dedup{}, l.cut(documents))
	for range 20 {
		round = l.run(mapreduce.Dedup{}, l.cut(round+l.run(mapreduce.Pairs{K: 3}, l.cut(round))))
	}
	_, err = step(t, mapreduce.Collect, round, func(o *mapreduce.Options) { o.Rows = mapreduce.DropRows })
	wantError(t, err, mapreduce.ErrSkipped, "bad records that maps skipped: 3")
}

// TestOtherRecipe checks that queries, files and parts of other recipes are refused.
func TestOtherRecipe(t *testing.T) {
	one := filepath.Join(t.TempDir(), "one.ndf")
	w, err := ndf.Create(one, simhash.Default(), store.Options{})
	must.Do(t, err)
	must.Do(t, errors.Join(w.Append(ndf.Document{ID: "a", Fingerprint: 1}), w.Commit()))
	fingerprints := func(r simhash.Recipe) string { return runMap(t, mapreduce.Fingerprint{Recipe: r}, jsonLines(10)) }
	scan := mapreduce.Scan{Queries: one, K: 3}
	runMap(t, scan, fingerprints(simhash.Default()))
	_, err = step(t, mapOf(scan), fingerprints(simhash.Simhash()), nil)
	wantError(t, err, mapreduce.ErrRecipe, "one.ndf of the map")
	wantError(t, err, mapreduce.ErrRecipe, "parts are of recipe minwise-")
	// Maps that met different recipes are refused by the reduce.
	mapped := runMap(t, mapreduce.Pairs{K: 3}, fingerprints(simhash.Default())) +
		runMap(t, mapreduce.Pairs{K: 3}, fingerprints(simhash.Simhash()))
	_, err = step(t, reduceOf(mapreduce.Pairs{K: 3}), sorted(mapped), nil)
	wantError(t, err, mapreduce.ErrRecipe, "")
}

// TestOtherJob checks that a reduce refuses the output of maps with another job or other settings.
func TestOtherJob(t *testing.T) {
	fingerprints := fingerprintLines(sets.All(400, 1, 3, 2)[1].Base)
	signatures := "a\t----------1----------2\nb\t----------1\n"
	side := files.New(t, "signatures.tsv", signatures+mapreduce.EndOf(signatures))
	winnow, spots := copies.Options{Method: copies.Winnow}, copies.Options{Method: copies.SpotSigs}
	for _, c := range []struct {
		input  string
		mapper mapreduce.Mapper
		other  mapreduce.Reducer
	}{
		{fingerprints, mapreduce.Pairs{K: 3}, mapreduce.Pairs{K: 4}},
		{fingerprints, mapreduce.Pairs{K: 3}, mapreduce.Pairs{K: 3, Threshold: 0.7}},
		{signatures, mapreduce.CopiesDocs{Queries: side, Copies: winnow}, mapreduce.CopiesDocs{Copies: spots}},
		{signatures, mapreduce.CopiesTerms{Copies: winnow},
			mapreduce.CopiesTerms{Copies: copies.Options{Method: copies.Winnow, Threshold: 0.9}}},
	} {
		mapped := runMap(t, c.mapper, c.input)
		runReduce(t, c.mapper, mapped)
		_, err := step(t, reduceOf(c.other), sorted(mapped), nil)
		wantError(t, err, mapreduce.ErrJob, "a map was of ")
	}
}

// TestEmptyPart checks that a map of an empty part gives an end record, and so does a reduce.
func TestEmptyPart(t *testing.T) {
	scan := mapreduce.Scan{Queries: files.New(t, "q.bin", make([]byte, 8)), K: 3}
	out, err := step(t, mapOf(scan), "", nil)
	if err != nil || out != "--~end\t"+`{"parts":1,"records":0,"sum":0,"job":"scan"}`+"\n" {
		t.Errorf("%q, %v", out, err)
	}
	for _, job := range []mapreduce.Reducer{mapreduce.Scan{}, mapreduce.Pairs{K: 3},
		mapreduce.Dedup{}} {
		out, err := step(t, reduceOf(job), "", nil)
		if err != nil || out != "~end\t"+`{"parts":1,"records":0,"sum":0}`+"\n" {
			t.Errorf("%T: %q, %v", job, out, err)
		}
	}
}

// TestMillionValues checks that a key with a million values costs a reduce the memory of one record. If a group must
// fit in memory, an error names the group.
func TestMillionValues(t *testing.T) {
	n := long.Or(20_000, 1_000_000)
	docs := make([]testDoc, n)
	for i := range docs {
		docs[i] = testDoc{id: fmt.Sprint(i), text: 7, bytes: 5}
	}
	mapped := sorted(runMap(t, mapreduce.Dedup{}, docLines(docs)))
	tight := memory.NewBudget(memory.Set(1 << 20))
	out, err := step(t, reduceOf(mapreduce.Dedup{}), mapped, func(o *mapreduce.Options) { o.Budget = tight })
	if err != nil || strings.Count(out, "\n") != n+1 {
		t.Fatalf("%d lines of %d documents: %v", strings.Count(out, "\n"), n, err)
	}
	// Documents with one content are compared with the first only.
	mapped = sorted(runMap(t, mapreduce.Pairs{K: 3, PairsMax: 1}, fingerprintLines(make([]uint64, n))))
	out, err = step(t, reduceOf(mapreduce.Pairs{K: 3, PairsMax: 1}), mapped, func(o *mapreduce.Options) { o.Budget = tight })
	if err != nil || strings.Count(out, "\n") != n+1 {
		t.Fatalf("%d lines of %d documents: %v", strings.Count(out, "\n"), n, err)
	}
	// This reduce holds groups in memory. An error names the group that does not fit.
	others := make([]uint64, 10_000)
	for i := range others {
		others[i] = uint64(i) * 0x1_0001_0001 & 0xffff_ffff_ffff // all share their 16 leading bits
	}
	mapped = runMap(t, mapreduce.Pairs{K: 0, Bits: 4}, fingerprintLines(others))
	_, err = step(t, reduceOf(mapreduce.Pairs{K: 0, Bits: 4}), sorted(mapped),
		func(o *mapreduce.Options) { o.Budget = tight })
	wantError(t, err, memory.ErrTooLarge, "documents of key -")
}

// TestNotWritten checks that a task fails if its output cannot be written completely.
func TestNotWritten(t *testing.T) {
	input := fingerprintLines(sets.Uniform(500, 3))
	whole := runMap(t, mapreduce.Pairs{K: 3}, input)
	for room := 0; room < len(whole); room += 1 + len(whole)/13 {
		err := mapreduce.Map(t.Context(), mapreduce.Pairs{K: 3},
			mapreduce.Options{In: strings.NewReader(input), Out: &limitedWriter{room}, Partitions: 64})
		wantError(t, err, errKilled, "")
	}
	err := mapreduce.Map(must.Cancelled(t), mapreduce.Pairs{K: 3},
		mapreduce.Options{In: strings.NewReader(input), Out: &bytes.Buffer{}, Partitions: 64})
	wantError(t, err, context.Canceled, "")
}
