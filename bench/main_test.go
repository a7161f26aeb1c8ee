package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

func TestMain(m *testing.M) {
	oracle.NoLeaks(m)
}

// TestEveryBenchmark runs a small form of each benchmark. It verifies its answers, and each row has a cell for each
// column.
func TestEveryBenchmark(t *testing.T) {
	args := []string{"-n", "20000", "--queries", "2000", "--rounds", "1", "--dir", t.TempDir()}
	for _, one := range benchmarks {
		if one.name != "serve" && one.name != "large" || long.Form() { // these build ndd
			args = append(args, one.name)
		}
	}
	b, chosen, err := parse(args, io.Discard, io.Discard)
	must.Do(t, err)
	results, err := b.measure(t.Context(), chosen, io.Discard)
	must.Do(t, err)
	if m := machine(); m.dependent <= 0 || m.independent <= 0 {
		t.Errorf("%+v", m)
	}
	names := args[len(args)-len(results):]
	for i, table := range results {
		if table.Name != names[i] || len(table.Rows) == 0 {
			t.Errorf("%s has %d rows, want %s", table.Name, len(table.Rows), names[i])
		}
		for _, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) {
				t.Errorf("%s, %s: %d cells, %d columns", table.Name, row.Name, len(row.Cells), len(table.Columns))
			}
		}
	}
}

// TestMessages checks the messages for wrong usage, and that no files remain.
func TestMessages(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"nosuch"}, `there is no benchmark "nosuch"; there are search`},
		{[]string{"-n", "10"}, "at least 1,000 fingerprints"},
		{[]string{"-n", "NaN"}, "at least 1,000 fingerprints"},
		{[]string{"--queries", "+Inf"}, "at most 1e12"},
		{[]string{"--nosuch"}, "unknown flag: --nosuch"},
		{[]string{"--kernel", "z80"}, "z80"},
	} {
		var out, messages bytes.Buffer
		if status := run(t.Context(), append(test.args, "--dir", dir), &out, &messages); status == 0 ||
			!strings.Contains(messages.String(), test.want) {
			t.Errorf("%v: status %d, %q", test.args, status, messages.String())
		}
	}
	if remaining, err := os.ReadDir(dir); err != nil || len(remaining) > 0 {
		t.Errorf("left %v, %v", remaining, err)
	}
}

// TestPageLines parses the command lines of the pages, of the record of goals, and of this command's documentation.
func TestPageLines(t *testing.T) {
	lines := 0
	for _, page := range []string{"README.md", "PROFILING.md", "main.go", "record/goals.md"} {
		text, err := os.ReadFile(page)
		must.Do(t, err)
		of := regexp.MustCompile("(?m)^(?:    |//\t|)go run \\./bench(.*?)(?:   .*)?$|`go run \\./bench([^`]*)`")
		for _, found := range of.FindAllStringSubmatch(string(text), -1) {
			lines++
			line := found[1] + found[2]
			if _, _, err := parse(strings.Fields(line), io.Discard, io.Discard); err != nil && !errors.Is(err, pflag.ErrHelp) {
				t.Errorf("%s: %s: %v", page, line, err)
			}
		}
	}
	if lines < 15 {
		t.Errorf("only %d lines", lines)
	}
}

// TestCompareAll compares the reference answers with the oracle.
func TestCompareAll(t *testing.T) {
	base, queries := sets.Planted(2000, 500)
	var want answer
	for _, h := range oracle.Search(distinct(base), queries, distance) {
		want.add(h.Query, h.Fingerprint)
	}
	if got := compareAll(base, queries); got != want || got.hits == 0 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestMedian holds figures of rounds.
func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   Cell
	}{
		{[]float64{3}, Cell{Value: 3, Min: 3, Max: 3, Rounds: 1}},
		{[]float64{9, 1, 2}, Cell{Value: 2, Min: 1, Max: 9, Rounds: 3}},
		{[]float64{4, 1, 2, 9}, Cell{Value: 3, Min: 1, Max: 9, Rounds: 4}},
	} {
		values := slices.Clone(test.values)
		if got := median(values); got != test.want || !slices.Equal(values, test.values) { // charts have them in their order
			t.Errorf("%v: %+v, want %+v; now %v", test.values, got, test.want, values)
		}
	}
	if got := (Cell{Value: 2, Min: 1, Max: 4, Rounds: 3}).rate(8).String(); got != "4 (2-8)" {
		t.Errorf("rate %s", got)
	}
}
