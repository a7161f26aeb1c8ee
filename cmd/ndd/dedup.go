package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/cluster"
	"ndd/engine/ingest"
	"ndd/permute"
)

func newDedup(g *globals) *cobra.Command {
	var docs documentFlags
	k := 3
	cmd := &cobra.Command{
		Use:   "dedup [-k K] INPUT...",
		Short: "Find the near-duplicates within a set of documents",
		Long: `Compare documents, or the fingerprints of .ndf and .bin files, with each other and print
the clusters of those that are within k bits of each other, directly or through
others. The first document of a cluster, in the order of the inputs, is its
representative; each document stands with its distance to it, in bits.
Distances can be larger than k, since near-duplicates may chain.`,
		Example: `  ndd dedup docs/
  ndd dedup -k 2 pages.ndf`,
		Args: someArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if k < 0 || k > permute.MaxK {
				return usagef("-k %d: must be 0 to %d", k, permute.MaxK)
			}
			corpus, partly, err := g.corpus(cmd.Context(), args, &docs)
			if err != nil {
				return err
			}
			r, err := cluster.Find(cmd.Context(), corpus.prints, k, g.threads)
			if err != nil {
				return err
			}
			if err := g.printClusters(corpus.names, r); err != nil {
				return err
			}
			return partly
		},
	}
	docs.register(cmd, "format")
	cmd.Flags().IntVarP(&k, "distance", "k", k, "largest Hamming distance of near-duplicates, 0 to 8")
	return cmd
}

// corpus is fingerprints with the names of their documents.
type corpus struct {
	prints []uint64
	names  []string
}

// corpus reads fingerprint files, or fingerprints documents. partly is
// errPartly when some of the input was skipped.
func (g *globals) corpus(ctx context.Context, inputs []string, docs *documentFlags) (c *corpus, partly, err error) {
	c = new(corpus)
	prints, err := arePrints(inputs)
	if err != nil {
		return nil, nil, err
	}
	if prints {
		return c, nil, c.open(ctx, g, inputs)
	}
	config, err := docs.config(g, nil)
	if err != nil {
		return nil, nil, err
	}
	_, err = g.ingest(ctx, inputs, config, func(r ingest.Record) error {
		if r.OK {
			c.prints = append(c.prints, uint64(r.Fingerprint))
			c.names = append(c.names, r.ID)
		}
		return nil
	})
	if err == errPartly {
		return c, err, nil
	}
	return c, nil, err
}

func (c *corpus) open(ctx context.Context, g *globals, paths []string) error {
	files, err := openPrints(paths)
	if err != nil {
		return err
	}
	defer closePrints(files)
	for _, f := range files {
		if s := f.Store(); s != nil {
			if err := s.Verify(ctx, g.threads, nil); err != nil {
				return err
			}
		}
		if r, first := f.Recipe(), files[0].Recipe(); r != nil && first != nil {
			if err := first.Check(*r); err != nil {
				return fmt.Errorf("%w: %s and %s: %w", engine.ErrMixed, files[0].Path(), f.Path(), err)
			}
		}
		if !f.HasNames() {
			for row := range f.Len() {
				c.names = append(c.names, strconv.FormatUint(uint64(len(c.prints))+row, 10))
			}
		}
		c.prints = append(c.prints, f.Fingerprints()...)
		for name, err := range f.Names {
			if err != nil {
				return fmt.Errorf("%s: %w", f.Path(), err)
			}
			c.names = append(c.names, name)
		}
	}
	return nil
}

func (g *globals) printClusters(names []string, r *cluster.Result) error {
	extra := 0
	for i, c := range r.Clusters {
		if i > 0 {
			fmt.Fprintln(g.stdout)
		}
		fmt.Fprintf(g.stdout, "cluster %d: %s documents\n", i+1, humanize.Comma(int64(len(c.Rows))))
		for j, row := range c.Rows {
			if _, err := fmt.Fprintf(g.stdout, "%4d  %s\n", c.Distances[j], plain(names[row])); err != nil {
				return err
			}
		}
		extra += len(c.Rows) - 1
	}
	g.log.Info(fmt.Sprintf("%s documents with %s distinct fingerprints: %s in %s clusters could go",
		humanize.Comma(int64(len(names))), humanize.Comma(int64(r.Distinct)), humanize.Comma(int64(extra)), humanize.Comma(int64(len(r.Clusters)))))
	return nil
}
