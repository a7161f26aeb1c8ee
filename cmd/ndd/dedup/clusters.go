package dedup

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"ndd/cmd/ndd/cli"
	"ndd/engine/near/dedup"
	"ndd/engine/result"
)

// share returns a similarity as it is written: to the 4 places that a set of some
// thousand shingles can tell.
func share(s float32) string { return strconv.FormatFloat(float64(s), 'f', 4, 64) }

// jsonShare returns the number that share writes.
func jsonShare(s float32) *float64 {
	f, _ := strconv.ParseFloat(share(s), 64)
	return &f
}

// printClusters writes the clusters for a person.
func printClusters(w io.Writer, c *dedup.Corpus, r *dedup.Result, against string) error {
	for cl := range r.Clusters() {
		if cl.Number > 1 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "cluster %d: %s\n", cl.Number, cli.Number(len(cl.Rows), "document"))
		line := func(i int, row uint32) error {
			similarity := ""
			if r.Verified() {
				similarity = "  " + share(cl.Similarities[i])
			}
			_, err := fmt.Fprintf(w, "%4d%s  %s\n", r.Distance(row, cl.Kept), similarity, result.Escape(c.ID(row)))
			return err
		}
		for i, row := range cl.Rows {
			if row == cl.Kept {
				line(i, row)
			}
		}
		for i, row := range cl.Rows {
			if row != cl.Kept {
				if err := line(i, row); err != nil {
					return err
				}
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
		similarity := ""
		if r.Verified() {
			similarity = "  " + share(k.Similarity)
		}
		if _, err := fmt.Fprintf(w, "%4d%s  %s  near  %s\n", k.Distance, similarity, result.Escape(c.ID(k.Row)), result.Escape(k.ID)); err != nil {
			return err
		}
	}
	return nil
}

// jsonCluster is a line of --json.
type jsonCluster struct {
	Cluster   int            `json:"cluster"`
	Kept      string         `json:"kept"`
	Documents []jsonDocument `json:"documents"`
}

type jsonDocument struct {
	ID         string   `json:"id"`
	Distance   int      `json:"distance"`
	Similarity *float64 `json:"similarity,omitempty"`
	Kept       bool     `json:"kept"`
}

// jsonKnown is a line about a document that --against has already.
type jsonKnown struct {
	ID         string   `json:"id"`
	Known      string   `json:"known"`
	Distance   int      `json:"distance"`
	Similarity *float64 `json:"similarity,omitempty"`
}

// printJSON writes an object a line.
func printJSON(w io.Writer, c *dedup.Corpus, r *dedup.Result) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, k := range r.Known {
		line := jsonKnown{ID: c.ID(k.Row), Known: k.ID, Distance: k.Distance}
		if r.Verified() {
			line.Similarity = jsonShare(k.Similarity)
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	for cl := range r.Clusters() {
		line := jsonCluster{Cluster: cl.Number, Kept: c.ID(cl.Kept)}
		for i, row := range cl.Rows {
			d := jsonDocument{ID: c.ID(row), Distance: r.Distance(row, cl.Kept), Kept: row == cl.Kept}
			if r.Verified() {
				d.Similarity = jsonShare(cl.Similarities[i])
			}
			line.Documents = append(line.Documents, d)
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
