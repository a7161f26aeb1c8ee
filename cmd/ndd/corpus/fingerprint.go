// Package corpus holds the commands about documents and their fingerprints: fingerprint makes files
// of them, compare shows how two are alike, and eval measures how well they find labelled pairs.
//
//	documents -> fingerprint -> .ndf, of which build makes an index and dedup clusters
package corpus

import (
	"bufio"
	"cmp"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/result"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newFingerprint(g.NewFiles()), newCompare(g.NewFiles()), newEval(g.NewFiles())}
}

func newFingerprint(g *cli.Files) *cobra.Command {
	f := &fingerprintFlags{}
	cmd := &cobra.Command{
		Use:   "fingerprint [flags] INPUT...",
		Short: "Turn documents into fingerprints",
		Long: `Turn documents into 64-bit fingerprints.

An input is a file, a folder, a glob, or - for standard input. With -o a fingerprint file
is written. A file .ndf also has IDs, sketches, hashes of the texts and the recipe.
Without -o, each document is a line: 16 hexadecimal digits, a tab and the ID. Input that
cannot be read is skipped and reported, and the exit status is 4.`,
		Annotations: cli.HelpOf("Guide: ndd help formats. Recipes: ndd help recipes. In parts: ndd help corpus"),
		Example: `  ndd fingerprint -o pages.ndf pages/
  ndd fingerprint --text body --id url crawl.jsonl.zst | head
  ndd fingerprint --shard 0/4 -o part-0.ndf crawl/
  zcat pages.jsonl.gz | ndd fingerprint --input-format jsonl -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.showRecipe {
				return cli.NoArgs(cmd, args)
			}
			return cli.SomeArgs("INPUT")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, g, args) },
	}
	f.docs.Register(cmd)
	f.shard.Register(cmd)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "fingerprint file to write: .ndf or .bin")
	cli.SketchVar(cmd.Flags(), &f.noSketch, "store sketches, to verify answers: auto, or none")
	cmd.Flags().BoolVar(&f.showRecipe, "show-recipe", false, "print the recipe as JSON, for --recipe, and stop")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "show features, weights, hashes and bits of short documents")
	cmd.Flags().BoolVar(&f.learn, "learn-idf", false, "write a table for the setting idf of recipes")
	return cmd
}

type fingerprintFlags struct {
	docs  cli.DocumentFlags
	shard cli.ShareFlag
	out   string

	noSketch                   bool
	showRecipe, explain, learn bool
}

func (f *fingerprintFlags) run(cmd *cobra.Command, g *cli.Files, inputs []string) error {
	ctx := cmd.Context()
	if f.explain && (f.learn || f.out != "") || f.showRecipe && (f.learn || f.explain) {
		return cli.Usagef("--show-recipe, --explain, --learn-idf: give one, and --explain without --output")
	}
	c, err := f.docs.Config(g, nil)
	if err != nil {
		return err
	}
	if f.showRecipe {
		_, err := g.Stdout.Write([]byte(c.Recipe.String() + "\n"))
		return err
	}
	if c.Document.Share, err = f.shard.Share(ctx, g, inputs); err != nil {
		return err
	}
	switch {
	case f.explain:
		return explain(ctx, g, inputs, c)
	case f.learn:
		return learnIDF(ctx, g, inputs, c, f.out)
	case f.out != "":
		c.Sketches = !f.noSketch && !ndf.IsBare(f.out)
		return fingerprintFile(g, cmd, inputs, c, f.out)
	}
	w := bufio.NewWriterSize(g.Stdout, 1<<16)
	err = g.Ingest(ctx, inputs, c, func(r ingest.Record) error { return writePrint(w, r) })
	return cmp.Or(err, w.Flush())
}

// writePrint writes a line of text: the fingerprint and the ID.
func writePrint(w *bufio.Writer, r ingest.Record) error {
	if r.OK {
		w.WriteString(r.Fingerprint.String())
	} else {
		w.WriteString(ndf.NoPrint)
	}
	w.WriteByte('\t')
	w.WriteString(result.Escape(r.ID))
	return w.WriteByte('\n')
}

func fingerprintFile(g *cli.Files, cmd *cobra.Command, inputs []string, c ingest.Config, out string) error {
	if out == "-" {
		return cli.Usagef("-o -: a fingerprint file cannot be written to standard output; without -o, lines of text are")
	}
	if err := g.CheckFingerprintOutput(out); err != nil {
		return err
	}
	share := c.Document.Share
	return g.WriteFingerprints(out, c.Recipe, func(w *ndf.Writer) error {
		if share != nil {
			var files []ndf.Input
			for _, f := range share.InOrder() {
				files = append(files, ndf.Input{File: f.Path, Order: f.Place, Bytes: f.Bytes})
			}
			w.KeepPlaces(ndf.Share{Number: share.Number, Count: share.Count, Digest: share.Digest, Settings: c.Settings()}, files)
			c.FileEnd = func(f ingest.FileUnits) { w.SetContent(f.Path, f.Content) }
		}
		if w.KeepHashes(); c.Sketches {
			w.KeepSketches()
		}
		return g.Ingest(cmd.Context(), inputs, c, func(r ingest.Record) error {
			d := ndf.Document{ID: r.ID, Fingerprint: r.Fingerprint, TextBytes: r.TextBytes, Sketch: r.Sketch, Hash: r.Hash}
			if share != nil {
				d.Place = ndf.Place{File: r.Source, Order: share.Place(r.Source), Row: int64(r.Line)}
			}
			if !r.OK {
				return w.AppendUnmarked(d)
			}
			return w.Append(d)
		})
	})
}
