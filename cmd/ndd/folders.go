package main

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"

	"ndd/engine/corpus/document"
	"ndd/engine/near/dedup"
	"ndd/engine/storage/disk"
)

// folders are the output folders, nil where none was requested.
type folders struct {
	clusters, copies *disk.Folder
	names            *dedup.Copies // of copies
}

func (d *deduping) folders(ctx context.Context, inputs []string) (to folders, err error) {
	if d.writeKept != "" {
		if to.names, err = dedup.NewCopies(ctx, inputs, d.writeKept); err != nil {
			return to, err
		}
		if to.copies, err = d.g.createFolder(d.writeKept, to.names.Has); err != nil {
			return to, err
		}
	}
	if d.out != "" {
		if to.clusters, err = d.g.createFolder(d.out, named(clusterNames()...)); err != nil {
			to.abort()
		}
	}
	return to, err
}

func (f *folders) all() []*disk.Folder {
	return slices.DeleteFunc([]*disk.Folder{f.copies, f.clusters}, func(o *disk.Folder) bool { return o == nil })
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
func (d *deduping) write(ctx context.Context, inputs []string, to folders, c *dedup.Corpus, r *dedup.Result) (err error) {
	if to.copies != nil {
		meter := &document.Meter{}
		bar := d.g.newInputBar(ctx, "copying", inputs, meter)
		err := r.Copy(ctx, to.names, meter, func(name string, fill func(io.Writer) error) error {
			return to.copies.Write(name, func(w *bufio.Writer) error { return fill(w) })
		})
		bar.end()
		if err != nil {
			return err
		}
	}
	switch {
	case to.clusters != nil:
		err = writeClusters(to.clusters, d.format.Format, c, r)
	case d.json:
		err = printJSON(d.g.stdout, c, r)
	case d.g.given["format"]:
		err = d.g.writeTable("", d.format.Format, clusterColumns, (&clusterTables{c, r}).clusters)
	case to.copies == nil:
		err = printClusters(d.g.stdout, c, r, d.against)
	}
	return cmp.Or(err, ctx.Err())
}
