package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/eval"
	"example.org/ndd/engine/result"
)

type evalFlags struct {
	docs        cli.DocumentFlags
	pairs       string
	plots       string
	format      string
	compare     []string
	verify      []float64
	sample      int
	copies      []string // methods of finding copies
	methodFile  *cli.MethodFile
	samplePairs int    // pairs of each distance to draw
	out         string // table of these pairs
}

func newEval(g *cli.Files) *cobra.Command {
	f := evalFlags{methodFile: cli.NewMethodFile()}
	cmd := &cobra.Command{
		Use:   "eval [--pairs PAIRS.tsv] INPUT...",
		Short: "Measure how well near-duplicates are found",
		Long: `Measure how many near-duplicates fingerprints find within k = 0 to 10 bits (recall),
and how many reported pairs are right (precision). Without --pairs, ndd edits copies of
some documents and measures how many of them are found.

--pairs is a table of labelled pairs. --sample-pairs draws pairs to be labelled.
--copies measures methods of 'ndd copies' over thresholds of their score instead.

The files of the examples are in the folder cmd/ndd/testdata/sample of the source.`,
		Example: `  ndd eval docs.jsonl
  ndd eval --pairs pairs.tsv --verify 0,0.5 docs.jsonl
  ndd eval --compare simhash --plot figures docs.jsonl
  ndd eval --pairs pairs.tsv --copies spotsigs,winnow --plot thresholds docs.jsonl
  ndd eval --sample-pairs 100 -o sampled.tsv docs.jsonl`,
		Annotations: cli.HelpOf("Guide: ndd help measuring. Recipes: ndd help recipes. Methods: ndd help signatures",
			"Pairs: pairs=TABLE sample-pairs=N sample=N",
			"Methods: compare=NAME verify=X copies=METHODS method-file=FILE",
			"Output: output=FILE format=FORMAT plot=DIR"),
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return evaluate(g, cmd, args, &f) },
	}
	f.register(cmd, g)
	return cmd
}

func (f *evalFlags) register(cmd *cobra.Command, g *cli.Files) {
	f.docs.Register(cmd)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.compare, "compare", nil, "another recipe to measure; may be given more than once")
	fl.StringSliceVar(&f.copies, "copies", nil, "with --pairs: methods of ndd copies to measure over thresholds")
	f.methodFile.Register(cmd)
	fl.IntVar(&f.samplePairs, "sample-pairs", 0, "draw N pairs at each distance, to be labelled; needs --output")
	fl.StringVarP(&f.out, "output", "o", "", "table of the sampled pairs: .tsv, .jsonl or .parquet")
	fl.StringVar(&f.pairs, "pairs", "", "table of labelled pairs: .tsv, .jsonl or .parquet")
	fl.Float64SliceVar(&f.verify, "verify", []float64{0}, "minimum estimated similarity, one or several (default 0: none)")
	fl.IntVar(&f.sample, "sample", 500, "without --pairs: number of documents to edit")
	cli.WordVar(fl, &f.format, "format", "output format: text or json", "text", "json")
	fl.StringVar(&f.plots, "plot", "", "new folder for figures")
}

// evaluate measures recipes, or methods of finding copies, or draws pairs to be labelled.
func evaluate(g *cli.Files, cmd *cobra.Command, inputs []string, f *evalFlags) error {
	ctx := cmd.Context()
	// Check all flags before anything is read.
	o, err := f.options(g)
	if err != nil {
		return err
	}
	methods, err := f.methods(g)
	if err != nil {
		return err
	}
	copyMethods, err := f.checkCopies(g)
	if err != nil {
		return err
	}
	dir, err := f.begin(g)
	if dir != nil {
		defer dir.Abort()
	}
	if err != nil {
		return err
	}
	// Read the labels and the documents.
	labels, err := f.readLabels(ctx, g)
	if err != nil {
		return err
	}
	corpus, partly := f.readCorpus(ctx, g, inputs)
	if partly != nil && !errors.Is(partly, cli.ErrPartly) {
		return partly
	}
	// With --sample-pairs, only write pairs to label.
	if f.samplePairs > 0 {
		return cmp.Or(f.writeSample(ctx, g, corpus, methods[0].Recipe), partly)
	}
	// Without labels, measure copies that ndd edits.
	if f.pairs == "" {
		o.Originals = corpus.Len()
		if labels, err = corpus.SyntheticLabels(f.sample, 1); err != nil {
			return err
		}
	}
	pairs, missing, err := f.findPairs(g, corpus, labels)
	if err != nil {
		return err
	}
	partly = cmp.Or(partly, missing)
	// Measure, and write the results.
	if len(copyMethods) > 0 {
		return cmp.Or(f.measureCopies(ctx, g, corpus, pairs, copyMethods, dir), partly)
	}
	result, err := eval.Measure(ctx, corpus, pairs, methods, o)
	if err != nil {
		return err
	}
	return cmp.Or(evalWrite(g, result, f, dir), partly)
}

// begin checks the outputs and creates the folder of the figures before the work, so that a wrong name costs nothing.
func (f *evalFlags) begin(g *cli.Files) (dir cli.Folder, err error) {
	if err = g.CheckOutput(f.out, sampleColumns...); err != nil || f.plots == "" {
		return nil, err
	}
	return g.CreateFolder(f.plots)
}

// readLabels reads the table of --pairs, if it is given.
func (f *evalFlags) readLabels(ctx context.Context, g *cli.Files) ([]eval.Label, error) {
	if f.pairs == "" {
		return nil, nil
	}
	labels, repeated, err := eval.ReadLabels(ctx, f.pairs)
	if repeated > 0 {
		g.Log.Warn(fmt.Sprintf("%s: %s with the label of an earlier row: each pair counts once", f.pairs,
			cli.Number(repeated, "repeated pair")))
	}
	return labels, err
}

func (f *evalFlags) options(g *cli.Files) (o eval.Options, err error) {
	o = eval.Options{Threads: g.Threads, Progress: func(name string) { g.Log.Debug("measuring " + name) }}
	if f.pairs != "" {
		if err := g.RejectFlags("applies only without --pairs: it is about copies that ndd edits", "sample"); err != nil {
			return o, err
		}
	}
	// Refuse flags that contradict each other.
	switch {
	case f.sample < 1:
		return o, cli.Usagef("--sample %d: must be at least 1", f.sample)
	case g.Given["sample-pairs"] && f.samplePairs < 1:
		return o, cli.Usagef("--sample-pairs %d: must be at least 1", f.samplePairs)
	case g.Given["sample-pairs"] != (f.out != ""):
		return o, cli.Usagef("--sample-pairs and --output need each other: the sample is written to a table")
	case f.samplePairs > 0 && (f.pairs != "" || f.plots != "" || len(f.compare) > 0):
		return o, cli.Usagef("--sample-pairs measures nothing: it excludes --pairs, --compare and --plot")
	}
	// Check the name of the table and the thresholds.
	if f.out != "" {
		if _, err := result.FormatOf(f.out); err != nil {
			return o, cli.Usagef("--output %w", err)
		}
	}
	for _, v := range f.verify {
		if !(v >= 0 && v <= 1) {
			return o, cli.Usagef("--verify %g: must be 0 to 1", v)
		}
	}
	return o, nil
}

// methods returns every recipe with every verification.
func (f *evalFlags) methods(g *cli.Files) (methods []eval.Method, err error) {
	docs := f.docs
	for _, recipe := range append([]string{f.docs.Recipe}, f.compare...) {
		docs.Recipe = recipe
		c, err := docs.Config(g, nil)
		if err != nil {
			return nil, err
		}
		for _, v := range f.verify {
			m := eval.Method{Name: cmp.Or(recipe, c.Recipe.Name()), Recipe: c.Recipe, Verify: v}
			if v > 0 {
				m.Name += fmt.Sprintf(", Jaccard at least %g", v)
			}
			methods = append(methods, m)
		}
	}
	return methods, nil
}

// readCorpus reads the documents. The error is cli.ErrPartly if input was lost.
func (f *evalFlags) readCorpus(ctx context.Context, g *cli.Files, inputs []string) (*eval.Corpus, error) {
	c, err := f.docs.Config(g, nil)
	if err != nil {
		return nil, err
	}
	corpus := eval.NewCorpus()
	budget := memory.ForProgram(g.Machine.Limit(0))
	report, err := cli.Extract(ctx, g, inputs, c, ingest.Steps[format.Document]{
		Worker: func(context.Context) (func(int, *format.Document) (format.Document, error), error) {
			return func(_ int, doc *format.Document) (format.Document, error) { return *doc, nil }, nil
		},
		Emit: func(doc format.Document) error {
			if err := corpus.Add(doc.ID, doc.Text); err != nil || corpus.Len()%1000 > 0 {
				return err
			}
			return budget.Check(fmt.Sprintf("holding %s and more", cli.Number(corpus.Len(), "document")),
				2*corpus.Bytes())
		},
	})
	if err != nil {
		return nil, err
	}
	return corpus, g.Report(report)
}

// findPairs returns the labelled pairs of the corpus. If some labels have documents that the corpus lacks, partly is
// cli.ErrPartly. It is an error if no pair is left.
func (f *evalFlags) findPairs(g *cli.Files, c *eval.Corpus, labels []eval.Label) (pairs []eval.Pair, partly, err error) {
	pairs, missing := c.Pairs(labels)
	if len(missing) > 0 {
		l := missing[0]
		problem := fmt.Sprintf("%s: the inputs lack a document of %s, such as row %d (%s, %s)",
			f.pairs, cli.Number(len(missing), "labelled pair"), l.Row, l.A, l.B)
		if len(pairs) == 0 {
			return nil, nil, fmt.Errorf("%s, so no pair is left: --id names the field with the IDs", problem)
		}
		g.Log.Warn(problem)
		partly = cli.ErrPartly
	}
	if len(pairs) == 0 && f.pairs != "" {
		return nil, nil, fmt.Errorf("%s: every pair is labelled unknown or unsure: label some as true or false", f.pairs)
	}
	return pairs, partly, nil
}

// evalWrite writes the result in every requested form. The folder for the charts may be nil.
func evalWrite(g *cli.Files, r *eval.Result, f *evalFlags, dir cli.Folder) error {
	if dir != nil {
		figures := map[string]io.WriterTo{"jaccard.svg": r.JaccardChart()}
		if f.pairs != "" {
			figures["figure-1.svg"] = r.LabelChart()
		}
		if err := cli.WriteFigures(dir, figures); err != nil {
			return err
		}
	}
	if f.format == "json" {
		return g.WriteJSON(r)
	}
	return r.WriteText(g.Stdout)
}

// beginningBytes is the length of the beginning of a text that a table of sampled pairs shows.
const beginningBytes = 300

var sampleColumns = cli.ColumnsOf("id_a id_b distance:i label text_a text_b")

// writeSample draws pairs and writes them as a table to be labelled.
func (f *evalFlags) writeSample(ctx context.Context, g *cli.Files, c *eval.Corpus, recipe simhash.Recipe) error {
	pairs, err := c.SamplePairs(ctx, recipe, f.samplePairs, g.Threads, 1)
	if err != nil {
		return err
	}
	var drawn [eval.MaxK + 1]int
	format, _ := result.FormatOf(f.out) // options has refused others
	err = g.WriteTable(f.out, format, sampleColumns, func(t *result.TableWriter) error {
		for _, p := range pairs {
			drawn[p.Distance]++
			t.Text(c.ID(p.A)).Text(c.ID(p.B)).Integer(int64(p.Distance)).Text("unknown")
			if err := t.Text(c.Beginning(p.A, beginningBytes)).Text(c.Beginning(p.B, beginningBytes)).End(); err != nil {
				return err
			}
		}
		return nil
	})
	g.Log.Info(fmt.Sprintf("%s drawn; at distance 0 to %d: %v", cli.Number(len(pairs), "pair"), eval.MaxK, drawn))
	return err
}
