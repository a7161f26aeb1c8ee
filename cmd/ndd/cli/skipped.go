package cli

import (
	"github.com/spf13/cobra"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/result"
)

// skippedColumns are the columns of the table of skipped files and records.
var skippedColumns = ColumnsOf("file row:i? reason detail? lost:b")

// skippedFlag is the flag --skipped of commands that read documents. Its table lists each file and
// record that the summary counts as skipped.
type skippedFlag struct {
	path  string
	out   *Output
	table *result.TableWriter
}

// Register adds the flag to cmd. The command must have --force, too, for CheckOutput.
func (s *skippedFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.path, "skipped", "", "table of skipped files and records: .tsv, .jsonl or .parquet")
}

// begin opens the table, and makes the configuration write skipped input to it. The caller calls abort at the end.
func (s *skippedFlag) begin(g *Files, c *ingest.Config) error {
	if s.path == "" || s.table != nil {
		return nil
	}
	format, _ := FormatOf(s.path, result.Tables...)
	if err := g.CheckOutput(s.path, skippedColumns...); err != nil {
		return err
	}
	var err error
	if s.out, err = g.NewOutput(s.path); err != nil {
		return err
	}
	s.table = result.NewTableWriter(s.out, format, skippedColumns...)
	c.Skipped = s.add
	return nil
}

func (s *skippedFlag) add(skip *input.Skip) error {
	if s.table.Text(skip.Source).Row(int64(skip.Line)).Text(string(skip.Reason)); skip.Err != nil {
		s.table.Text(skip.Err.Error())
	} else {
		s.table.Null()
	}
	return s.table.Flag(skip.Reason.LosesData()).End()
}

func (s *skippedFlag) commit() error {
	if s.table == nil {
		return nil
	}
	if err := s.table.Close(); err != nil {
		return err
	}
	return s.out.Commit()
}

// abort removes the table unless it was published.
func (s *skippedFlag) abort() {
	if s.table != nil {
		s.out.Abort()
	}
}
