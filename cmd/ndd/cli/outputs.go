package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/corpus/rewrite/droplist"
	"example.org/ndd/engine/result"
)

// Outputs are the folders and tables of a command. None of them appears before all are complete.
type Outputs struct {
	g       *Files
	dryRun  bool
	outputs []publisher
}

// A publisher is an output that appears when it is committed. Abort does nothing after Commit.
type publisher interface {
	Commit() error
	Abort()
}

// NewOutputs returns an empty list of outputs. With dryRun, outputs are only checked and not made. The caller must
// call Abort.
func (g *Files) NewOutputs(dryRun bool) Outputs { return Outputs{g: g, dryRun: dryRun} }

// Folder creates a folder. It returns nil if the path is "", or in a dry run.
func (o *Outputs) Folder(path string) (Folder, error) {
	switch {
	case path == "":
		return nil, nil
	case o.dryRun:
		return nil, o.g.CheckFolder(path)
	}
	f, err := o.g.CreateFolder(path)
	if err == nil {
		o.outputs = append(o.outputs, f)
	}
	return f, err
}

// Table calls fill with a table, which appears with the other outputs. Without a path it is standard output.
func (o *Outputs) Table(path string, f result.Format, columns []result.Column,
	fill func(*result.TableWriter) error) error {
	out, err := o.g.NewOutput(path)
	if err != nil {
		return err
	}
	o.outputs = append(o.outputs, out)
	t := result.NewTableWriter(out, f, columns...)
	if err := fill(t); err != nil {
		return err
	}
	if err := t.Close(); err != nil || out.target == nil { // Close flushes standard output, and reports its error
		return err
	}
	return out.Flush()
}

// Copies creates a folder for copies of inputs, unless the path is "".
func (o *Outputs) Copies(ctx context.Context, inputs []string, path string) (*CopyFolder, error) {
	if path == "" {
		return nil, nil
	}
	to, err := o.Folder(path)
	if err != nil {
		return nil, err
	}
	copies, err := rewrite.NewTarget(ctx, inputs)
	if err != nil {
		return nil, err
	}
	c := &CopyFolder{g: o.g, inputs: inputs, copies: copies, folder: to}
	copies.Create = func(name string, fill func(io.Writer) error) error {
		return c.folder.Write(name, func(w *bufio.Writer) error { return fill(w) })
	}
	return c, nil
}

// Commit publishes all outputs, tables before folders.
func (o *Outputs) Commit() error {
	for _, f := range slices.Backward(o.outputs) {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// Abort removes the outputs unless they were published.
func (o *Outputs) Abort() {
	for _, f := range o.outputs {
		f.Abort()
	}
}

// A CopyFolder is a folder of copies of inputs. It appears together with the other [Outputs].
type CopyFolder struct {
	g      *Files
	inputs []string
	copies *rewrite.Target
	folder Folder // nil in a dry run
}

type copyFunc func(context.Context, *rewrite.Target) (rewrite.Report, error)

// Fill calls write, which fills the folder, and shows its progress with the text doing. It does nothing if c is nil.
func (c *CopyFolder) Fill(ctx context.Context, doing string, o format.Options, write copyFunc) (
	rewrite.Report, error) {
	if c == nil {
		return rewrite.Report{}, nil
	}
	o.Meter = &input.Meter{}
	c.copies.Meter = o.Meter
	bar := c.g.Progress.NewInputBar(ctx, doing, c.inputs, o)
	defer bar.End()
	return write(ctx, c.copies)
}

// Refill is Fill for inputs that were read before. It does not report unreadable files again.
func (c *CopyFolder) Refill(ctx context.Context, doing string, write copyFunc) (rewrite.Report, error) {
	if c == nil {
		return rewrite.Report{}, nil
	}
	report, err := c.Fill(ctx, doing, format.Options{}, write)
	if report.Lost = nil; err == nil {
		c.g.ReportCopies(report)
	}
	return report, err
}

// CopyFolders are the folders of --write-kept and --annotate, nil where one was not requested.
type CopyFolders struct{ Kept, Annotated *CopyFolder }

// CopyFolders creates the folders of --write-kept and of --annotate, which adds fields.
func (o *Outputs) CopyFolders(ctx context.Context, inputs []string, writeKept, annotate string, opts format.Options,
	fields []result.Column) (c CopyFolders, err error) {
	for _, output := range []struct{ flag, path string }{{"--write-kept", writeKept}, {"--annotate", annotate}} {
		if output.path != "" && err == nil {
			err = ReadTwice(output.flag, inputs)
		}
	}
	if err == nil {
		c.Kept, err = o.Copies(ctx, inputs, writeKept)
	}
	if err == nil {
		c.Annotated, err = o.Copies(ctx, inputs, annotate)
	}
	if err == nil && c.Annotated != nil {
		if err = rewrite.CheckFields(ctx, inputs, opts, fields); err != nil {
			err = Usagef("--annotate: %w", err)
		}
	}
	return c, err
}

// WriteDecisions writes the decisions by input file to a folder.
func WriteDecisions(dir Folder, files []droplist.InputFile, decisions iter.Seq[droplist.Decision]) error {
	err := dir.Write(droplist.RowsName, func(w *bufio.Writer) error { return droplist.WriteRows(w, files, decisions) })
	if err != nil {
		return err
	}
	return dir.Write(droplist.FilesName, func(w *bufio.Writer) error { return droplist.WriteFiles(w, files) })
}

// A Rewriter copies inputs without the removed documents or passages, or with additional fields.
type Rewriter interface {
	Copy(context.Context, *rewrite.Target) (rewrite.Report, error)
	Annotate(context.Context, *rewrite.Target) (rewrite.Report, error)
}

// Refill fills the folders. partly is [ErrPartly] if documents have spans that could not be cut out.
func (c *CopyFolders) Refill(ctx context.Context, r Rewriter) (partly, err error) {
	report, err := c.Kept.Refill(ctx, "copying", r.Copy)
	if err != nil {
		return nil, err
	}
	if len(report.Uncut) > 0 {
		partly = ErrPartly
	}
	_, err = c.Annotated.Refill(ctx, "annotating", r.Annotate)
	return partly, err
}

// ReportCopies logs files with unexpected copies, and the numbers of affected documents.
func (g *Globals) ReportCopies(r rewrite.Report) {
	each := func(n int, suffix string, text func(i int) string) {
		for i := range min(n, NamedMax) {
			g.Log.Warn(text(i))
		}
		LogCount(g.Log.Warn, n-NamedMax, "file", " more"+suffix)
	}
	for _, group := range []struct {
		files []string
		text  string
	}{
		{r.Unjudged, "copied as it is, because nothing of it could be compared"},
		{r.Repacked, "copied with the ending .zst: its compression can be read and not written"},
		{r.Lost, "could not be read, and is in no copy"},
	} {
		each(len(group.files), ": "+group.text, func(i int) string { return group.files[i] + ": " + group.text })
	}
	each(len(r.Uncut), " with documents that were copied whole", func(i int) string {
		return fmt.Sprintf("%s: %s with repeated text copied whole: only valid JSONL, JSON, lines and text can be shortened",
			r.Uncut[i].File, Number(r.Uncut[i].Documents, "document"))
	})
	LogCount(g.Log.Warn, r.Unnoted, "record", " without fields: broken, too large, or an empty object")
}

// NamedMax is the maximum number of files in messages. Further files are only counted.
const NamedMax = 20
