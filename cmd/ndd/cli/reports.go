package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ndd/engine/result"
)

// A ReportFormat is how a command writes a report that has a table: for people, as one JSON value with everything, or the table alone.
type ReportFormat struct {
	name   string
	people string // what the form for people is called
	result.Format
}

// Register adds the flag --format.
func (r *ReportFormat) Register(cmd *cobra.Command, people, table string) {
	r.people = people
	cmd.Flags().StringVar(&r.name, "format", people, "output format: "+people+", json with everything, or tsv, jsonl or parquet: "+table)
}

// names are the values of the flag.
func (r *ReportFormat) names() []string { return ReportFormats(r.people) }

// ReportFormats returns the values of --format of a report whose form for people is called so.
func ReportFormats(people string) []string {
	return append([]string{people, "json"}, result.FormatNames(result.Tables...)...)
}

// Check parses the flag, and refuses to write binary data to a terminal.
func (r *ReportFormat) Check(g *Globals) error {
	names := r.names()
	if !slices.Contains(names, r.name) {
		last := len(names) - 1
		return Usagef("--format %q: must be %s or %s", r.name, strings.Join(names[:last], ", "), names[last])
	}
	if r.IsTable() {
		t := TableFormat{Name: r.name, allowed: result.Tables}
		if err := t.Check(g, ""); err != nil {
			return err
		}
		r.Format = t.Format
	}
	return nil
}

// IsTable says whether the table alone is written.
func (r *ReportFormat) IsTable() bool { return r.name != r.people && r.name != "json" }

// IsJSON says whether everything is written as JSON.
func (r *ReportFormat) IsJSON() bool { return r.name == "json" }

// A CellRow is a row of a table, cell by cell: strings, integers, numbers with a fraction, booleans, and nil for none.
type CellRow []any

// Table writes a table of few rows.
func (r *ReportFormat) Table(g *Globals, columns []result.Column, rows []CellRow) error {
	return g.WriteTable("", r.Format, columns, func(t *result.TableWriter) error {
		for _, row := range rows {
			for _, cell := range row {
				writeCell(t, cell)
			}
			if err := t.End(); err != nil {
				return err
			}
		}
		return nil
	})
}

// ColumnsOf reads a list of columns: their names, with i, r or b behind a colon for integers, real numbers and booleans, and ? where
// there may be none.
func ColumnsOf(list string) (columns []result.Column) {
	kinds := map[string]result.Kind{"": result.Text, "i": result.Integer, "r": result.Real, "b": result.Flag}
	for field := range strings.FieldsSeq(list) {
		field, optional := strings.CutSuffix(field, "?")
		name, kind, _ := strings.Cut(field, ":")
		columns = append(columns, result.Column{Name: name, Kind: kinds[kind], Optional: optional})
	}
	return columns
}

func writeCell(t *result.TableWriter, cell any) {
	switch v := cell.(type) {
	case nil:
		t.Null()
	case int:
		t.Integer(int64(v))
	case uint64:
		t.Integer(int64(v))
	case int64:
		t.Integer(v)
	case float64:
		t.Real(v)
	case bool:
		t.Flag(v)
	case string:
		t.Text(v)
	default:
		panic("a cell of no kind")
	}
}

// JSON writes everything.
func (r *ReportFormat) JSON(g *Globals, v any) error {
	e := json.NewEncoder(g.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
