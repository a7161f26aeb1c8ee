package dedup

import (
	"fmt"
	"io"
	"strconv"

	"ndd/cmd/ndd/cli"
	"ndd/engine/near/dedup"
	"ndd/engine/result"
)

// printClusters writes the clusters for a person, the document that is kept first.
func printClusters(w io.Writer, c *dedup.Corpus, r *dedup.Result, against string) error {
	line := func(distance int, similarity float32, row dedup.Row, near string) error {
		verified := ""
		if r.Verified() {
			verified = "  " + strconv.FormatFloat(float64(similarity), 'f', 4, 64)
		}
		_, err := fmt.Fprintf(w, "%4d%s  %s%s\n", distance, verified, result.Escape(c.ID(row)), near)
		return err
	}
	for cl := range r.Clusters() {
		if cl.Number > 1 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "cluster %d: %s\n", cl.Number, cli.Number(len(cl.Rows), "document"))
		line(0, 1, cl.Kept, "")
		for i, row := range cl.Rows {
			if row == cl.Kept {
				continue
			}
			similarity := float32(0)
			if r.Verified() {
				similarity = cl.Likes[i].Jaccard
			}
			if err := line(r.Distance(row, cl.Kept), similarity, row, ""); err != nil {
				return err
			}
		}
	}
	for _, of := range []struct {
		what  string
		drops []dedup.Drop
	}{{"with the URL of another one", r.SameURL}, {"with the text of another one", r.SameText}} {
		for i, d := range of.drops {
			if i == 0 {
				if r.Len() > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%s: %s\n", of.what, cli.Number(len(of.drops), "document"))
			}
			kept := d.Kept
			if d.KeptRow >= 0 {
				kept = c.ID(dedup.Row(d.KeptRow))
			}
			if _, err := fmt.Fprintf(w, "      %s  for  %s\n", result.Escape(c.ID(d.Row)), result.Escape(kept)); err != nil {
				return err
			}
		}
	}
	for i, k := range r.Known {
		if i == 0 && r.Len() > 0 {
			fmt.Fprintln(w)
		}
		if i == 0 {
			fmt.Fprintf(w, "near a document in %s: %s\n", against, cli.Number(len(r.Known), "document"))
		}
		if err := line(k.Distance, k.Jaccard, k.Row, "  near  "+result.Escape(k.Kept)); err != nil {
			return err
		}
	}
	return nil
}
