package dedup

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/document"
	"ndd/engine/near/dedup"
	"ndd/engine/result"
)

// folders are the output folders, nil where none was requested.
type folders struct {
	clusters, copies, annotated, attributes, report cli.Folder
	names                                           *dedup.Copies // of copies
}

func (d *deduping) folders(ctx context.Context, inputs []string) (to folders, err error) {
	if d.writeKept != "" {
		if to.names, err = dedup.NewCopies(ctx, inputs, d.writeKept); err != nil {
			return to, err
		}
		if to.copies, err = d.folder(d.g.CreateCopies, d.writeKept, to.names.Has); err != nil {
			return to, err
		}
	}
	if d.annotate != "" {
		if to.annotated, err = d.annotations(ctx, inputs, &to); err != nil {
			to.abort()
			return to, err
		}
	}
	if d.attributes != "" {
		if to.names, err = dedup.NewCopies(ctx, inputs, d.attributes); err == nil {
			to.attributes, err = d.folder(d.g.CreateCopies, d.attributes, to.names.Has)
		}
		if err != nil {
			to.abort()
			return to, err
		}
	}
	if d.out != "" {
		own := cli.Named(clusterNames()...)
		if to.clusters, err = d.folder(d.g.CreateFolder, d.out, func(name string) bool {
			return own(name) || path.Dir(filepath.ToSlash(name)) == removalFolder
		}); err != nil {
			to.abort()
			return to, err
		}
	}
	if d.report != "" {
		if to.report, err = d.folder(d.g.CreateFolder, d.report, cli.Named("index.html")); err != nil {
			to.abort()
		}
	}
	return to, err
}

// annotations begins the folder of --annotate, if fields can be added to the documents.
func (d *deduping) annotations(ctx context.Context, inputs []string, to *folders) (_ cli.Folder, err error) {
	if to.names, err = dedup.NewCopies(ctx, inputs, d.annotate); err != nil {
		return nil, err
	}
	config, err := d.docs.Config(d.g, nil)
	if err != nil {
		return nil, err
	}
	if err := dedup.CheckFields(ctx, inputs, config.Document, dedup.Annotations); err != nil {
		return nil, cli.Usagef("--annotate: %w", err)
	}
	return d.folder(d.g.CreateCopies, d.annotate, to.names.Has)
}

// folder begins an output folder; with --dry-run it only finds out whether it could, and returns
// nil.
func (d *deduping) folder(create func(string, func(string) bool) (cli.Folder, error), path string,
	own func(name string) bool) (cli.Folder, error) {
	if d.dryRun {
		return nil, d.g.CheckFolder(path, own)
	}
	return create(path, own)
}

// wouldWrite names the outputs that --dry-run leaves out, as the end of a sentence.
func (d *deduping) wouldWrite(to folders, c *dedup.Corpus, r *dedup.Result) string {
	parts := []string{""}
	if d.out != "" {
		clusters, dropped, kept := clusterFiles(d.format.Format)
		if d.removal != "" {
			kept += ", " + removalFolder
		}
		parts = append(parts, fmt.Sprintf("%s would hold %s, %s, %s and %s", d.out, clusters, dropped, kept,
			sourcesFile(d.format.Format)))
	}
	if d.writeKept != "" {
		n := 0
		for range r.Dropped() {
			n++
		}
		parts = append(parts, fmt.Sprintf("%s would hold the copies of %s, without %s", d.writeKept,
			cli.Number(to.names.Len(), "file"), cli.Number(n, "document")))
	}
	if d.annotate != "" {
		parts = append(parts, fmt.Sprintf("%s would hold the copies of %s, with fields", d.annotate,
			cli.Number(to.names.Len(), "file")))
	}
	if d.attributes != "" {
		parts = append(parts, fmt.Sprintf("%s would hold the attributes of %s", d.attributes,
			cli.Number(to.names.Len(), "file")))
	}
	if d.report != "" {
		parts = append(parts, d.report+" would hold index.html")
	}
	return strings.Join(parts, "; ")
}

func (f *folders) all() []cli.Folder {
	all := []cli.Folder{f.copies, f.annotated, f.attributes, f.clusters, f.report}
	return slices.DeleteFunc(all, func(o cli.Folder) bool { return o == nil })
}

func (f *folders) abort() {
	for _, o := range f.all() {
		o.Abort()
	}
}

func (f *folders) commit() error {
	for _, o := range f.all() {
		if err := o.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// write writes the result.
func (d *deduping) write(ctx context.Context, inputs []string, to folders, c *dedup.Corpus,
	r *dedup.Result, o dedup.Options) (err error) {
	r.Work = d.kept.Copies(to.copies)
	for _, copies := range []struct {
		to    cli.Folder
		doing string
		write func(context.Context, *dedup.Copies, *document.Meter, dedup.Create) (dedup.CopyReport, error)
	}{{to.copies, "copying", r.Copy}, {to.annotated, "annotating", r.Annotate}, {to.attributes, "annotating", r.Attributes}} {
		if copies.to == nil {
			continue
		}
		report, err := d.g.FillCopies(ctx, copies.doing, inputs, document.Options{}, copies.to,
			func(meter *document.Meter, create dedup.Create) (dedup.CopyReport, error) {
				return copies.write(ctx, to.names, meter, create)
			})
		if err != nil {
			return err
		}
		if report.Lost = nil; copies.to == to.attributes { // it was named when it was read first
			report.Unnoted = 0 // skipped ones, which were named then, too
		}
		d.g.SayCopied(report)
	}
	if to.report != nil {
		if err := d.writeReport(ctx, to.report, c, r, o); err != nil {
			return err
		}
	}
	if d.removal != "" {
		if err := d.writeRemoval(ctx, to.clusters, r); err != nil {
			return err
		}
	}
	switch {
	case to.clusters != nil:
		var sameID int
		if sameID, err = writeClusters(to.clusters, d.format.Format, c, r); sameID > 0 {
			d.g.Log.Warn(cli.Number(sameID, "dropped document") + " with the ID of the document that is kept: " +
				"the columns file and row tell them apart, not the ID")
		}
	case d.g.Given["format"]:
		err = d.g.WriteTable("", d.format.Format, clusterColumns, (&clusterTables{c: c, r: r}).clusters)
	case to.copies == nil && to.annotated == nil && to.attributes == nil && to.report == nil:
		err = printClusters(d.g.Stdout, c, r, d.againstNames())
	}
	return cmp.Or(err, c.Err(), ctx.Err())
}

// removalFolder is the folder of --removal in that of -o.
const removalFolder = "remove"

var removalColumns = cli.ColumnsOf("rank:i file documents:i removed:i")

// writeRemoval writes the files of --removal.
func (d *deduping) writeRemoval(ctx context.Context, to cli.Folder, r *dedup.Result) error {
	list, err := r.Removals(ctx, func(name string, fill func(io.Writer) error) error {
		return to.Write(removalFolder+"/"+name, func(w *bufio.Writer) error { return fill(w) })
	})
	if err != nil {
		return err
	}
	return to.Write(removalFolder+"/files.tsv", func(w *bufio.Writer) error {
		t := result.NewTableWriter(w, result.TSV, removalColumns...)
		for i, of := range list {
			if err := t.Integer(int64(i)).Text(of.File).Integer(of.Documents).Integer(of.Removed).End(); err != nil {
				return err
			}
		}
		return t.Close()
	})
}
