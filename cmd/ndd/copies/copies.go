// Package copies holds the command copies, which finds documents that share passages, and copies sign, which writes
// signature files.
//
//	copies.go, flags.go     the commands, their help and flags
//	find.go                 the search among inputs and in signature files
//	sign.go                 copies sign
//	explain.go              --explain: signatures and passages that two documents share
//	signing.go, library.go  documents to signatures; signature files of --against
package copies

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newCopies(g.NewFiles())}
}

func newCopies(g *cli.Files) *cobra.Command {
	f := copiesFlags{signatures: signatureFlags{file: cli.NewMethodFile()}}
	cmd := &cobra.Command{
		Use:   "copies INPUT...",
		Short: "Find revised pages, excerpts and digests, beyond near-duplicates",
		Long: `Find pairs of documents that have much of their text in common, as a whole or in
part. Fingerprints within k bits find only near-duplicates of the whole.

Methods, with the lowest score that they report. Containment is the share of the smaller
document's signatures that the other one has:
  spotsigs  stop words and the words after them; Jaccard similarity 0.5, or 0.45 if
            chain is 3 or more
  ccdet     10 characters before each full stop, for Chinese; containment 0.6
  winnow    selected sequences of 5 words or 8 characters; containment 0.65
  shingles  all sequences of 3 words or 5 characters; Jaccard similarity 0.4. It suits
            short documents and takes more memory
  auto      ccdet for documents in Chinese, Japanese and Thai; for others spotsigs finds
            revisions and winnow finds which document contains another. A document with
            too few signatures is compared by winnow, and with another one by shingles.
            With fewer than 4 sentences both ccdet and winnow must find a pair

The output is a table of pairs, in tsv with a header: id, id, relation, score, share of
the first in the second and of the second in the first, signatures of each, shared
signatures, method, flags. The relation is duplicate, revised, contains (the first
contains the second), contained, or overlap. Flags: equal (the same signatures), few_a
and few_b (too few signatures of the method of its language), same_site, and common (one
contains the other, and more than 20 documents contain it, such as a notice; with
--against: the new document is in more than 20). Of more than 1,000 documents with equal
signatures each is paired with the first one only.

--against compares with the documents of a signature file, which 'ndd copies sign' writes.
It may be given more than once. Pairs of documents with the same ID are counted and not
listed.

--explain takes two IDs after the inputs. It shows the passages that both documents have,
and the signatures of both as words, with their places in bytes, by --method or, for
auto, by the method that decides.

--method-file names a file of settings for research, a line each, such as 'chain = 3'.
Lines that begin with # are comments. The settings, with their defaults:

` + f.signatures.file.Help() + `

'ndd copies sign' uses the settings of signatures, and its file keeps them.

The settings of the papers:
  SpotSigs           --method spotsigs with spots = paper; bags = true for the bags of its
                     authors' code
  CCDet              --method ccdet: sentences end with 。 alone, and clr = 0.5
  distributed index  min-df and max-df, its limits of the documents of a signature`,
		Example: `  ndd copies pages/
  ndd copies --method winnow --threshold 0.8 -o pairs.tsv crawl.jsonl.zst
  ndd copies --against library.sigs new.jsonl
  echo 'same-site = skip' >other-sites; ndd copies --site url --method-file other-sites crawl.jsonl.zst
  ndd copies --explain crawl.jsonl.zst https://example.org/a https://example.org/b`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(g); err != nil {
				return err
			}
			if f.explain {
				return explainCopies(cmd.Context(), g, args, &f)
			}
			return findCopies(cmd.Context(), g, args, &f)
		},
	}
	f.register(cmd, g)
	cmd.AddCommand(newCopiesSign(g))
	return cmd
}
