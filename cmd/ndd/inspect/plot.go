package inspect

import (
	"fmt"
	"io"
	"path/filepath"

	"ndd/cmd/ndd/cli"
	"ndd/engine/index/distribution"
	"ndd/engine/plot"
)

// plot draws the paper's figures 2a and 2b into a new folder.
func (x *info) plot(g *cli.Globals, path string) error {
	dir, err := g.CreateFolder(path, cli.Named("figure-2a.svg", "figure-2b.svg"))
	if err != nil {
		return err
	}
	defer dir.Abort()
	of := fmt.Sprintf("%s (%s)", filepath.Base(x.Path), cli.Number(x.counts.Fingerprints, "fingerprint"))
	a := plot.Bars{Title: "Fraction of fingerprints with each bit set: " + of, X: "bit, leading bit first",
		Y: "fraction", Top: 1, Line: 0.5, Every: 8}
	for bit := 63; bit >= 0; bit-- {
		a.Values, a.Labels = append(a.Values, x.counts.Fraction(bit)), append(a.Labels, bit)
	}
	b := plot.Bars{Title: "Fingerprints by interval: " + of,
		X: fmt.Sprintf("interval, of %d equal ones", distribution.Intervals),
		Y: "ratio to an equal share", Line: 1, Every: 16}
	for i := range distribution.Intervals {
		b.Values = append(b.Values, x.counts.Share(i))
	}
	return cli.WriteFigures(dir, map[string]io.WriterTo{"figure-2a.svg": &a, "figure-2b.svg": &b})
}
