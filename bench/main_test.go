package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// TestEveryBenchmark runs each in small: it verifies its answers, its rows have a cell for each
// column, and each has a picture.
func TestEveryBenchmark(t *testing.T) {
	args := []string{"-n", "20000", "--queries", "2000", "--rounds", "1", "--time", "1s", "--json", "--dir", t.TempDir(), "--plot", filepath.Join(t.TempDir(), "figures")}
	var out, messages bytes.Buffer
	if status := run(t.Context(), append(args, known()...), &out, &messages); status != 0 {
		t.Fatalf("status %d\n%s", status, messages.String())
	}
	var report Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if m := report.Machine.Memory; m.ReadGBps <= 0 || m.DependentNs <= 0 || m.IndependentNs <= 0 {
		t.Errorf("memory %+v", m)
	}
	var names []string
	for _, table := range report.Tables {
		names = append(names, table.Name)
		if len(table.Rows) == 0 {
			t.Errorf("%s has no rows", table.Name)
		}
		for _, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) {
				t.Errorf("%s, %s: %d cells, %d columns", table.Name, row.Name, len(row.Cells), len(table.Columns))
			}
		}
	}
	if !slices.Equal(names, known()) {
		t.Errorf("ran %v, want %v", names, known())
	}
	pictures, err := filepath.Glob(filepath.Join(args[len(args)-1], "*.svg"))
	if err != nil || len(pictures) < len(benchmarks) {
		t.Errorf("pictures %v, %v", pictures, err)
	}
}

// TestMessages holds what is said of wrong usage, and that nothing is left behind.
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
		{[]string{"--time", "-1s", "day"}, "--time -1s"},
		{[]string{"--pairs", "p.tsv", "--documents", "docs", "search"}, "are for paper-1"},
		{[]string{"--pairs", "p.tsv"}, "--pairs and --documents belong together"},
		{[]string{"--nosuch"}, "unknown flag: --nosuch"},
		{[]string{"--kernel", "z80"}, "z80"},
	} {
		var out, messages bytes.Buffer
		if status := run(t.Context(), append(test.args, "--dir", dir), &out, &messages); status == 0 || !strings.Contains(messages.String(), test.want) {
			t.Errorf("%v: status %d, %q", test.args, status, messages.String())
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestMedian holds figures of rounds.
func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   Cell
	}{
		{[]float64{3}, Cell{Value: 3, Least: 3, Most: 3, Rounds: 1}},
		{[]float64{9, 1, 2}, Cell{Value: 2, Least: 1, Most: 9, Rounds: 3}},
		{[]float64{4, 1, 2, 9}, Cell{Value: 3, Least: 1, Most: 9, Rounds: 4}},
	} {
		values := slices.Clone(test.values)
		if got := median(values); got != test.want || !slices.Equal(values, test.values) { // charts have them in their order
			t.Errorf("%v: %+v, want %+v; now %v", test.values, got, test.want, values)
		}
	}
	if got := (Cell{Value: 2, Least: 1, Most: 4, Rounds: 3}).rate(8).String(); got != "4 (2-8)" {
		t.Errorf("rate %s", got)
	}
}
