package dedup

import (
	"cmp"
	"context"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/near/dedup"
)

// outputs are the output folders, nil where none was requested.
type outputs struct {
	cli.Outputs
	copies         cli.CopyFolders
	tables, report cli.Folder
}

// newOutputs begins the folders, or with --dry-run only checks that it could. The caller calls Abort in any case.
func (j *job) newOutputs(ctx context.Context) (to *outputs, err error) {
	f := j.flags
	to = &outputs{Outputs: j.g.NewOutputs(f.dryRun)}
	var opts format.Options
	if f.annotate != "" {
		config, err := f.docs.Config(j.g, nil)
		if err != nil {
			return to, err
		}
		opts = config.Document
	}
	to.copies, err = to.CopyFolders(ctx, j.inputs, f.writeKept, f.annotate, opts, dedup.Annotations)
	if err == nil {
		to.tables, err = to.Folder(f.out)
	}
	if err == nil {
		to.report, err = to.Folder(f.report)
	}
	return to, err
}

// write fills the folders, or prints the clusters if there is no folder.
func (j *job) write(ctx context.Context, to *outputs, c *dedup.Corpus, r *dedup.Result) (err error) {
	j.work.KeepCopies(to.copies.Kept)
	if _, err := to.copies.Refill(ctx, r); err != nil { // whole documents are removed
		return err
	}
	if to.report != nil {
		if err := j.writeReport(ctx, to.report, c, r); err != nil {
			return err
		}
	}
	switch {
	case to.tables != nil:
		var sameID int
		sameID, err = writeTables(to.tables, j.flags.format.Format, c, r)
		cli.LogCount(j.g.Log.Warn, sameID, "dropped document", " with the ID of the document that is kept: "+
			"the columns file and row tell them apart, not the ID")
	case j.g.Given["format"]:
		err = j.g.WriteTable("", j.flags.format.Format, clusterColumns, (&clusterTables{c: c, r: r}).clusters)
	case to.copies == cli.CopyFolders{} && to.report == nil:
		err = printClusters(j.g.Stdout, c, r, j.flags.againstNames())
	}
	return cmp.Or(err, ctx.Err())
}
