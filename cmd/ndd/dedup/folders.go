package dedup

import (
	"cmp"
	"context"

	"ndd/cmd/ndd/cli"
	"ndd/engine/near/dedup"
)

// folders are the output folders, nil where none was requested.
type folders struct {
	cli.Outputs
	kept, annotated  *cli.CopyFolder
	clusters, report cli.Folder
}

// begin begins the folders; with --dry-run it only finds out whether it could.
func (to *folders) begin(ctx context.Context, d *deduping) (err error) {
	if to.kept, err = to.Copies(ctx, d.inputs, d.writeKept); err != nil {
		return err
	}
	if d.annotate != "" {
		config, err := d.docs.Config(d.g, nil)
		if err != nil {
			return err
		}
		if to.annotated, err = to.Annotations(ctx, d.inputs, d.annotate, config.Document, dedup.Annotations); err != nil {
			return err
		}
	}
	if to.clusters, err = to.Folder(d.out); err != nil {
		return err
	}
	to.report, err = to.Folder(d.report)
	return err
}

func (d *deduping) write(ctx context.Context, to *folders, c *dedup.Corpus,
	r *dedup.Result, o dedup.Options) (err error) {
	d.kept.KeepCopies(to.kept)
	if _, err := to.kept.Refill(ctx, "copying", r.Copy); err != nil {
		return err
	}
	if _, err := to.annotated.Refill(ctx, "annotating", r.Annotate); err != nil {
		return err
	}
	if to.report != nil {
		if err := d.writeReport(ctx, to.report, c, r, o); err != nil {
			return err
		}
	}
	switch {
	case to.clusters != nil:
		var sameID int
		sameID, err = writeClusters(ctx, to.clusters, d.format.Format, c, r, d.g.Threads)
		cli.SaySome(d.g.Log.Warn, sameID, "dropped document", " with the ID of the document that is kept: "+
			"the columns file and row tell them apart, not the ID")
	case d.g.Given["format"]:
		err = d.g.WriteTable("", d.format.Format, clusterColumns, (&clusterTables{c: c, r: r}).clusters)
	case to.kept == nil && to.annotated == nil && to.report == nil:
		err = printClusters(d.g.Stdout, c, r, d.againstNames())
	}
	return cmp.Or(err, ctx.Err())
}
