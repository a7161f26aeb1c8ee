package main

import (
	"strings"

	"github.com/spf13/cobra"

	"ndd/engine/result"
)

// tableFormat is the flag --format of a command that writes tables.
type tableFormat struct {
	name    string
	allowed []result.Format
	result.Format
}

// register adds the flag; the formats are those of every table, and others behind them.
func (t *tableFormat) register(cmd *cobra.Command, others ...result.Format) {
	t.allowed = append(append([]result.Format{}, result.Tables...), others...)
	names := result.FormatNames(t.allowed...)
	last := len(names) - 1
	cmd.Flags().StringVar(&t.name, "format", result.TSV.String(),
		"output format: "+strings.Join(names[:last], ", ")+" or "+names[last]+"; json is another name of jsonl")
}

// check parses the flag, and refuses to write binary data to a terminal; out is the path of the output.
func (t *tableFormat) check(g *globals, out string) (err error) {
	if t.Format, err = result.ParseFormat(t.name, t.allowed...); err != nil {
		return usagef("--format %w", err)
	}
	if !t.IsText() && g.terminal && isStdout(out) {
		return usagef("--format %s: binary data is not written to a terminal; redirect standard output, or give -o FILE where the command has it", t.name)
	}
	return nil
}

// writeTable writes a table to a file, which appears when it is complete, or to standard output.
func (g *globals) writeTable(path string, f result.Format, columns []result.Column, fill func(*result.TableWriter) error) error {
	out, err := g.newOutput(path)
	if err != nil {
		return err
	}
	defer out.abort()
	t := result.NewTableWriter(out, f, columns...)
	if err := fill(t); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return out.commit()
}
