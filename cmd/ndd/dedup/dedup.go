// Package dedup holds the command dedup, which finds the documents of a corpus that are near-duplicates, of each
// other or of another corpus, and decides which of them to keep. The command filter does a part of that.
//
//	dedup.go, flags.go               the command and its flags
//	run.go                           a run, step by step: inputs, read, find, write
//	job.go, settings.go, sources.go  what a run has; what the flags say, checked; sources and their rights
//	known.go                         the indexes and files of --against
//	outputs.go, tables.go, report.go the output folders, their tables and the report
//	clusters.go, summary.go          clusters for people; the messages at the end
//	pipe.go                          --write-kept -: one pass from standard input to standard output
//	filter.go                        the command filter: copies by decisions
package dedup

import (
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/input"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newDedup(g.NewFiles()), newFilter(g.NewFiles())}
}

func newDedup(g *cli.Files) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "dedup [flags] INPUT...",
		Short: "Find the near-duplicates within a set of documents",
		Long: `Find and remove near-duplicate documents.

Fingerprints find pairs of similar documents, and sketches verify them. A document is
removed only if its estimated Jaccard similarity to a kept document is at least the
threshold. Inputs without sketches are compared by fingerprints alone, with k = 3.`,
		Example: `  ndd dedup docs/                                        print the clusters of a folder
  ndd dedup -o result crawl-*.jsonl.gz                   write tables of the decisions
  ndd dedup --write-kept clean crawl-*.jsonl.gz          copy files without duplicates
  ndd dedup --keep longest --write-kept clean a.parquet  keep the longest documents
  ndd dedup --verify 'contained>=1' -o safe docs/        remove only what loses no text
  ndd dedup --against index -o result new.jsonl          remove what an index knows
  ndd dedup --prefer books,wiki --max-drop crawl=60% -o result books wiki crawl
  ndd dedup --work work -o result crawl-*.jsonl.gz       resume after an interruption
  ndd dedup --input-format jsonl --write-kept - - <in    filter standard input`,
		Annotations: cli.HelpOf("Guide: ndd help corpus. Rules: ndd help decisions. Recall: ndd help recipes",
			"What is a duplicate: distance=N threshold=X verify=RULE same-url=FIELD against=INDEX",
			"Which document is kept: keep=ORDER source=FIELD prefer=A,B protect=PATTERN max-drop=SHARE",
			"Output (clusters are printed if none is given): output=DIR format=FORMAT write-kept=DIR annotate=DIR report=DIR "+
				"dry-run force"),
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			f.changed = cmd.Flags().Changed
			if f.writeKept == input.Stdin {
				return filterPipe(cmd.Context(), g, f, inputs)
			}
			return run(cmd.Context(), g, f, inputs)
		},
	}
	f.docs.Register(cmd)
	f.format.Register(cmd)
	f.decisionFlags.register(cmd)
	f.sources.register(cmd)
	f.outputFlags.register(cmd)
	g.RegisterForce(cmd)
	cmd.Flags().StringVar(&f.memory, "memory", "", "memory limit (default: available memory); beyond it: $TMPDIR")
	cmd.Flags().StringVar(&f.work, "work", "", "store intermediate results to resume an interrupted run")
	return cmd
}
