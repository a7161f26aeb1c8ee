package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/text"
)

// DocumentFlags are the flags for reading and fingerprinting documents.
type DocumentFlags struct {
	Format, text, id, Recipe, MaxDocument string
	extract                               string
	strict                                bool
}

// Register adds the flags to cmd.
func (d *DocumentFlags) Register(cmd *cobra.Command) {
	d.RegisterReading(cmd)
	cmd.Flags().StringVar(&d.Recipe, "recipe", "", "minwise (default), minwise-pairs, simhash or a file")
}

// RegisterFields adds the flags for the format and the fields of documents alone.
func (d *DocumentFlags) RegisterFields(cmd *cobra.Command) {
	f := cmd.Flags()
	d.MaxDocument = maxDocument
	f.StringVar(&d.Format, "input-format", "auto", "auto, text, html, jsonl, json, lines, csv, parquet or warc")
	f.Var(onceFlag{&d.text}, "text", "field with the text (default: text, content, body or similar)")
	f.Var(onceFlag{&d.id}, "id", "field with the ID (default: id, url or similar; else file:line)")
}

// A onceFlag is the value of a flag that must not be given twice, because the first value would be lost.
type onceFlag struct{ value *string }

func (f onceFlag) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

func (f onceFlag) Set(value string) error {
	if *f.value != "" {
		return fmt.Errorf("given twice, as %s and %s: give it once", *f.value, value)
	}
	if strings.Contains(","+value+",", ",,") {
		return errors.New("a name is empty")
	}
	*f.value = value
	return nil
}

func (onceFlag) Type() string { return "string" }

// maxDocument is the default of --max-document.
const maxDocument = "64MiB"

// RegisterScanning adds the flags that determine the documents of a file.
func (d *DocumentFlags) RegisterScanning(cmd *cobra.Command) {
	d.RegisterFields(cmd)
	f := cmd.Flags()
	f.StringVar(&d.MaxDocument, "max-document", maxDocument, "skip longer documents")
	f.StringVar(&d.extract, "extract", "", "text of HTML: main, all or auto (default)")
}

// RegisterReading adds the flags for reading documents, for a command that makes no fingerprints of them.
func (d *DocumentFlags) RegisterReading(cmd *cobra.Command) {
	d.RegisterScanning(cmd)
	cmd.Flags().BoolVar(&d.strict, "strict", false, "fail at unreadable input instead of skipping it")
}

// DocumentFlagNames are the names of the flags that [DocumentFlags.Register] adds.
var DocumentFlagNames = []string{"input-format", "text", "id", "recipe", "max-document", "strict", "extract"}

// Config returns the configuration of package ingest. If recipe is not nil, it is the recipe of an index, and the
// flags must agree with it.
func (d *DocumentFlags) Config(g *Files, recipe *simhash.Recipe) (ingest.Config, error) {
	c := ingest.Config{Threads: g.Threads, Stdin: g.Stdin}
	// Set how documents are read.
	kind, err := format.ParseFormat(d.Format)
	if err != nil {
		return c, Usagef("%w", err)
	}
	limit, err := humanize.ParseBytes(d.MaxDocument)
	if err != nil || limit == 0 || limit > 1<<40 {
		return c, Usagef("--max-document %q: must be a size such as 64MiB, at most 1TiB", d.MaxDocument)
	}
	c.Document = format.Options{Format: kind, TextField: d.text, IDField: d.id, Strict: d.strict,
		MaxDocumentBytes: int64(limit),
		Chosen:           g.fieldLogger()}
	if err := g.Skipped.begin(g, &c); err != nil {
		return c, err
	}
	// Choose the recipe. The recipe of an index takes precedence.
	if c.Recipe, err = RecipeOf(d.Recipe); err != nil {
		return c, err
	}
	switch {
	case recipe != nil && d.Recipe == "":
		c.Recipe = *recipe
	case recipe != nil:
		if c.Recipe.Name() != "" { // the name of a recipe does not determine Extract
			c.Recipe.Extract = recipe.Extract
			c.Recipe = c.Recipe.WithKeyOf(recipe)
		}
		if err := simhash.Compatible("--recipe "+d.Recipe, &c.Recipe, "the index", recipe); err != nil {
			return c, err
		}
	}
	if err := d.chooseText(&c, recipe != nil); err != nil {
		return c, err
	}
	_, err = simhash.New(c.Recipe) // reads the files of the recipe
	return c, err
}

// chooseText applies --extract, which is part of the recipe. fixed is true if the recipe belongs to an index.
func (d *DocumentFlags) chooseText(c *ingest.Config, fixed bool) error {
	recipe := c.Recipe
	if d.extract != "" {
		how, err := text.ParseExtraction(d.extract)
		if err != nil {
			return Usagef("--extract %w", err)
		}
		if recipe.Extract = string(how); how == text.ExtractAll {
			recipe.Extract = ""
		}
	}
	if fixed && recipe != c.Recipe {
		return simhash.Compatible("--extract", &recipe, "the index", &c.Recipe)
	}
	c.Recipe, c.Document.Extract = recipe, text.Extraction(recipe.Extract)
	return nil
}

// Ingest fingerprints documents, with a progress bar and a summary. It returns ErrPartly if input was skipped.
func (g *Files) Ingest(ctx context.Context, inputs []string, c ingest.Config, emit func(ingest.Record) error) error {
	if err := ReadOnce(inputs); err != nil {
		return err
	}
	c.Document.Meter = &input.Meter{}
	bar := g.Progress.NewInputBar(ctx, "reading", inputs, c.Document)
	report, err := ingest.Run(ctx, inputs, c, emit)
	bar.End()
	if err == nil {
		err = g.Report(report)
	}
	return err
}

// Report logs a summary, publishes the table of --skipped, and returns ErrPartly if input was skipped.
func (g *Files) Report(report ingest.Report) error {
	// Log the skipped inputs and the summary.
	g.ReportSkipped(&report.Skipped, "--text")
	msg := fmt.Sprintf("%s, %s of text", Number(report.Documents, "document"), humanize.IBytes(uint64(report.TextBytes)))
	if report.TooFew > 0 {
		msg += fmt.Sprintf("; too short for a fingerprint: %s", Number(report.TooFew, "document"))
	}
	if s := report.Skipped.String(); s != "" {
		msg += "; skipped: " + s
	}
	g.Log.Info(msg)
	for _, guess := range report.Guesses {
		g.Log.Info(fmt.Sprintf("read as %s because of their first bytes: %s, such as %s", guess.Format,
			Number(guess.Files, "file"), guess.Example))
	}
	// Warn about inputs, IDs and encodings.
	if report.Units == 0 && !g.noFiles && len(report.Skipped.Examples) == 0 {
		g.Log.Warn("the inputs hold no documents")
	}
	if report.NoID > 0 {
		g.Log.Warn(fmt.Sprintf("%s of %s without a string or number in the field for IDs: file and line are the ID; --id names "+
			"another field",
			humanize.Comma(int64(report.NoID)), Number(report.Documents, "document")))
	}
	if report.Unknown > 0 {
		g.Log.Warn(charsetText(&report))
	}
	if report.Repaired > 0 {
		g.Log.Warn("invalid characters were replaced by U+FFFD in " + Number(report.Repaired, "document"))
	}
	// Publish the table of skipped inputs.
	if err := g.Skipped.commit(); err != nil {
		return err
	}
	if report.Skipped.Lost() > 0 {
		return ErrPartly
	}
	return nil
}

// ReportSkipped logs the inputs that were skipped: each one if there are few for a reason, and otherwise the first one
// and their number. With --verbose it logs the other examples, too. The flag textFlag names the field of the text.
func (g *Globals) ReportSkipped(t *input.Tally, textFlag string) {
	const limit = 3
	reported := map[input.Reason]bool{}
	for _, s := range t.Examples {
		text, n := "skipped "+strings.ReplaceAll(s.Error(), "--text names", textFlag+" names"), t.ByReason[s.Reason]
		switch {
		case n > limit && reported[s.Reason]:
			g.Log.Debug(text)
		case n > limit || s.Reason == input.NoText && n > 1: // there is only one example of records without text
			g.Log.Warn(fmt.Sprintf("%s (and %s more)", text, humanize.Comma(int64(n-1))))
		default:
			g.Log.Warn(text)
		}
		reported[s.Reason] = true
	}
}

// charsetText returns the warning about documents with an unknown, wrong or missing encoding.
func charsetText(r *ingest.Report) string {
	names := make([]string, len(r.Charsets))
	for i, name := range r.Charsets {
		names[i] = strconv.Quote(name)
	}
	return fmt.Sprintf("charset unknown, wrong or not declared, and guessed from the bytes: %s (%s)",
		Number(r.Unknown, "document"), strings.Join(names, ", "))
}

// fieldLogger returns a function that logs the fields that were chosen for a file. It logs each choice once.
func (g *Globals) fieldLogger() func(file string, f format.Fields) {
	reported := map[format.Fields]bool{}
	return func(file string, f format.Fields) {
		if reported[f] {
			return
		}
		reported[f] = true
		id := "no field has IDs"
		if f.ID != "" {
			id = "IDs from " + f.ID
		}
		g.Log.Info(fmt.Sprintf("%s: text from field %s, %s; --text and --id name others", file, f.Text, id))
	}
}

// Extract reads documents with a progress bar. Inputs without any document are an error.
func Extract[R any](ctx context.Context, g *Files, inputs []string, c ingest.Config,
	s ingest.Steps[R]) (ingest.Report, error) {
	if err := ReadOnce(inputs); err != nil {
		return ingest.Report{}, err
	}
	c.Document.Meter = &input.Meter{}
	bar := g.Progress.NewInputBar(ctx, "reading", inputs, c.Document)
	report, err := ingest.Extract(ctx, inputs, c, s)
	bar.End()
	if err == nil && report.Documents == 0 && report.Skipped.Lost() == 0 {
		err = fmt.Errorf("no documents in %s", strings.Join(inputs, " "))
	}
	return report, err
}
