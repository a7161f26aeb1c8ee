package plot

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Lines is a chart of several series of shares, 0 to 1, over the same positions 0, 1, 2, ... Up to 18 series have
// different pairs of colour and dash pattern. A legend has their names.
type Lines struct {
	Title, X, Y string
	Labels      []string // labels of the positions; default: their numbers
	Series      []Series
}

// A Series is one line. It has a gap at each NaN.
type Series struct {
	Name   string
	Values []float64
	Points []Point // none, or one for each value
} // empty, or one for each value

// Add adds a value that was measured with n observations.
func (s *Series) Add(share float64, n int) {
	s.Values = append(s.Values, share)
	s.Points = append(s.Points, Wilson(share, n))
}

// A Point describes the evidence for a value: N observations, and the 95 % confidence interval of the share.
type Point struct {
	N        int
	Low, Top float64
}

// Wilson returns the 95 % confidence interval of a share of n observations, after Wilson (1927). If n is 0, share
// must be NaN, and so are the bounds.
func Wilson(share float64, n int) Point {
	const z = 1.96
	if n == 0 || math.IsNaN(share) {
		return Point{N: n, Low: math.NaN(), Top: math.NaN()}
	}
	count := float64(n)
	centre := (share + z*z/(2*count)) / (1 + z*z/count)
	half := z / (1 + z*z/count) * math.Sqrt(share*(1-share)/count+z*z/(4*count*count))
	return Point{N: n, Low: max(0, centre-half), Top: min(1, centre+half)}
}

var (
	colours = []string{"#1b5eb8", "#b8421b", "#2a7d3f", "#7a3fa0", "#8a6d00", "#00798a", "#c2185b", "#5d4037", "#455a64"}
	dashes  = []string{"", "8 4", "2 3", "10 3 2 3", "14 4", "4 2 1 2"}
)

// HTML returns the chart as an SVG element for a page, or "" if c is nil.
func (c *Lines) HTML() HTML {
	if c == nil {
		return ""
	}
	var b bytes.Buffer
	c.WriteTo(&b) // a buffer never fails
	return HTML(b.String())
}

// WriteTo writes the chart as SVG. It returns the error of w.
func (c *Lines) WriteTo(w io.Writer) (int64, error) {
	const insideX, insideY, names = width - left - right - 180, height - above - under, 14
	var b bytes.Buffer
	last := 1
	for _, s := range c.Series {
		last = max(last, len(s.Values)-1)
	}
	x := func(i int) float64 { return left + insideX*float64(i)/float64(last) }
	y := func(v float64) float64 { return above + insideY*(1-min(max(v, 0), 1)) }
	begin(&b, left+insideX/2, c.Title)
	// Draw the axes with their labels.
	const ticks = 5
	for i := range ticks + 1 {
		v := float64(i) / ticks
		fmt.Fprintf(&b, "<path d=\"M%d %sH%d\" stroke=\"#ddd\"/>\n", left, coordinate(y(v)), left+insideX)
		text(&b, left-6, y(v)+4, "end", "", strconv.FormatFloat(v, 'f', 1, 64))
	}
	for i := range last + 1 {
		if label := c.label(i); i%2 == 1 || last <= 12 { // the chart has room for about twelve labels
			text(&b, x(i), height-under+18, "middle", "", label)
		}
	}
	// Draw each line with its intervals, and its entry in the legend.
	for i, s := range c.Series {
		colour, dash := colours[i%len(colours)], dashes[i%len(dashes)]
		fmt.Fprintf(&b, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "+
			"stroke-linecap=\"round\" stroke-dasharray=\"%s\"/>\n", path(s.Values, x, y), colour, dash)
		c.intervals(&b, &s, x, y, colour)
		legendY := float64(above + names + i*20)
		fmt.Fprintf(&b, "<path d=\"M%d %sh28\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
			left+insideX+12, coordinate(legendY-4), colour, dash)
		text(&b, left+insideX+46, legendY, "start", "", s.Name)
	}
	end(&b, left+insideX/2, height-8, c.X, c.Y)
	return b.WriteTo(w)
}

// label returns the label of a position.
func (c *Lines) label(i int) string {
	if len(c.Labels) > 0 {
		return c.Labels[i]
	}
	return strconv.Itoa(i)
}

// intervals draws a circle for each value that has a [Point]. It also draws the interval, and adds the figures as a
// tooltip.
func (c *Lines) intervals(b *bytes.Buffer, s *Series, x func(int) float64, y func(float64) float64, colour string) {
	for i, p := range s.Points {
		if math.IsNaN(s.Values[i]) || math.IsNaN(p.Low) {
			continue
		}
		position, value := coordinate(x(i)), coordinate(y(s.Values[i]))
		fmt.Fprintf(b, "<g stroke=\"%s\"><path d=\"M%s %sV%s\"/><circle cx=\"%s\" cy=\"%s\" r=\"3\" fill=\"#fff\"/>", colour, position,
			coordinate(y(p.Low)), coordinate(y(p.Top)), position, value)
		figures := fmt.Sprintf("%s, %s: %.3f (%.3f to %.3f), n = %d", s.Name, c.label(i), s.Values[i], p.Low, p.Top, p.N)
		fmt.Fprintf(b, "<title>%s</title></g>\n", escape(figures))
	}
}

// path returns the path of a line. It starts a new segment after a missing value.
func path(values []float64, x func(int) float64, y func(float64) float64) string {
	var b bytes.Buffer
	draw := byte('M')
	for i, v := range values {
		if math.IsNaN(v) {
			draw = 'M'
			continue
		}
		fmt.Fprintf(&b, "%c%s %s", draw, coordinate(x(i)), coordinate(y(v)))
		if draw == 'M' {
			b.WriteString("h0") // draws a round dot if the line has no next point
		}
		draw = 'L'
	}
	return b.String()
}
