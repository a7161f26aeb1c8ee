package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/cluster"
	"ndd/engine/simhash"
	"ndd/permute"
)

// giantCluster is the size from which a cluster is worth a warning: near pairs
// chain, and such a one joins unlike documents more often than not.
const giantCluster = 1000

func newDedup(g *globals) *cobra.Command {
	d := &dedup{g: g}
	cmd := &cobra.Command{
		Use:   "dedup [-k K] [-o DIR] INPUT...",
		Short: "Find the near-duplicates within a set of documents",
		Long: `Compare documents, or the fingerprints of .ndf and .bin files, with each other and
group those that are within k bits of each other, directly or through others.
One document of each cluster is kept, its representative: the first in order of
the inputs, or the longest or shortest. Distances of the others to it can be
larger than k, since near-duplicates chain; with --star a cluster has only what
is within k of its representative.

Without -o, the clusters on standard output, each document with its distance to
the representative. With -o, a folder that appears when it is complete:

  clusters.tsv   cluster, id, representative, distance to it, kept (1 or 0)
  kept.txt       the ids that stay, in order of the inputs
  dropped.tsv    id, the id that is kept instead, distance

With --against, what is near a document of an index is dropped first, for the
nearest one there, and only the rest is compared with itself.`,
		Example: `  ndd dedup docs/
  ndd dedup -o result --keep longest --star pages.ndf
  ndd dedup -o result --against index new.jsonl`,
		Args: someArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args) },
	}
	d.docs.register(cmd, "format")
	f := cmd.Flags()
	f.IntVarP(&d.k, "distance", "k", 3, "largest Hamming distance of near-duplicates, 0 to 8")
	f.StringVarP(&d.out, "output", "o", "", "write the result into this new folder")
	f.StringVar(&d.keep, "keep", "first", "which of a cluster to keep: first, longest or shortest")
	f.BoolVar(&d.star, "star", false, "only what is within k of the representative, no chains")
	f.StringVar(&d.against, "against", "", "an index whose documents are there already")
	return cmd
}

// dedup is one run of the command.
type dedup struct {
	g         *globals
	docs      documentFlags
	k         int
	out, keep string
	star      bool
	against   string
}

// dropped is a document that an index holds already.
type dropped struct {
	id, kept string
	distance int
}

func (d *dedup) run(ctx context.Context, inputs []string) error {
	if d.k < 0 || d.k > permute.MaxK {
		return usagef("-k %d: must be 0 to %d", d.k, permute.MaxK)
	}
	var dir *outputDir
	if d.out != "" { // before the work, so that a wrong name costs nothing
		var err error
		if dir, err = newOutputDir(d.out); err != nil {
			return err
		}
		defer dir.abort()
	}
	c, known, partly, err := d.read(ctx, inputs)
	if err != nil {
		return err
	}
	prefer, err := c.prefer(d.keep)
	if err != nil {
		return err
	}
	r, err := cluster.Find(ctx, c.prints, cluster.Options{K: d.k, Star: d.star, Prefer: prefer, Threads: d.g.threads})
	if err != nil {
		return err
	}
	if dir == nil {
		err = d.print(c.names, known, r)
	} else {
		err = d.write(dir, c.names, known, r)
	}
	if err != nil {
		return err
	}
	d.sum(len(c.names), known, r)
	return partly
}

// read reads the corpus without what --against knows already.
func (d *dedup) read(ctx context.Context, inputs []string) (c *corpus, known []dropped, partly, err error) {
	var x *engine.Index
	var recipe *simhash.Recipe
	if d.against != "" {
		if x, err = engine.Open(ctx, d.against, engine.OpenOptions{Threads: d.g.threads}); err != nil {
			return nil, nil, nil, err
		}
		defer x.Close()
		if most := x.Design().K; d.k > most {
			return nil, nil, nil, usagef("-k %d: the index was built for k up to %d", d.k, most)
		}
		recipe = x.Recipe()
	}
	c, partly, err = d.g.corpus(ctx, inputs, &d.docs, recipe)
	if err != nil || x == nil {
		return c, nil, partly, err
	}
	if (recipe == nil) != (c.recipe == nil) {
		return nil, nil, nil, fmt.Errorf("%w: one of %s and the inputs has raw fingerprints", engine.ErrMixed, d.against)
	}
	if recipe != nil {
		if err := recipe.Check(*c.recipe); err != nil {
			return nil, nil, nil, fmt.Errorf("%w: %s and the inputs: %w", engine.ErrMixed, d.against, err)
		}
	}
	c, known, err = d.drop(ctx, x, c)
	return c, known, partly, err
}

// drop takes out of the corpus what is near a document of the index.
func (d *dedup) drop(ctx context.Context, x *engine.Index, c *corpus) (*corpus, []dropped, error) {
	var known []dropped
	var rest []int
	names := x.Names()
	next := 0
	o := engine.BatchOptions{K: d.k, Docs: 1, Threads: d.g.threads}
	err := x.Batch(ctx, c.prints, o, func(row int, hits []engine.Hit) error {
		for ; next < row; next++ {
			rest = append(rest, next)
		}
		next = row + 1
		kept, err := names.Name(hits[0].Docs[0])
		known = append(known, dropped{c.names[row], kept, hits[0].Distance})
		return err
	})
	for ; next < len(c.prints); next++ {
		rest = append(rest, next)
	}
	return c.only(rest), known, err
}

// print writes the clusters for a person.
func (d *dedup) print(names []string, known []dropped, r *cluster.Result) error {
	out := d.g.stdout
	for i, c := range r.Clusters() {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "cluster %d: %s documents\n", i+1, humanize.Comma(int64(len(c.Rows))))
		fmt.Fprintf(out, "   0  %s\n", plain(names[c.Representative]))
		for _, row := range c.Rows {
			if row == c.Representative {
				continue
			}
			if _, err := fmt.Fprintf(out, "%4d  %s\n", r.Distance(row, c.Representative), plain(names[row])); err != nil {
				return err
			}
		}
	}
	for i, k := range known {
		if i == 0 {
			fmt.Fprintf(out, "\nin %s already: %s documents\n", d.against, humanize.Comma(int64(len(known))))
		}
		if _, err := fmt.Fprintf(out, "%4d  %s  is near  %s\n", k.distance, plain(k.id), plain(k.kept)); err != nil {
			return err
		}
	}
	return nil
}

// write writes the result's files.
func (d *dedup) write(dir *outputDir, names []string, known []dropped, r *cluster.Result) error {
	err := dir.write("clusters.tsv", func(w *bufio.Writer) error {
		for i, c := range r.Clusters() {
			for _, row := range c.Rows {
				kept := 0
				if row == c.Representative {
					kept = 1
				}
				fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\n", i+1, plain(names[row]), plain(names[c.Representative]), r.Distance(row, c.Representative), kept)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	gone := make([]bool, len(names))
	err = dir.write("dropped.tsv", func(w *bufio.Writer) error {
		for _, k := range known {
			fmt.Fprintf(w, "%s\t%s\t%d\n", plain(k.id), plain(k.kept), k.distance)
		}
		for _, c := range r.Clusters() {
			for _, row := range c.Rows {
				if row != c.Representative {
					gone[row] = true
					fmt.Fprintf(w, "%s\t%s\t%d\n", plain(names[row]), plain(names[c.Representative]), r.Distance(row, c.Representative))
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = dir.write("kept.txt", func(w *bufio.Writer) error {
		for row, name := range names {
			if !gone[row] {
				w.WriteString(plain(name))
				w.WriteByte('\n')
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return dir.commit()
}

// sum says what the result comes to, and what to beware of.
func (d *dedup) sum(docs int, known []dropped, r *cluster.Result) {
	extra, farthest := 0, 0
	for _, c := range r.Clusters() {
		extra += len(c.Rows) - 1
		most := 0
		for _, row := range c.Rows {
			most = max(most, r.Distance(row, c.Representative))
		}
		farthest = max(farthest, most)
		if len(c.Rows) >= giantCluster && most > d.k {
			d.g.log.Warn(fmt.Sprintf("a cluster of %s documents chains up to %d bits from its representative: see --star",
				humanize.Comma(int64(len(c.Rows))), most))
		}
	}
	msg := fmt.Sprintf("%s documents with %s distinct fingerprints: %s in %s clusters could go", humanize.Comma(int64(docs)),
		humanize.Comma(int64(r.Distinct)), humanize.Comma(int64(extra)), humanize.Comma(int64(r.Len())))
	if extra > 0 {
		msg += fmt.Sprintf(", at most %d bits from what is kept", farthest)
	}
	if d.against != "" {
		msg += fmt.Sprintf("; %s more were in %s already", humanize.Comma(int64(len(known))), d.against)
	}
	d.g.log.Info(msg)
}
