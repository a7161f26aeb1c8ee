package source

import (
	"fmt"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/spill"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// tableOf returns a table of rows with the values of a field.
func tableOf(t *testing.T, o Options, values ...string) *Table {
	t.Helper()
	o.Field = "set"
	table := NewTable(o, spill.Column[uint16]{})
	for row, v := range values {
		must.Do(t, table.Append(row, "a.jsonl", false, v))
	}
	must.Do(t, table.Rows.End())
	return &table
}

// TestExcesses checks that a limit of 29 % allows 29 of 100 rows, though 0.29 * 100 is less than 29 in floating point.
func TestExcesses(t *testing.T) {
	table := tableOf(t, Options{Limits: []Limit{{Share: 0.29}, {Share: 0.2899}}}, slices.Repeat([]string{"web"}, 100)...)
	counts := table.Counts(func(yield func(row, kept int) bool) {
		for row := 1; row <= 29 && yield(row, 0); row++ {
		}
	})
	if got := fmt.Sprint(table.Excesses(counts)); got != "[{{ 0.2899} { 100 29 0}}]" {
		t.Error(got)
	}
}

// TestTable checks that rows are ordered by the preferred sources first. Rows of a protected source are protected. A
// drop counts for the source of the kept row if that is another source.
func TestTable(t *testing.T) {
	table := tableOf(t, Options{Prefer: []string{"gold"}, Protect: []string{"b*"}}, "web", "books", "gold", "web", "")
	must.Do(t, table.Check())
	rows := []int{0, 1, 2, 3, 4}
	slices.SortStableFunc(rows, table.Order())
	protected := ""
	for row := range rows {
		protected += fmt.Sprint(table.Protected().Bit(row))
		if table.Protects(row) != table.Protected().Has(row) {
			t.Errorf("row %d: protected %v", row, table.Protects(row))
		}
	}
	counts := table.Counts(func(yield func(row, kept int) bool) {
		_ = yield(0, 2) && yield(3, -1) && yield(4, 2)
	})
	got := fmt.Sprint(rows, protected, counts)
	if want := "[2 0 1 3 4]01000[{web 2 2 0} {books 1 0 0} {gold 1 0 2} { 1 1 0}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
