// Package passages holds two commands. The command passages finds lines, paragraphs, sentences or strings that are
// repeated in a corpus. The command decontaminate finds documents of a corpus that contain items of evaluations.
package passages

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/work"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/passages"
	"example.org/ndd/engine/result"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newPassages(g.NewFiles()), newDecontaminate(g.NewFiles())}
}

func newPassages(g *cli.Files) *cobra.Command {
	p := &passagesRun{g: g}
	cmd := &cobra.Command{
		Use:   "passages [flags] (--unit UNIT | --bytes N | --words N) INPUT...",
		Short: "Find repeated lines, paragraphs, sentences or strings",
		Long: `Find the parts of documents that also occur elsewhere in the inputs: exactly those,
however often they occur.

The table has a row for each repeated part. --write-kept copies the inputs without
repeated parts. The first place is kept, in the order of the inputs.`,
		Example: `  ndd passages --unit line --min-chars 40 -o lines.tsv crawl-*.jsonl.gz
  ndd passages --unit sentences=3 --ignore case,space --across-only -o spans.parquet docs/
  ndd passages --bytes 100 --cut words docs.jsonl
  ndd passages --words 20 --ignore markup pages/
  ndd passages --bytes 100 --max-share 0.8 --over drop --write-kept clean crawl.jsonl
  ndd passages --bytes 100 --annotate noted crawl-*.jsonl.gz
  ndd passages --unit line --shard 0/4 -o 0.units crawl/
  ndd passages --unit line --decisions result 0.units 1.units 2.units 3.units`,
		Annotations: cli.HelpOf("Guide: ndd help repeats. Tables: ndd help formats",
			"What is compared: unit=UNIT bytes=N words=N ignore=KINDS min-chars=N cut=ENDS",
			"What is removed: min-count=N across-only strike-all max-share=X over=ACTION", "Output: decisions=DIR"),
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

func (p *passagesRun) register(f *pflag.FlagSet) {
	f.StringVar(&p.unit, "unit", "", "compare each line, each paragraph, or sentences=3 in a row")
	f.IntVar(&p.bytes, "bytes", 0, fmt.Sprintf("compare strings of at least N bytes, %d to %d", passages.BytesMin,
		passages.BytesMax))
	f.IntVar(&p.words, "words", 0, fmt.Sprintf("compare strings of at least N words, %d to %d", passages.WordsMin,
		passages.WordsMax))
	f.StringVar(&p.ignore, "ignore", "", "ignore wrap, markup, space, case, digits, or none")
	f.IntVar(&p.o.MinChars, "min-chars", 20, "ignore units with fewer characters")
	f.IntVar(&p.o.MinCount, "min-count", 2, "remove only text that occurs at least N times")
	f.BoolVar(&p.o.AcrossOnly, "across-only", false, "remove only text that several documents have")
	f.BoolVar(&p.o.StrikeAll, "strike-all", false, "also remove the first occurrence")
	f.Float64Var(&p.o.MaxShare, "max-share", 0, "maximum share of a document to remove, 0 to 1; 0: no limit")
	cli.ValueVar(f, &p.o.Drop, "over", "documents beyond --max-share: keep or drop them",
		[]string{"keep", "drop"}, false, true)
	cli.ValueVar(f, &p.o.CutWords, "cut", "strings begin and end with whole chars or words",
		[]string{"chars", "words"}, false, true)
	f.StringVarP(&p.out, "output", "o", "", "table of the repeated parts (default: standard output)")
	f.StringVar(&p.writeKept, "write-kept", "", "copies of the inputs without repeated parts")
	f.StringVar(&p.annotate, "annotate", "", "copies of the inputs with fields that list repeated parts")
	f.StringVar(&p.decisions, "decisions", "", "folder with the parts to remove by input file, for 'ndd filter'")
	f.StringVar(&p.memory, "memory", "", "memory limit, such as 4GiB (default: available memory)")
	f.StringVar(&p.work, "work", "", "store intermediate results to resume an interrupted run")
}

// A passagesRun is one run of the command.
type passagesRun struct {
	g                 *cli.Files
	docs              cli.DocumentFlags
	shard             cli.ShareFlag
	isJoin            bool // the inputs are the units of shares
	format            cli.TableFormat
	unit, ignore, out string
	memory, writeKept string
	annotate, work    string
	decisions         string
	bytes, words      int
	o                 passages.Options
}

func (p *passagesRun) options() (err error) {
	o, units := &p.o, 0
	for _, flag := range []string{"unit", "bytes", "words"} {
		if p.g.Given[flag] {
			units++
		}
	}
	// Check the flags that do not depend on the unit.
	switch {
	case units != 1:
		return cli.Usagef("give a unit to compare: --unit line, paragraph or sentences=3, --bytes 100, or --words 50")
	case o.MinCount < 2:
		return cli.Usagef("--min-count %d: must be at least 2", o.MinCount)
	case !(o.MaxShare >= 0 && o.MaxShare <= 1):
		return cli.Usagef("--max-share %g: must be 0 to 1", o.MaxShare)
	case p.g.Given["over"] && o.MaxShare == 0:
		return cli.Usagef("--over applies only with --max-share")
	}
	// Set the unit, and refuse flags of other units.
	if p.unit != "" {
		if o.Unit, err = passages.ParseUnit(p.unit); err != nil {
			return cli.Usagef("--unit %w", err)
		}
	} else if err := p.g.RejectFlags("applies only with --unit", "min-chars"); err != nil {
		return err
	}
	if p.g.Given["bytes"] {
		if o.Unit = (passages.Unit{Kind: passages.Bytes, Length: p.bytes}); p.bytes < passages.BytesMin ||
			p.bytes > passages.BytesMax {
			return cli.Usagef("--bytes %d: must be %d to %d", p.bytes, passages.BytesMin, passages.BytesMax)
		}
	} else if err := p.g.RejectFlags("applies only with --bytes", "cut"); err != nil {
		return err
	}
	if p.g.Given["words"] {
		if o.Unit = (passages.Unit{Kind: passages.Words, Length: p.words}); p.words < passages.WordsMin ||
			p.words > passages.WordsMax {
			return cli.Usagef("--words %d: must be %d to %d", p.words, passages.WordsMin, passages.WordsMax)
		}
	}
	// Set the differences to ignore.
	if o.Ignore = o.Unit.DefaultIgnore(); p.g.Given["ignore"] {
		if o.Ignore, err = passages.ParseIgnore(p.ignore); err != nil {
			return cli.Usagef("--ignore %w", err)
		}
		if o.Ignore&^o.Unit.Kind.Ignorable() != 0 {
			return cli.Usagef("--ignore %s: with --words only markup can be ignored, and with --bytes nothing", p.ignore)
		}
	}
	// Check the outputs.
	if p.decisions == "-" {
		return cli.Usagef("--decisions -: it is a folder, and cannot be standard output")
	}
	if p.g.Given["shard"] {
		return p.checkShare()
	}
	if err := p.format.CheckFile(p.g, p.out); err != nil {
		return err
	}
	return p.g.CheckOutput(p.out, columns...)
}

func (p *passagesRun) run(ctx context.Context, inputs []string) (err error) {
	if inputs, err = p.findShares(inputs); err != nil {
		return err
	}
	if err := cmp.Or(p.options(), p.g.CheckWork(p.work, inputs), cli.ReadOnce(inputs)); err != nil {
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
	copies, err := to.CopyFolders(ctx, inputs, p.writeKept, p.annotate, config.Document, passages.Annotations)
	if err != nil {
		return err
	}
	decisions, err := to.Folder(p.decisions)
	if err != nil {
		return err
	}
	// Reserve memory.
	budget, room, err := reserve(p.g, &p.docs, p.memory, &config)
	if err != nil {
		return err
	}
	defer room.Release()
	p.o.Threads, p.o.Disk = p.g.Threads, p.g.Disk
	p.o.MemoryBytes, p.o.Budget = int64(max(min(budget.Free()/2, marksBytes), 1)), memory.ForProgram(budget.Limit())
	if config.Document.Share != nil {
		return p.keepUnits(ctx, inputs, config)
	}
	// Read the inputs or their shares, and find the repeated parts.
	var shares *work.Shares
	if p.isJoin {
		if shares, config.Document.Share, err = work.OpenShares(ctx, p.g.Disk, inputs, p.g.Threads, p.g.OpenStream); err != nil {
			return err
		}
		defer shares.Close()
	}
	r, w, partly, err := p.find(ctx, inputs, shares, config)
	defer w.Close(&err)
	if err != nil {
		return err
	}
	defer r.Close()
	w.KeepCopies(copies.Kept)
	// Write the table and the copies.
	t, err := p.writeTable(ctx, &to, r)
	if err != nil {
		return err
	}
	if decisions != nil {
		if err := cli.WriteDecisions(decisions, r.Inputs(), r.Decisions); err != nil {
			return err
		}
	}
	uncut, err := copies.Refill(ctx, r)
	if err == nil {
		err = to.Commit()
	}
	if err != nil {
		return err
	}
	w.Done()
	p.say(t, r)
	return cmp.Or(partly, uncut)
}

// find finds the repeated parts of the inputs, or of the shares if there are any. The caller must close the work, even
// after an error. partly is [cli.ErrPartly] if some input was skipped.
func (p *passagesRun) find(ctx context.Context, inputs []string, shares *work.Shares, config ingest.Config) (
	r *passages.Result, w *cli.Work, partly, err error) {
	if shares != nil {
		inputs = nil
	}
	w, bar, err := p.g.BeginReading(ctx, inputs, &config, p.work)
	if err != nil {
		return nil, w, nil, err
	}
	if shares != nil {
		config.Work = shares
	}
	r, report, err := passages.Find(ctx, inputs, config, p.o)
	bar.End()
	if err != nil {
		return nil, w, nil, adviseLength(err, &p.docs)
	}
	return r, w, p.g.Report(report), nil
}

// writeTable writes the table of spans, unless only other outputs were requested, and counts them.
func (p *passagesRun) writeTable(ctx context.Context, to *cli.Outputs, r *passages.Result) (*totals, error) {
	t := &totals{}
	if p.writeKept+p.annotate+p.decisions != "" && p.out == "" {
		for d := range r.Documents() {
			t.add(&d)
		}
		return t, nil
	}
	return t, to.Table(p.out, p.format.Format, columns, func(w *result.TableWriter) error {
		for d := range r.Documents() {
			t.add(&d)
			if err := p.writeSpans(w, r, &d); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// marksBytes is the maximum memory for marks. With more memory, the runs are not merged faster.
const marksBytes = 64 << 20

var columns = cli.ColumnsOf("id file row:i? unit from:i to:i from_char:i to_char:i count:i kept:b " +
	"first_id first_file first_row:i? first_from:i")

func (p *passagesRun) writeSpans(w *result.TableWriter, r *passages.Result, d *passages.Document) error {
	for s := range r.Spans(d.Row) {
		w.Text(d.ID).Text(d.Source).Row(int64(d.Line)).Text(p.o.Unit.String())
		for _, n := range []int{s.From, s.To, s.FromChar, s.ToChar, s.Count} {
			w.Integer(int64(n))
		}
		if err := w.Flag(s.Kept).Text(s.First.ID).Text(s.First.Source).Row(int64(s.First.Line)).
			Integer(int64(s.First.From)).End(); err != nil {
			return err
		}
	}
	return nil
}

// totals count documents with repeated text, and the text to remove from them.
type totals struct{ documents, cut, spans, excess, cutBytes int }

func (t *totals) add(d *passages.Document) {
	t.documents++
	t.spans += d.Spans
	t.cutBytes += d.CutBytes()
	if len(d.Cuts) > 0 {
		t.cut++
	}
	if d.Beyond {
		t.excess++
	}
}

// say reports the result.
func (p *passagesRun) say(t *totals, r *passages.Result) {
	if !r.Windows() {
		p.g.Log.Warn(fmt.Sprintf("no document is long enough for %s: nothing was compared", p.o.Unit))
	}
	msg := fmt.Sprintf("found %s in %s of %s; %s repeat earlier text, %.3g %% of all, in %s", cli.Number(t.spans, "span"),
		humanize.Comma(int64(t.documents)), cli.Number(r.Len(), "document"), humanize.IBytes(uint64(t.cutBytes)),
		100*float64(t.cutBytes)/float64(max(r.TextBytes(), 1)), cli.Number(t.cut, "document"))
	if t.excess > 0 {
		action := "kept whole"
		if p.o.Drop {
			action = "dropped"
		}
		msg += fmt.Sprintf("; %s with more repeated text than --max-share: %s", cli.Number(t.excess, "document"), action)
	}
	p.g.Log.Info(msg)
}

// reserve returns the budget of --memory, and a reservation in it for the memory of reading. It sets the share of
// reading in config. The garbage collector keeps the total within the limit.
func reserve(g *cli.Files, docs *cli.DocumentFlags, limit string, config *ingest.Config) (*memory.Budget,
	*memory.Reservation, error) {
	budget, err := g.Budget(limit)
	if err != nil {
		return nil, nil, err
	}
	debug.SetMemoryLimit(int64(budget.Free()))
	*config = config.Fit(budget.Free() / 2)
	room, err := budget.Reserve("reading", config.NeedBytes())
	return budget, room, adviseLength(err, docs)
}

func adviseLength(err error, docs *cli.DocumentFlags) error {
	return memory.Advise(err, "a lower --max-document than "+docs.MaxDocument+" needs less")
}
