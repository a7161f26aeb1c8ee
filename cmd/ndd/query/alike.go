package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/input"
	"ndd/engine/memory"
	"ndd/engine/near/dedup"
	"ndd/engine/near/shingle"
)

// textFlags configure the comparison of the texts of hits.
type textFlags struct {
	verify      string
	queryDocs   []string // that have the texts of the queries
	againstDocs []string // that have the texts of what is found

	least    float64 // Jaccard similarity
	pairs    shingle.Pairs
	rejected int
}

// register adds the flags; that for the texts of queries only where they are not the arguments.
func (t *textFlags) register(cmd *cobra.Command, queries bool) {
	f := cmd.Flags()
	f.StringVar(&t.verify, "verify", "", "compare texts, too: jaccard>=X")
	if queries {
		f.StringArrayVar(&t.queryDocs, "query-docs", nil,
			"texts of the queries, for --verify; repeatable")
	}
	f.StringArrayVar(&t.againstDocs, "against-docs", nil,
		"texts of the documents in the index, for --verify; repeatable")
}

// check checks the flags. others are further ones that apply only with --verify.
func (t *textFlags) check(g *cli.Files, others ...string) (err error) {
	if t.verify == "" {
		return g.Refuse("applies only with --verify", append(others, "query-docs", "against-docs")...)
	}
	if t.least, err = dedup.ParseJaccard(t.verify); err != nil {
		return cli.Usagef("--verify %w", err)
	}
	if len(t.againstDocs) == 0 {
		return cli.Usagef("--verify needs the texts of what is found, and fingerprints have none: give the files that " +
			"they were made from with --against-docs")
	}
	if len(t.queryDocs) == 0 {
		return cli.Usagef("--verify needs the texts of the queries, and fingerprints have none: give the files that they " +
			"were made from with --query-docs")
	}
	if i := slices.IndexFunc(slices.Concat(t.queryDocs, t.againstDocs), input.ReadOnce); i >= 0 {
		return cli.Usagef("--verify reads documents again, and a pipe (%s) can be read only once: write it to a file "+
			"first", slices.Concat(t.queryDocs, t.againstDocs)[i])
	}
	return g.Refuse("cannot be combined with --verify, since documents of one fingerprint may have different texts",
		"unique", "max-ids")
}

// compare returns the similarities of the pairs.
func (t *textFlags) compare(ctx context.Context, g *cli.Files, read ingest.Config) ([]float64, error) {
	read.Threads, read.Document.Strict = g.Threads, false // what was skipped before is skipped now
	bar := g.Progress.NewBar("comparing texts", 0, cli.CountUnit)
	defer bar.End()
	return t.pairs.Compare(ctx, shingle.PairOptions{
		Inputs: [2][]string{t.queryDocs, t.againstDocs}, Read: read,
		Memory: int64(min(memory.ForProgram(g.Machine.Limit(0)).Left()/4, dedup.VerifyMemory)), Disk: g.Disk,
	})
}

// keeps reports whether a similarity is enough, and counts those that are not.
func (t *textFlags) keeps(share float64) bool {
	if share >= t.least {
		return true
	}
	t.rejected++
	return false
}

// report says how many hits were left out.
func (t *textFlags) report(g *cli.Files) {
	if t.verify != "" {
		g.Log.Info(fmt.Sprintf("compared the texts of %s: %s near by fingerprint, but not by text",
			cli.Number(t.pairs.Len(), "pair"), cli.Number(t.rejected, "pair")))
	}
}
