// Package copies holds the command copies, which finds documents that share passages, and copies sign, which writes
// signature files.
//
//	copies.go, flags.go     the commands, their help and flags
//	find.go                 the search among inputs and in signature files
//	sign.go                 copies sign
//	signing.go, library.go  documents to signatures; signature files of --against
package copies

import (
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newCopies(g.NewFiles())}
}

func newCopies(g *cli.Files) *cobra.Command {
	f := copiesFlags{signatures: signatureFlags{file: cli.NewMethodFile()}}
	cmd := &cobra.Command{
		Use:   "copies INPUT...",
		Short: "Find revised pages, excerpts and digests: documents that share passages",
		Long: `Find pairs of documents that have much of their text in common, as a whole or in
part: revised pages, excerpts, digests. The table has the relation and the score of
each pair.

Methods: spotsigs for languages with stop words, ccdet for Chinese, winnow for excerpts,
shingles for short documents, and auto, which chooses by language. --method ccdet and
spots = paper have the settings of the papers.

--against compares with the documents of signature files.

Settings of --method-file, one in each line, such as 'chain = 3':

` + f.signatures.file.Help(),
		Example: `  ndd copies pages/
  ndd copies --method winnow --threshold 0.8 -o pairs.tsv crawl.jsonl.zst
  ndd copies --against library.sigs new.jsonl`,
		Annotations: cli.HelpOf("Guide: ndd help signatures. The papers: ndd help papers",
			"Comparison: method=NAME threshold=X method-file=FILE against=FILE"),
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(g); err != nil {
				return err
			}
			return findCopies(cmd.Context(), g, args, &f)
		},
	}
	f.register(cmd, g)
	cmd.AddCommand(newCopiesSign(g))
	return cmd
}
