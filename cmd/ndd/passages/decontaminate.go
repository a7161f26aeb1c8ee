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

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/input"
	"ndd/engine/passages/decontaminate"
	"ndd/engine/result"
)

func newDecontaminate(g *cli.Files) *cobra.Command {
	p := &decontamination{g: g}
	cmd := &cobra.Command{
		Use:   "decontaminate --evals FILES INPUT...",
		Short: "Find the documents that hold items of evaluations",
		Long: `Find the documents of a corpus that hold items of evaluations, such as the questions of a
benchmark, and say which items they are. 'ndd help passages' says which command answers which
question.

--evals names files, folders and patterns, and may be given several times: JSON lines, JSON, CSV or
Parquet with a field for the question and one for its answer, or texts, each of which is an item;
of a list of answers, such as answers.text[] of SQuAD, the first one counts.
A file is a set, and so is each file or folder in a folder that is named.

The question alone is looked for, word by word; case, punctuation and line ends do not matter. A
character of Chinese, Japanese, Thai and the like counts as a word, or as half of one for
--min-words. An item is found by 13 words in a row that a document holds, by 8 if it has fewer than
104, by 5 if it has fewer than 24; from there on it may have gaps of up to 3 words. So an item with
one word of each 15 changed is found. A gap at the beginning or end of an item, where no equal word
follows, is not covered. Without a run of 13 words an item is a hit only if half of its weight by
items alone is covered, or --threshold of it if that is less. Items of fewer than 8 words are found
only as a whole, those of fewer than --min-words are left out.

The score of a hit is the share of the item that stands in the document, 0 to 1, in runs of equal
words and the gaps between. A word counts the less, the more items and the more documents have it
in the same surroundings: its weight is 1 divided by the number of items that have the same 13, 8
or 5 words and by the number of documents, at most --common, squared; 8 and more words in a row that
are missing count twice. So a document that has only the instructions of a test, or a law or licence
that the corpus has elsewhere, too, is no hit. All documents are counted, in the same pass; no sample
is taken, and their order does not matter. An item of fewer than 8 words that stands in more than
--common documents is a phrase and no hit. Words in a row that items have more than 32 times find
none of them; an item without any other is left out.

Of the items of one template a passage is listed for the one that fits best: most of its words are
there. An item whose words all stand there is listed in any case, once for each set. The table has a
row for each document and item: from and to are bytes of the document's text, from_char and to_char
characters; run is the longest run of equal words, words the length of the item, covered the share of
its words that the document has, score the same by weight. Both are rounded to four digits, and
--threshold is compared with the exact score. answer is 1 if the answer stands within 64 words of it:
all of it, or 8 words in a row. Rows are lines, records or rows of the file, from 1, and empty where a
file is one document.

--sets FILE writes a table of the sets: their items, those left out because they are short, or
because they share all they have, phrases, those met, those met with their answer, and documents.

--write-kept DIR copies the inputs to a new folder without the documents that have hits, as
'ndd dedup' does; with it or --annotate the table is written only with -o. --annotate DIR copies
them with all documents, and adds two fields: ndd_items, a list of a document's hits with what the
table has of them, and ndd_score, the highest score; both are null without a hit. In CSV and
Parquet they are columns behind the others, the list as JSON in a string. Documents in other
formats, and files that have one of the fields, are refused before the work.

--work DIR keeps, for each file of the inputs, what its documents hold of the items, and finished
copies of --write-kept, until all are there. When the command was stopped, the same one goes on: it
takes over the files that it had read, with any --common, and reads those again that have changed or
were read with other items or options, which it names. DIR must be on the file system that the copies
are written to, and can be removed at any time between runs.

The exit status is 4 if inputs could not be read, or items were left out.`,
		Example: `  ndd decontaminate --evals evals/ -o hits.tsv --sets sets.tsv crawl-*.jsonl.gz
  ndd decontaminate --evals gsm8k.jsonl --evals mmlu/ --write-kept clean crawl-*.jsonl.zst
  ndd decontaminate --evals exam.csv --question text --answer key --threshold 0.6 docs.parquet`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args) },
	}
	p.docs.RegisterReading(cmd)
	p.format.Register(cmd)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&p.evals, "evals", nil, "files, folders or patterns with the items; may be repeated")
	f.StringVar(&p.o.Question, "question", "", "of items: the field with the question (default: question, problem, prompt, "+
		"query, text or the like, whichever is there)")
	f.StringVar(&p.o.Answer, "answer", "", "of items: the field with the answer (default: answer, solution, "+
		"canonical_solution, target, answers or answers.text[], whichever is there)")
	f.IntVar(&p.o.MinWords, "min-words", decontaminate.DefaultMinWords, "leave out items with fewer words")
	f.Float64Var(&p.o.Threshold, "threshold", decontaminate.DefaultThreshold,
		"the least score of a hit, above 0 and at most 1")
	f.IntVar(&p.o.Common, "common", decontaminate.DefaultCommon, "documents with the same words beyond which more "+
		"do not lower their weight; more make a short item a phrase")
	f.StringVarP(&p.out, "output", "o", "", "file for the table (default: standard output)")
	f.StringVar(&p.sets, "sets", "", "file for a table of the sets (.tsv, .jsonl or .parquet)")
	f.StringVar(&p.writeKept, "write-kept", "", "folder to create with copies of the inputs, without documents that have hits")
	f.StringVar(&p.annotate, "annotate", "", "folder to create with copies of the inputs that have the items in fields "+
		"beside the text")
	f.StringVar(&p.memory, "memory", "", "memory limit, such as 4GiB (default: what is available)")
	f.StringVar(&p.work, "work", "", "folder that keeps what the files hold of the items, and finished copies, so that "+
		"the same command goes on after a stop")
	return cmd
}

// decontamination is one run of the command.
type decontamination struct {
	g                   *cli.Files
	docs                cli.DocumentFlags
	format              cli.TableFormat
	setsFormat          result.Format
	evals               []string
	out, sets, memory   string
	writeKept, annotate string
	work                string
	o                   decontaminate.Options
}

func (p *decontamination) options() error {
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
func (p *decontamination) tabled() bool { return p.writeKept+p.annotate == "" || p.out != "" }

func (p *decontamination) run(ctx context.Context, inputs []string) (err error) {
	if slices.Contains(p.evals, input.Stdin) && slices.Contains(inputs, input.Stdin) {
		return cli.Usagef("--evals and the inputs cannot both be standard input: write the items to a file first")
	}
	if err := cmp.Or(p.options(), p.g.CheckWork(p.work, inputs), cli.ReadOnce(p.evals), cli.ReadOnce(inputs)); err != nil {
		return err
	}
	config, err := p.docs.Config(p.g, nil)
	if err != nil {
		return err
	}
	to := folders{Outputs: p.g.NewOutputs(false)}
	defer to.Abort()
	if err := to.begin(ctx, inputs, config.Document, p.writeKept, p.annotate, decontaminate.Annotations); err != nil {
		return err
	}
	_, room, err := reserve(p.g, &p.docs, p.memory, &config)
	if err != nil {
		return err
	}
	defer room.Release()
	items, partlyItems, err := p.readItems(ctx, config)
	if err != nil {
		return err
	}
	w, bar, err := p.g.BeginReading(ctx, inputs, &config, p.work)
	if err != nil {
		return err
	}
	defer w.Close(&err)
	r, report, err := decontaminate.Find(ctx, inputs, config, items, p.g.Disk, "")
	bar.End()
	if err != nil {
		return err
	}
	defer r.Close()
	w.KeepCopies(to.kept)
	partly := cmp.Or(p.g.Ingested(report), partlyItems)
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
	if p.sets != "" {
		if err := to.Table(p.sets, p.setsFormat, setColumns, func(w *result.TableWriter) error {
			return writeSets(w, r.Sets)
		}); err != nil {
			return err
		}
	}
	if _, err := to.fill(ctx, r); err != nil { // whole documents go
		return err
	}
	if err := to.Commit(); err != nil {
		return err
	}
	w.Done()
	p.say(r, report.Documents)
	return partly
}

// readItems reads the items. partly is cli.ErrPartly if some were left out.
func (p *decontamination) readItems(ctx context.Context, config ingest.Config) (
	x *decontaminate.Items, partly, err error) {
	config.Document.Format, config.Document.IDField, config.Document.Chosen = format.Auto, "", nil
	config.Document.Meter = &input.Meter{}
	bar := p.g.Progress.NewInputBar(ctx, "reading items", p.evals, config.Document)
	x, report, err := decontaminate.ReadItems(ctx, p.evals, config, p.o)
	bar.End()
	question := func(err error) string { return strings.ReplaceAll(err.Error(), "--text names", "--question names") }
	if errors.As(err, new(*format.FieldError)) {
		return nil, nil, errors.New(question(err))
	}
	if err != nil {
		return nil, nil, err
	}
	for _, s := range report.Skipped.Examples {
		p.g.Log.Warn("skipped " + question(s))
	}
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
	if all.Short > 0 {
		p.g.Log.Warn(fmt.Sprintf("left out %s of fewer than %s: --min-words sets the least",
			cli.Number(all.Short, "item"), cli.Number(p.o.MinWords, "word")))
	}
	if all.Shared > 0 {
		p.g.Log.Warn(fmt.Sprintf("left out %s: more than 32 items share all that they have, or they repeat it",
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
	setColumns = cli.ColumnsOf("set items:i short:i shared:i phrases:i met:i answered:i documents:i")
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
func (p *decontamination) say(r *decontaminate.Result, documents int) {
	met, phrases := 0, 0
	for i, s := range r.Sets {
		met += s.Met
		phrases += s.Phrases
		if i < cli.NamedMax {
			p.g.Log.Info(fmt.Sprintf("%s: %s of %s met, %s with the answer near, in %s", s.Name, humanize.Comma(int64(s.Met)),
				cli.Number(s.Items, "item"), humanize.Comma(int64(s.Answered)), cli.Number(s.Documents, "document")))
		}
	}
	cli.SaySome(p.g.Log.Info, len(r.Sets)-cli.NamedMax, "set", " more; --sets writes a table of all")
	msg := fmt.Sprintf("%s of %s with items; %s met", humanize.Comma(int64(r.Met)), cli.Number(documents, "document"),
		cli.Number(met, "item"))
	if phrases > 0 {
		msg += fmt.Sprintf("; %s in more than %s: taken for phrases", cli.Number(phrases, "short item"),
			cli.Number(p.o.Common, "document"))
	}
	p.g.Log.Info(msg)
}
