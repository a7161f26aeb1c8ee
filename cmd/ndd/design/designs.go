package design

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"ndd/cmd/ndd/cli"
	"ndd/permute"
)

// list writes the catalogue's designs for the distance that was given, fewest tables first.
func (d *Flags) list(g *cli.Globals, format *cli.ReportFormat) error {
	if err := d.check(); err != nil {
		return err
	}
	all := permute.Catalogue(d.k, Seed)
	switch {
	case format.IsJSON():
		return listJSON(g.Stdout, all)
	case format.IsTable():
		var rows []cli.CellRow
		for i := range all {
			least, most := all[i].Leading()
			radius := radii(&all[i])
			rows = append(rows, cli.CellRow{all[i].Name, len(all[i].Tables), least, most, radius[0], radius[1]})
		}
		return format.Table(g, cli.ColumnsOf("design tables:i leading_least:i leading_most:i radius_least:i radius_most:i"), rows)
	}
	return listText(g.Stdout, all)
}

func listText(w io.Writer, all []permute.Design) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "design\ttables\tleading bits\tradius")
	for i := range all {
		least, most := all[i].Leading()
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", all[i].Name, len(all[i].Tables), span([2]int{least, most}), span(radii(&all[i])))
	}
	return t.Flush()
}

func listJSON(w io.Writer, all []permute.Design) error {
	e := json.NewEncoder(w)
	for i := range all {
		least, most := all[i].Leading()
		err := e.Encode(struct {
			Design  string `json:"design"`
			Tables  int    `json:"tables"`
			Leading [2]int `json:"leading"` // least and most
			Radius  [2]int `json:"radius"`
		}{all[i].Name, len(all[i].Tables), [2]int{least, most}, radii(&all[i])})
		if err != nil {
			return err
		}
	}
	return nil
}

// radii returns the smallest and the largest radius of a design's tables.
func radii(d *permute.Design) [2]int {
	r := [2]int{d.K, 0}
	for _, t := range d.Tables {
		r = [2]int{min(r[0], t.Radius), max(r[1], t.Radius)}
	}
	return r
}
