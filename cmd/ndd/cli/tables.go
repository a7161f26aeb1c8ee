package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ndd/engine/result"
)

// TableFormat is the flag --format of a command that writes tables.
type TableFormat struct {
	Name    string
	allowed []result.Format
	result.Format
}

// Register adds the flag; the formats are those of every table, and others behind them.
func (t *TableFormat) Register(cmd *cobra.Command, others ...result.Format) {
	t.allowed = append(append([]result.Format{}, result.Tables...), others...)
	names := result.FormatNames(t.allowed...)
	last := len(names) - 1
	cmd.Flags().StringVar(&t.Name, "format", result.TSV.String(),
		"output format: "+strings.Join(names[:last], ", ")+" or "+names[last]+"; json is another name of jsonl")
}

// Check parses the flag, and refuses to write binary data to a terminal; out is the path of the output.
func (t *TableFormat) Check(g *Globals, out string) (err error) {
	if t.Format, err = result.ParseFormat(t.Name, t.allowed...); err != nil {
		return Usagef("--format %w", err)
	}
	if !t.IsText() && g.terminal && IsStdout(out) {
		return Usagef("--format %s: binary data is not written to a terminal; redirect standard output, or give -o FILE where the command has it", t.Name)
	}
	return nil
}

// WriteTable writes a table to a file, which appears when it is complete, or to standard output.
func (g *Globals) WriteTable(path string, f result.Format, columns []result.Column, fill func(*result.TableWriter) error) error {
	out, err := g.NewOutput(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	t := result.NewTableWriter(out, f, columns...)
	if err := fill(t); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return out.Commit()
}
