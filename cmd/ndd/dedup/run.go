package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/near/source"
	"example.org/ndd/engine/storage/store"
)

// run checks the settings, claims the outputs, so that a wrong name costs nothing, decides, and writes.
func run(ctx context.Context, g *cli.Files, f *flags, inputs []string) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err) // temporary files are mapped
	s, err := newSettings(g, f, inputs)
	if err != nil {
		return err
	}
	j := &job{g: g, flags: f, settings: s}
	to, err := j.newOutputs(ctx)
	defer to.Abort()
	if err != nil {
		return err
	}
	defer func() { j.work.Close(&err) }()
	c, r, partly, err := j.decide(ctx)
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return j.explain(err)
	}
	return cmp.Or(j.finish(ctx, to, c, r), partly)
}

// decide reads the inputs and finds the duplicates. partly is [cli.ErrPartly] if some input was skipped.
func (j *job) decide(ctx context.Context) (c *dedup.Corpus, r *dedup.Result, partly, err error) {
	known, err := j.openKnown(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer known.Close()
	if j.fingerprints {
		c, err = j.readPrints(ctx, known)
	} else {
		c, partly, err = j.readDocuments(ctx, known)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	r, err = j.find(ctx, c)
	return c, r, partly, err
}

// readDocuments fingerprints the inputs, by the recipe of the known documents if there are any.
func (j *job) readDocuments(ctx context.Context, known *knownSet) (c *dedup.Corpus, partly, err error) {
	config, err := j.flags.docs.Config(j.g, known.recipe())
	if err != nil {
		return nil, nil, err
	}
	config.Exact = j.finding.Exact
	var bar *cli.Bar
	if j.work, bar, err = j.g.BeginReading(ctx, j.inputs, &config, j.flags.work); err != nil {
		return nil, nil, err
	}
	if j.work != nil {
		defer j.work.Complete()
	}
	if err := known.check(j.readOptions.Sketches, j.inputs[0], &j.finding); err != nil {
		return nil, nil, err
	}
	c, report, err := dedup.ReadDocuments(ctx, j.inputs, config, j.readOptions)
	bar.End()
	if err != nil {
		if c == nil {
			err = memory.Advise(err, "a lower --max-document than "+j.flags.docs.MaxDocument+" needs less")
		}
		return nil, nil, err
	}
	for _, m := range c.Missing() {
		j.g.Log.Warn(missingText(m, c.Len()))
	}
	j.logMemory("reading", 0)
	debug.FreeOSMemory() // the comparison reserves memory that the reading used
	j.skips = report.Skipped
	return c, j.g.Report(report), nil
}

// readPrints reads fingerprint files. Without sketches fingerprints decide alone.
func (j *job) readPrints(ctx context.Context, known *knownSet) (*dedup.Corpus, error) {
	c, err := dedup.ReadPrints(ctx, j.inputs, j.readOptions)
	if errors.Is(err, ndf.ErrSketches) {
		err = fmt.Errorf("%w: "+sketchesHint, err)
	}
	if err != nil {
		return nil, err
	}
	if j.readOptions.Sketches && !c.HasSketches() {
		j.finding.Rule = nil
		if !j.flags.changed("distance") {
			j.finding.K = aloneK
		}
		subject := j.inputs[0] + " has"
		if len(j.inputs) > 1 {
			subject = "the inputs have"
		}
		j.g.Log.Info(fmt.Sprintf("unverified: %s no sketches, so fingerprints decide alone, with k = %d", subject, j.finding.K))
	}
	if err := known.check(c.HasSketches(), j.inputs[0], &j.finding); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// sketchesHint says what to do if only some inputs have sketches.
const sketchesHint = "make its fingerprints again, or compare fingerprints alone with --threshold 0"

// missingText returns the sentence with the number of documents that have no value for a policy of --keep.
func missingText(m keep.Missing, documents int) string {
	value := fmt.Sprintf("field %q", m.Field)
	if m.Policy == keep.Newest {
		value = "date"
	}
	text := fmt.Sprintf("--keep %s: no %s in %s of %s, ranked last", m.By, value, humanize.Comma(int64(m.Documents)),
		cli.Number(documents, "document"))
	if m.NoDate != "" {
		text += fmt.Sprintf("; not a date: %.40q", m.NoDate)
	}
	return text
}

// find finds the pairs of similar documents, verifies them, and settles which documents are dropped.
func (j *job) find(ctx context.Context, c *dedup.Corpus) (*dedup.Result, error) {
	if text := slowText(c.Len(), j.finding.K); text != "" && !j.finding.Exact {
		j.g.Log.Warn(text)
	}
	j.finding.Meter = &cluster.Meter{}
	bar := j.g.Progress.NewCompareBar("comparing", j.finding.Meter)
	defer func() { bar.End() }()
	if t := j.finding.Texts; t != nil {
		t.Meter = &input.Meter{}
		t.Begin = func() {
			bar.End()
			bar = j.g.Progress.NewInputBar(ctx, "verifying", j.inputs, format.Options{Meter: t.Meter})
		}
	}
	r, err := dedup.Find(ctx, c, j.finding)
	if err == nil {
		j.logMemory("comparing "+cli.Number(c.Len(), "document"), r.Spilled)
	}
	return r, err
}

// slowText returns a warning if comparing n fingerprints takes long, and "" otherwise. The time grows with the square
// of n for large k, so a corpus that is ten times as large as the last one can take a hundred times as long.
func slowText(n, k int) string {
	const long = 30 * time.Minute
	needed, least := cluster.CPUTime(n, k), cluster.CPUTime(n, aloneK)
	if needed < long || k <= aloneK {
		return ""
	}
	return fmt.Sprintf("comparing %s with k = %d takes about %v of CPU time, and with -k %d about %v; see ndd help corpus",
		cli.Number(n, "fingerprint"), k, needed.Round(time.Minute), aloneK, least.Round(time.Second))
}

// logMemory reports the memory that was reserved for a task, at its peak, and the size of its temporary files.
func (j *job) logMemory(task string, spilled uint64) {
	budget, suffix := j.readOptions.Budget, ""
	if spilled > 0 {
		suffix = ", and " + humanize.IBytes(spilled) + " in temporary files"
	}
	j.g.Log.Debug(fmt.Sprintf("%s took up to %s of memory, of %s (%s)%s", task, humanize.IBytes(budget.Peak()),
		humanize.IBytes(budget.Limit().Bytes), budget.Limit().Source, suffix))
}

// finish publishes the outputs and reports the result, unless more would be dropped than --max-drop allows.
func (j *job) finish(ctx context.Context, to *outputs, c *dedup.Corpus, r *dedup.Result) error {
	if excesses := dedup.Excesses(r); len(excesses) > 0 {
		j.summarize(c, r)
		j.sayExcesses(excesses)
		j.g.OKStatus = 0 // nothing is done
		return cli.ErrPartly
	}
	if j.flags.dryRun {
		j.summarize(c, r)
		j.g.Log.Info("dry run: nothing was written")
		return nil
	}
	if err := j.write(ctx, to, c, r); err != nil {
		return err
	}
	if err := to.Commit(); err != nil {
		return err
	}
	j.work.Done()
	j.summarize(c, r)
	return nil
}

// explain makes an error about a field that no document has one of the flag that names the field.
func (j *job) explain(err error) error {
	_, isSource := errors.AsType[source.Error](err)
	switch isKeep := errors.Is(err, keep.ErrNoValue); {
	case isKeep && slices.Contains(j.readOptions.Keep, keep.By{Policy: keep.Newest}) && !j.fingerprints:
		return fmt.Errorf("%w; --keep newest:FIELD names the field with the date", cli.Usagef("--%w", err))
	case errors.Is(err, dedup.ErrNoHashes):
		return cli.Usagef("--verify exact: %w", err)
	case isKeep || isSource:
		return cli.Usagef("--%w", err)
	}
	return err
}
