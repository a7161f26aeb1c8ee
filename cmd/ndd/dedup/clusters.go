package dedup

import (
	"fmt"
	"io"
	"strconv"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/result"
)

// printClusters writes the clusters for a person, the document that is kept first.
func printClusters(w io.Writer, c *dedup.Corpus, r *dedup.Result, against string) error {
	p := &clusterPrinter{w: w, c: c, r: r}
	for cl := range r.Clusters() {
		if p.cluster(cl); p.err != nil {
			return p.err
		}
	}
	p.equal("with the URL of another one", r.SameURL)
	p.equal("with the text of another one", r.SameText)
	p.heading("near a document in "+against, len(r.Known))
	for _, k := range r.Known {
		p.document(k.Distance, k.Jaccard, k.Row, "  near  "+result.Escape(k.Kept))
	}
	return p.err
}

// A clusterPrinter writes until the first error.
type clusterPrinter struct {
	w   io.Writer
	c   *dedup.Corpus
	r   *dedup.Result
	err error
}

func (p *clusterPrinter) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *clusterPrinter) cluster(cl dedup.Cluster) {
	if cl.Number > 1 {
		p.printf("\n")
	}
	p.printf("cluster %d: %s\n", cl.Number, cli.Number(len(cl.Rows), "document"))
	p.document(0, 1, cl.Kept, "")
	for i, row := range cl.Rows {
		if row != cl.Kept {
			p.document(p.r.Distance(row, cl.Kept), cl.Likes[i].Jaccard, row, "")
		}
	}
}

// document writes the line of a document. note ends the line; it names a known document.
func (p *clusterPrinter) document(distance int, similarity float32, row dedup.Row, note string) {
	verified := ""
	if p.r.Verified() {
		verified = "  " + strconv.FormatFloat(float64(similarity), 'f', 4, 64)
	}
	p.printf("%4d%s  %s%s\n", distance, verified, result.Escape(p.c.ID(row)), note)
}

// heading writes the heading of some documents that are in no cluster, if there are any.
func (p *clusterPrinter) heading(title string, documents int) {
	if documents == 0 {
		return
	}
	if p.r.Len() > 0 {
		p.printf("\n")
	}
	p.printf("%s: %s\n", title, cli.Number(documents, "document"))
}

// equal writes documents that were dropped because of an equal URL or text.
func (p *clusterPrinter) equal(title string, drops []dedup.Drop) {
	p.heading(title, len(drops))
	for _, d := range drops {
		kept := d.Kept
		if d.KeptRow >= 0 {
			kept = p.c.ID(dedup.Row(d.KeptRow))
		}
		p.printf("      %s  for  %s\n", result.Escape(p.c.ID(d.Row)), result.Escape(kept))
	}
}
