// Package passages holds the commands passages, which lines, paragraphs, sentences or strings of a corpus
// are repeated in it, and decontaminate, which of its documents hold items of evaluations.
package passages

import (
	"cmp"
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/rewrite"
	"ndd/engine/memory"
	"ndd/engine/passages"
	"ndd/engine/result"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newPassages(g.NewFiles()), newDecontaminate(g.NewFiles())}
}

func newPassages(g *cli.Files) *cobra.Command {
	p := &finding{g: g}
	cmd := &cobra.Command{
		Use:   "passages (--unit UNIT | --bytes N | --words N) INPUT...",
		Short: "Find repeated lines, paragraphs, sentences or strings",
		Long: `Find the parts of documents that stand elsewhere in the inputs, too, and list them: exactly
those, whatever is repeated how often.

Which command answers which question:

  dedup      Which documents are nearly the same as others? Whole documents, by fingerprints.
             ndd dedup --keep longest --write-kept clean crawl.jsonl
  copies     Which documents have much of another one in them? Pairs, by selected signatures:
             most passages of 40 words and more are found, few of 20 words.
             ndd copies --method winnow docs.jsonl
  passages   Which lines, paragraphs, sentences or strings stand more than once? All of them.
             ndd passages --bytes 100 --write-kept clean crawl.jsonl
  decontaminate
             Which documents hold these test questions, whole or with words changed? By question.
             ndd decontaminate --evals questions.jsonl --write-kept clean crawl.jsonl

--unit line, paragraph or sentences=3 (three sentences in a row) compares units by a hash of
128 bits. A paragraph ends with the blank lines behind it. A sentence ends behind . ! ? … before
white space, behind 。！？； anywhere, and with its line; a document of two sentences has no three
in a row. White space does not matter; --ignore case,space,digits ignores more (characters are
taken to lower case one by one, digits to 0), --ignore none nothing but white space at the end.
Units of fewer than --min-chars characters are left alone.

--bytes 100 compares strings: every part of a text that is covered by strings of 100 bytes
that stand elsewhere, too, byte by byte, wherever they begin, overlapping or not. Those that
follow each other here and in the first place are one span: a page that was copied whole is one.
Spans begin and end with whole characters. With --cut words they have whole words; of what goes
between two words, one blank stays.

--words 50 compares strings of 50 words in the same way, whatever case they are in and whatever
stands between them; a character of Chinese, Japanese, Thai and the like is a word. A word of a
span goes up to the next one.

The table has a row for each span: from and to are bytes of the document's text, from_char and
to_char characters; count is the number of places, for a span of several windows the most of
any; first_from is where the same stands first, first_id in which document, and kept is 1 where
that is the span itself. Spans of strings and of sentences in a row may overlap: they are those
that stand first in different places. Rows are lines, records or rows of the file, from 1, and
empty where a file is one document.

The first place, in order of the inputs, is kept, as a whole, also where it overlaps a span that
goes: what was repeated still stands once. With --strike-all it goes, too. --across-only leaves
alone what only one document has, and the first document that has it. --max-share 0.5 leaves a
document whole of which more would go; with --over drop it goes.

--write-kept DIR copies the inputs to a new folder without the spans that go; with it or --annotate
the table is written only with -o. In JSONL and JSON the string of the text is shortened, in lines and text
files the text; everything else stays byte for byte, compressed as it was (xz and bzip2 become
.zst). A document of which only white space would be left goes as a whole. Of other formats and of
HTML, and where invalid characters were replaced, documents stay whole unless they go as a whole:
they are counted by file, and the exit status is 4. File names are relative to the deepest folder
that holds all inputs. --dry-run says how much of each file would go.

--annotate DIR copies the inputs with all text and adds two fields to each document: ndd_spans,
a list of its spans with what the table has of them, and ndd_repeated, the share of its text
that goes. In JSONL and JSON they stand behind the other fields, in CSV and Parquet as columns
behind the others, the list as JSON in a string. Documents in other formats, and files that have
one of the fields, are refused before the work.

Texts, or for units 40 bytes each, for words 24, go through temporary files ($TMPDIR), and so do marks of strings
that do not fit the memory. --memory bounds that; reading takes 250 MiB with the default
--max-document.

--work DIR keeps, for each file of the inputs, the hashes of its units, some 20 bytes each. When the
command was stopped, the same one goes on: it takes over the files that it had read, and reads those
again that have changed or were read with other options, which it names. Of strings the texts would
have to be kept, which takes more time than reading them again: they are read again. Finished copies
of --write-kept are kept in any case until all are there, and taken over where the same goes; DIR must
be on the file system that the copies are written to. It can be removed at any time between runs.`,
		Example: `  ndd passages --unit line --min-chars 40 -o lines.tsv crawl-*.jsonl.gz
  ndd passages --unit sentences=3 --ignore case,space,digits --across-only -o spans.parquet docs/
  ndd passages --bytes 100 --cut words docs.jsonl
  ndd passages --bytes 100 --max-share 0.8 --over drop --write-kept clean crawl-*.jsonl.zst
  ndd passages --bytes 100 --annotate noted crawl-*.jsonl.gz
  ndd passages --unit paragraph --dry-run docs/ more/`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args) },
	}
	p.docs.RegisterReading(cmd)
	p.format.Register(cmd)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	f := cmd.Flags()
	f.StringVar(&p.unit, "unit", "", "what is compared: line, paragraph, or sentences=3 for three sentences in a row")
	f.IntVar(&p.bytes, "bytes", 0, fmt.Sprintf("compare strings of at least so many bytes, %d to %d", passages.BytesMin,
		passages.BytesMax))
	f.IntVar(&p.words, "words", 0, fmt.Sprintf("compare strings of at least so many words, %d to %d", passages.WordsMin,
		passages.WordsMax))
	f.StringVar(&p.ignore, "ignore", "space", "of units: what does not matter: case, space, digits, several with commas, "+
		"or none")
	f.IntVar(&p.o.MinChars, "min-chars", 20, "of units: leave those with fewer characters alone")
	f.IntVar(&p.o.MinCount, "min-count", 2, "leave alone what stands at fewer places")
	f.BoolVar(&p.o.AcrossOnly, "across-only", false, "leave repetition within one document alone")
	f.BoolVar(&p.o.StrikeAll, "strike-all", false, "count the first place as going, too")
	f.Float64Var(&p.o.MaxShare, "max-share", 0, "share of a document that may go, 0 to 1; 0 is no limit")
	cli.ValueVar(f, &p.o.Drop, "over", "a document of which more would go than --max-share: keep it whole, or drop it",
		[]string{"keep", "drop"}, false, true)
	cli.ValueVar(f, &p.o.CutWords, "cut", "of strings: begin and end with whole chars, or with whole words",
		[]string{"chars", "words"}, false, true)
	f.StringVarP(&p.out, "output", "o", "", "file for the table (default: standard output)")
	f.StringVar(&p.writeKept, "write-kept", "", "folder to create with copies of the inputs, without the spans that go")
	f.StringVar(&p.annotate, "annotate", "",
		"folder to create with copies of the inputs, all documents with fields that list their spans")
	f.BoolVar(&p.dryRun, "dry-run", false, "write nothing: report how much would go, by source")
	f.StringVar(&p.memory, "memory", "", "memory limit, such as 4GiB (default: what is available)")
	f.StringVar(&p.work, "work", "", "folder that keeps finished copies, and with --unit what was read, so that the same "+
		"command goes on after a stop")
	return cmd
}

// finding is one run of the command.
type finding struct {
	g                 *cli.Files
	docs              cli.DocumentFlags
	format            cli.TableFormat
	unit, ignore, out string
	memory, writeKept string
	annotate, work    string
	bytes, words      int
	dryRun            bool
	o                 passages.Options
}

// given returns how many of the flags that choose the unit are given.
func (p *finding) given() (n int) {
	for _, flag := range []string{"unit", "bytes", "words"} {
		if p.g.Given[flag] {
			n++
		}
	}
	return n
}

func (p *finding) options() (err error) {
	o := &p.o
	switch {
	case p.given() != 1:
		return cli.Usagef("say what is compared: --unit line, paragraph or sentences=3, --bytes 100, or --words 50")
	case o.MinCount < 2:
		return cli.Usagef("--min-count %d: must be at least 2", o.MinCount)
	case !(o.MaxShare >= 0 && o.MaxShare <= 1):
		return cli.Usagef("--max-share %g: must be 0 to 1", o.MaxShare)
	case p.g.Given["over"] && o.MaxShare == 0:
		return cli.Usagef("--over applies only with --max-share")
	}
	if p.unit != "" {
		if o.Unit, err = passages.ParseUnit(p.unit); err != nil {
			return cli.Usagef("--unit %w", err)
		}
		if o.Ignore, err = passages.ParseIgnore(p.ignore); err != nil {
			return cli.Usagef("--ignore %w", err)
		}
	} else if err := p.g.Refuse("applies only with --unit", "ignore", "min-chars"); err != nil {
		return err
	}
	if p.g.Given["bytes"] {
		if o.Unit = (passages.Unit{Kind: passages.Bytes, Length: p.bytes}); p.bytes < passages.BytesMin ||
			p.bytes > passages.BytesMax {
			return cli.Usagef("--bytes %d: must be %d to %d", p.bytes, passages.BytesMin, passages.BytesMax)
		}
	} else if err := p.g.Refuse("applies only with --bytes", "cut"); err != nil {
		return err
	}
	if p.g.Given["words"] {
		if o.Unit = (passages.Unit{Kind: passages.Words, Length: p.words}); p.words < passages.WordsMin ||
			p.words > passages.WordsMax {
			return cli.Usagef("--words %d: must be %d to %d", p.words, passages.WordsMin, passages.WordsMax)
		}
	}
	if err := p.format.CheckFile(p.g, p.out); err != nil {
		return err
	}
	if p.dryRun {
		return p.g.Refuse("applies only without --dry-run, which writes nothing", "output", "format")
	}
	return p.g.CheckOutput(p.out, columns...)
}

// reserve returns the budget that --memory allows, and a reservation in it of the memory that reading
// takes by the settings, whose share it sets.
func reserve(g *cli.Files, docs *cli.DocumentFlags, most string, config *ingest.Config) (*memory.Budget,
	*memory.Reservation, error) {
	budget, err := g.Budget(most)
	if err != nil {
		return nil, nil, err
	}
	config.Budget = int64(max(budget.Left()/4, 1))
	room, err := budget.Reserve("reading", config.NeedBytes())
	if err != nil {
		err = memory.Advise(err, "a lower --max-document than "+docs.MaxDocument+" needs less")
	}
	return budget, room, err
}

func (p *finding) run(ctx context.Context, inputs []string) (err error) {
	if err := cmp.Or(p.options(), p.g.CheckWork(p.work, inputs), cli.ReadOnce(inputs)); err != nil {
		return err
	}
	config, err := p.docs.Config(p.g, nil)
	if err != nil {
		return err
	}
	to := folders{Outputs: p.g.NewOutputs(p.dryRun)} // before the work, so that a wrong name costs nothing
	defer to.Abort()
	if err := to.begin(ctx, inputs, config.Document, p.writeKept, p.annotate, passages.Annotations); err != nil {
		return err
	}
	budget, room, err := reserve(p.g, &p.docs, p.memory, &config)
	if err != nil {
		return err
	}
	defer room.Release()
	p.o.Threads, p.o.Disk = p.g.Threads, p.g.Disk
	p.o.MemoryBytes = int64(max(min(budget.Left()/2, marksBytes), 1))
	w, bar, err := p.g.BeginReading(ctx, inputs, &config, p.work)
	if err != nil {
		return err
	}
	defer w.Close(&err)
	r, report, err := passages.Find(ctx, inputs, config, p.o)
	bar.End()
	if err != nil {
		return err
	}
	defer r.Close()
	w.KeepCopies(to.kept)
	partly := p.g.Ingested(report)
	t := totals{bySource: map[string]*share{}}
	if p.dryRun || p.writeKept+p.annotate != "" && p.out == "" {
		for d := range r.Documents() {
			t.add(&d)
		}
	} else if err := to.Table(p.out, p.format.Format, columns, func(w *result.TableWriter) error {
		for d := range r.Documents() {
			t.add(&d)
			if err := p.writeSpans(w, r, &d); err != nil {
				return err
			}
		}
		return ctx.Err()
	}); err != nil {
		return err
	}
	if !p.dryRun {
		uncut, err := to.fill(ctx, r)
		if err == nil {
			err = to.Commit()
		}
		if err != nil {
			return err
		}
		partly = cmp.Or(partly, uncut)
		w.Done()
	}
	p.say(&t, r)
	return partly
}

// folders are the output folders; those of copies are nil where none was requested.
type folders struct {
	cli.Outputs
	kept, annotated *cli.CopyFolder
}

// begin begins the folders of --write-kept and --annotate, which adds fields.
func (to *folders) begin(ctx context.Context, inputs []string, opts format.Options, writeKept, annotate string,
	fields []result.Column) (err error) {
	if writeKept != "" {
		err = cli.ReadTwice("--write-kept", inputs)
	}
	if err == nil {
		to.kept, err = to.Copies(ctx, inputs, writeKept)
	}
	if err == nil && annotate != "" {
		err = cli.ReadTwice("--annotate", inputs)
	}
	if err == nil {
		to.annotated, err = to.Annotations(ctx, inputs, annotate, opts, fields)
	}
	return err
}

// A rewriter copies inputs.
type rewriter interface {
	Copy(context.Context, *rewrite.Target) (rewrite.Report, error)
	Annotate(context.Context, *rewrite.Target) (rewrite.Report, error)
}

// fill fills the folders of copies. partly is cli.ErrPartly if documents have spans that could not be cut out.
func (to *folders) fill(ctx context.Context, r rewriter) (partly, err error) {
	report, err := to.kept.Refill(ctx, "copying", r.Copy)
	if err != nil {
		return nil, err
	}
	if len(report.Uncut) > 0 {
		partly = cli.ErrPartly
	}
	_, err = to.annotated.Refill(ctx, "annotating", r.Annotate)
	return partly, err
}

// marksBytes is the most memory that is taken for marks: more makes runs that are no faster to merge.
const marksBytes = 64 << 20

var columns = cli.ColumnsOf("id file row:i? unit from:i to:i from_char:i to_char:i count:i kept:b " +
	"first_id first_file first_row:i? first_from:i")

func (p *finding) writeSpans(w *result.TableWriter, r *passages.Result, d *passages.Document) error {
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

// A share is what of some documents goes.
type share struct{ documents, cut, spans, beyond, cutBytes int }

// totals are shares of documents with spans, by file and of all.
type totals struct {
	share
	bySource map[string]*share
	sources  []string
}

func (t *totals) add(d *passages.Document) {
	of, ok := t.bySource[d.Source]
	if !ok {
		of = &share{}
		t.bySource[d.Source], t.sources = of, append(t.sources, d.Source)
	}
	for _, s := range []*share{of, &t.share} {
		s.documents++
		s.spans += d.Spans
		s.cutBytes += d.CutBytes()
		if len(d.Cuts) > 0 {
			s.cut++
		}
		if d.Beyond {
			s.beyond++
		}
	}
}

// say reports the result, with --dry-run by source.
func (p *finding) say(t *totals, r *passages.Result) {
	if p.dryRun {
		for i, name := range t.sources {
			if i == cli.NamedMax {
				p.g.Log.Info(fmt.Sprintf("%s more with repeated text", cli.Number(len(t.sources)-i, "file")))
				break
			}
			s := t.bySource[name]
			p.g.Log.Info(fmt.Sprintf("%s: %s would go of %s with repeated text", name,
				humanize.IBytes(uint64(s.cutBytes)), cli.Number(s.documents, "document")))
		}
	}
	if !r.Windows() {
		p.g.Log.Warn(fmt.Sprintf("no document is long enough for %s: nothing was compared", p.o.Unit))
	}
	msg := fmt.Sprintf("found %s in %s of %s; %s repeat earlier text, %.3g %% of all, in %s", cli.Number(t.spans, "span"),
		humanize.Comma(int64(t.documents)), cli.Number(r.Len(), "document"), humanize.IBytes(uint64(t.cutBytes)),
		100*float64(t.cutBytes)/float64(max(r.TextBytes(), 1)), cli.Number(t.cut, "document"))
	if t.beyond > 0 {
		what := "kept whole"
		if p.o.Drop {
			what = "dropped"
		}
		msg += fmt.Sprintf("; %s of which more than --max-share would go: %s", cli.Number(t.beyond, "document"), what)
	}
	p.g.Log.Info(msg)
	if p.dryRun {
		p.g.Log.Info("dry run: nothing was written")
	}
}
