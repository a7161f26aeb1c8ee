package cli

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/engine/result"
)

// TableFormat is the flag --format of a command that writes tables.
type TableFormat struct {
	Name    string
	allowed []result.Format
	result.Format
}

// Register adds the flag. It allows the formats of tables, and others.
func (t *TableFormat) Register(cmd *cobra.Command, others ...result.Format) {
	t.allowed = slices.Concat(result.Tables, others)
	cmd.Flags().StringVar(&t.Name, "format", result.TSV.String(),
		"format of the output: "+OrList(result.FormatNames(t.allowed...)))
}

// Check parses the flag. Writing binary data to a terminal is an error; out is the path of the
// output.
func (t *TableFormat) Check(g *Files, out string) (err error) {
	if t.Format, err = result.ParseFormat(t.Name, t.allowed...); err != nil {
		return Usagef("--format %w", err)
	}
	if !t.IsText() && g.terminal && IsStdout(out) {
		return Usagef("--format %s: binary data is not written to a terminal; "+
			"redirect standard output, or give -o FILE where the command has it", t.Name)
	}
	return nil
}

// CheckFile is Check for a command whose output may be a file. Without --format, the extension of the file names the
// format. The extension must not contradict --format, or name a compression.
func (t *TableFormat) CheckFile(g *Files, out string) error {
	if ending := filepath.Ext(out); slices.Contains([]string{".gz", ".zst", ".bz2", ".xz"}, ending) {
		return Usagef("-o %s: tables are written uncompressed: leave %s out of the name, or write .parquet", out, ending)
	}
	byName, known := FormatOf(out, t.allowed...)
	if known && !g.Given["format"] {
		t.Name = byName.String()
	}
	if err := t.Check(g, out); err != nil || !known || t.Format == byName {
		return err
	}
	return Usagef("--format %s contradicts the ending of %s: leave --format out, or change the name", t.Name, out)
}

// FormatOf returns the format that the extension of a path names. It returns TSV and false if that is no allowed
// format.
func FormatOf(path string, allowed ...result.Format) (f result.Format, known bool) {
	f, err := result.ParseFormat(strings.TrimPrefix(filepath.Ext(path), "."), allowed...)
	if err != nil {
		return result.TSV, false
	}
	return f, true
}

// WriteJSON writes a value to standard output, for people and programs.
func (g *Globals) WriteJSON(v any) error {
	e := json.NewEncoder(g.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WriteTable writes a table to a file or to standard output. The file appears when it is complete.
func (g *Files) WriteTable(path string, f result.Format, columns []result.Column,
	fill func(*result.TableWriter) error) error {
	return g.WriteOutput(path, func(w *Output) error {
		t := result.NewTableWriter(w, f, columns...)
		if err := fill(t); err != nil {
			return err
		}
		return t.Close()
	})
}

// ColumnsOf reads a list of columns. A colon and i, r or b after the name mean integers, real numbers and booleans. A ?
// at the end allows missing values.
func ColumnsOf(list string) (columns []result.Column) {
	kinds := map[string]result.Kind{"": result.Text, "i": result.Integer, "r": result.Real, "b": result.Flag}
	for field := range strings.FieldsSeq(list) {
		field, optional := strings.CutSuffix(field, "?")
		name, kind, _ := strings.Cut(field, ":")
		columns = append(columns, result.Column{Name: name, Kind: kinds[kind], Optional: optional})
	}
	return columns
}
