package passages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/passages/decontaminate"
	"example.org/ndd/engine/result"
)

func newDecontaminate(g *cli.Files) *cobra.Command {
	p := &decontaminateRun{g: g}
	cmd := &cobra.Command{
		Use:   "decontaminate [flags] --evals FILES INPUT...",
		Short: "Find the documents that hold items of evaluations",
		Long: `Find the documents of a corpus that hold items of evaluations, such as the questions of
a benchmark.

A document is a hit if it has enough of the words of an item in a row; a few words may
differ. The table has a row for each document and item. The exit status is 4 if inputs
could not be read or items were left out.`,
		Example: `  ndd decontaminate --evals evals/ -o hits.tsv --sets sets.tsv crawl-*.jsonl.gz
  ndd decontaminate --evals gsm8k.jsonl --evals mmlu/ --write-kept clean crawl-*.jsonl.zst
  ndd decontaminate --evals exam.csv --question text --answer key docs.parquet
  ndd decontaminate --evals evals/ --shard 0/4 --write-kept clean-0 crawl/`,
		Annotations: cli.HelpOf("Guide: ndd help repeats. Tables: ndd help formats",
			"Items: evals=FILES question=FIELD answer=FIELD min-words=N",
			"What is a hit: threshold=X common=N",
			"Output: output=FILE sets=FILE format=FORMAT"),
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args) },
	}
	p.docs.RegisterReading(cmd)
	p.format.Register(cmd)
	p.shard.Register(cmd)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	p.register(cmd.Flags())
	return cmd
}

func (p *decontaminateRun) register(f *pflag.FlagSet) {
	f.StringArrayVar(&p.evals, "evals", nil, "files, folders or patterns with the items; repeatable")
	f.StringVar(&p.o.Question, "question", "", "field with the question (default: question, prompt or similar)")
	f.StringVar(&p.o.Answer, "answer", "", "field with the answer (default: answer, solution or similar)")
	f.IntVar(&p.o.MinWords, "min-words", decontaminate.DefaultMinWords, "leave out items with fewer words")
	f.Float64Var(&p.o.Threshold, "threshold", decontaminate.DefaultThreshold,
		"minimum score of a hit, above 0 and at most 1")
	f.IntVar(&p.o.Common, "common", decontaminate.DefaultCommon, "maximum of documents that lower a word's weight")
	f.StringVarP(&p.out, "output", "o", "", "table of the hits (default: standard output)")
	f.StringVar(&p.sets, "sets", "", "table of the sets of items: .tsv, .jsonl or .parquet")
	f.StringVar(&p.writeKept, "write-kept", "", "copies of the inputs without documents that have hits")
	f.StringVar(&p.annotate, "annotate", "", "copies of the inputs with fields that list the hits")
	f.StringVar(&p.memory, "memory", "", "memory limit, such as 4GiB (default: available memory)")
	f.StringVar(&p.work, "work", "", "store intermediate results to resume an interrupted run")
}

// decontaminateRun is one run of the command.
type decontaminateRun struct {
	g                   *cli.Files
	docs                cli.DocumentFlags
	format              cli.TableFormat
	shard               cli.ShareFlag
	setsFormat          result.Format
	evals               []string
	out, sets, memory   string
	writeKept, annotate string
	work                string
	o                   decontaminate.Options
}

func (p *decontaminateRun) options() error {
	switch {
	case len(p.evals) == 0:
		return cli.Usagef("--evals names the files with the items, such as the questions of a benchmark")
	case p.o.MinWords < 1:
		return cli.Usagef("--min-words %d: must be at least 1", p.o.MinWords)
	case !(p.o.Threshold > 0 && p.o.Threshold <= 1):
		return cli.Usagef("--threshold %g: must be above 0, and at most 1", p.o.Threshold)
	case p.o.Common < 1:
		return cli.Usagef("--common %d: must be at least 1", p.o.Common)
	case p.sets != "" && cli.IsStdout(p.sets) && p.tabled() && cli.IsStdout(p.out):
		return cli.Usagef("--sets %s: both tables cannot be standard output: give a file for one", p.sets)
	}
	if err := cmp.Or(p.format.CheckFile(p.g, p.out), p.g.CheckOutput(p.out, hitColumns...)); err != nil || p.sets == "" {
		return err
	}
	p.setsFormat, _ = cli.FormatOf(p.sets, result.Tables...)
	return p.g.CheckOutput(p.sets, setColumns...)
}

// tabled reports whether the table of hits is written.
func (p *decontaminateRun) tabled() bool { return p.writeKept+p.annotate == "" || p.out != "" }

func (p *decontaminateRun) run(ctx context.Context, inputs []string) (err error) {
	if slices.Contains(p.evals, input.Stdin) && slices.Contains(inputs, input.Stdin) {
		return cli.Usagef("--evals and the inputs cannot both be standard input: write the items to a file first")
	}
	if err := cmp.Or(p.options(), p.g.CheckWork(p.work, inputs), cli.ReadOnce(p.evals), cli.ReadOnce(inputs)); err != nil {
		return err
	}
	// Open the outputs before the work, so that a wrong name fails early.
	config, err := p.docs.Config(p.g, nil)
	if err != nil {
		return err
	}
	if config.Document.Share, err = p.shard.Share(ctx, p.g, inputs); err != nil {
		return err
	}
	to := p.g.NewOutputs(false)
	defer to.Abort()
	copies, err := to.CopyFolders(ctx, inputs, p.writeKept, p.annotate, config.Document, decontaminate.Annotations)
	if err != nil {
		return err
	}
	// Reserve memory, and read the items.
	budget, room, err := reserve(p.g, &p.docs, p.memory, &config)
	if err != nil {
		return err
	}
	defer room.Release()
	p.o.Budget = memory.ForProgram(budget.Limit())
	items, partlyItems, err := p.readItems(ctx, config)
	if err != nil {
		return err
	}
	// Read the inputs, and find the items in them.
	w, bar, err := p.g.BeginReading(ctx, inputs, &config, p.work)
	if err != nil {
		return err
	}
	defer w.Close(&err)
	r, report, err := decontaminate.Find(ctx, inputs, config, items, p.g.Disk)
	bar.End()
	if err != nil {
		return adviseLength(err, &p.docs)
	}
	defer r.Close()
	w.KeepCopies(copies.Kept)
	partly := cmp.Or(p.g.Report(report), partlyItems)
	// Write the tables and the copies.
	if err := p.writeTables(ctx, &to, r); err != nil {
		return err
	}
	if _, err := copies.Refill(ctx, r); err != nil { // whole documents are removed
		return err
	}
	if err := to.Commit(); err != nil {
		return err
	}
	w.Done()
	p.say(r, report.Documents)
	return partly
}

// writeTables writes the tables of hits and of sets.
func (p *decontaminateRun) writeTables(ctx context.Context, to *cli.Outputs, r *decontaminate.Result) error {
	if p.tabled() {
		if err := to.Table(p.out, p.format.Format, hitColumns, func(w *result.TableWriter) error {
			for d := range r.Documents() {
				if err := writeHits(w, &d, r.Sets); err != nil {
					return err
				}
			}
			return ctx.Err()
		}); err != nil {
			return err
		}
	}
	if p.sets == "" {
		return nil
	}
	return to.Table(p.sets, p.setsFormat, setColumns, func(w *result.TableWriter) error { return writeSets(w, r.Sets) })
}

// readItems reads the items. partly is cli.ErrPartly if some were left out.
func (p *decontaminateRun) readItems(ctx context.Context, config ingest.Config) (
	x *decontaminate.Items, partly, err error) {
	// Read the items. The flags of fields are for the inputs.
	config.Document.Format, config.Document.IDField, config.Document.Chosen = format.Auto, "", nil
	config.Document.Meter, config.Document.Share = &input.Meter{}, nil
	bar := p.g.Progress.NewInputBar(ctx, "reading items", p.evals, config.Document)
	x, report, err := decontaminate.ReadItems(ctx, p.evals, config, p.o)
	bar.End()
	if errors.As(err, new(*format.FieldError)) {
		return nil, nil, errors.New(strings.ReplaceAll(err.Error(), "--text names", "--question names"))
	}
	if err != nil {
		return nil, nil, err
	}
	// Report what was read.
	p.g.ReportSkipped(&report.Skipped, "--question")
	all := decontaminate.Set{}
	for _, s := range x.Sets {
		all.Items += s.Items
		all.Short += s.Short
		all.Shared += s.Shared
	}
	if all.Items == 0 {
		return nil, nil, fmt.Errorf("no items in %s: --evals names files with items, and --question their field",
			strings.Join(p.evals, " "))
	}
	msg := fmt.Sprintf("%s in %s, %s", cli.Number(all.Items, "item"), cli.Number(len(x.Sets), "set"),
		cli.Number(x.Answers(), "answer"))
	if report.Repaired > 0 {
		msg += fmt.Sprintf("; invalid characters were replaced in %s", cli.Number(report.Repaired, "item"))
	}
	if s := report.Skipped.String(); s != "" {
		msg += "; skipped: " + s
	}
	p.g.Log.Info(msg)
	// Report what was left out.
	if all.Short > 0 {
		p.g.Log.Warn(fmt.Sprintf("left out %s with fewer than %s (see --min-words)",
			cli.Number(all.Short, "item"), cli.Number(p.o.MinWords, "word")))
	}
	if all.Shared > 0 {
		p.g.Log.Warn(fmt.Sprintf("left out %s: more than 32 items share all their words, or they repeat them",
			cli.Number(all.Shared, "item")))
	}
	if report.Skipped.Lost() > 0 || all.Short+all.Shared > 0 {
		partly = cli.ErrPartly
	}
	if all.Items == all.Short+all.Shared {
		return nil, nil, errors.New("all items were left out: nothing can be found")
	}
	if p.o.Answer != "" && x.Answers() == 0 {
		return nil, nil, fmt.Errorf("no item has an answer in the field %q: --answer names a field of texts or numbers",
			p.o.Answer)
	}
	return x, partly, nil
}

var (
	hitColumns = cli.ColumnsOf("id file row:i? from:i to:i from_char:i to_char:i set item_id item_file item_row:i? " +
		"run:i words:i covered:r score:r answer:b?")
	setColumns = cli.ColumnsOf("set items:i short:i shared:i phrases:i found:i answered:i documents:i")
)

func writeHits(w *result.TableWriter, d *decontaminate.Document, sets []decontaminate.Set) error {
	for i := range d.Hits {
		h := &d.Hits[i]
		w.Text(d.ID).Text(d.Source).Row(int64(d.Line))
		for _, n := range []int{h.From, h.To, h.FromChar, h.ToChar} {
			w.Integer(int64(n))
		}
		w.Text(sets[h.Item.Set].Name).Text(h.Item.ID).Text(h.Item.Source).Row(int64(h.Item.Line))
		w.Integer(int64(h.Longest)).Integer(int64(h.Item.Tokens())).Real(h.Covered).Real(h.Score)
		if h.Item.HasAnswer() {
			w.Flag(h.Answer)
		} else {
			w.Null()
		}
		if err := w.End(); err != nil {
			return err
		}
	}
	return nil
}

func writeSets(w *result.TableWriter, sets []decontaminate.Set) error {
	for _, s := range sets {
		w.Text(s.Name)
		for _, n := range []int{s.Items, s.Short, s.Shared, s.Phrases, s.Met, s.Answered, s.Documents} {
			w.Integer(int64(n))
		}
		if err := w.End(); err != nil {
			return err
		}
	}
	return nil
}

// say reports the result, by set.
func (p *decontaminateRun) say(r *decontaminate.Result, documents int) {
	met, phrases := 0, 0
	for i, s := range r.Sets {
		met += s.Met
		phrases += s.Phrases
		if i < cli.NamedMax {
			p.g.Log.Info(fmt.Sprintf("%s: found %s of %s in %s, %s with their answer", s.Name, humanize.Comma(int64(s.Met)),
				cli.Number(s.Items, "item"), cli.Number(s.Documents, "document"), humanize.Comma(int64(s.Answered))))
		}
	}
	cli.LogCount(p.g.Log.Info, len(r.Sets)-cli.NamedMax, "set", " more; --sets writes a table of all")
	msg := fmt.Sprintf("found %s in %s of %s", cli.Number(met, "item"), humanize.Comma(int64(r.Met)),
		cli.Number(documents, "document"))
	if phrases > 0 {
		msg += fmt.Sprintf("; %s in more than %s: taken for phrases", cli.Number(phrases, "short item"),
			cli.Number(p.o.Common, "document"))
	}
	p.g.Log.Info(msg)
}
