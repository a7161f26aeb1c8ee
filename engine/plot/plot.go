// Package plot draws lines ([Chart]) as SVG, a text format that browsers show. It also formats pages of HTML ([Page]):
//
//	title
//	y |   .--'    -- one
//	1 | _/ . '    -- another
//	  |/..'
//	0 +-------
//	   0  1  2   x
//
// It has only the features for the paper's figures and for measurements. The output depends only on the values. It has
// no scripts, fonts or references, and takes a few kilobytes. The package keeps no state.
package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A Chart has several series of values, not negative, over the same positions 0, 1, 2, ... Up to 18 series have
// different pairs of colour and dash pattern. A legend has their names.
type Chart struct {
	Title, X, Y string   // X and Y are the names of the axes
	Labels      []string // labels of the positions; default: their numbers
	Top         float64  // upper end of the y axis; default: the maximum value
	Line        float64  // height of a horizontal line; 0: none
	Series      []Series
}

// A Series is one line. It has a gap at each NaN.
type Series struct {
	Name   string
	Values []float64
}

// Size of the drawing, and the margins around the lines, in pixels.
const (
	width, height                        = 900, 360
	leftPad, rightPad, topPad, bottomPad = 64, 196, 40, 48
	insideX, insideY                     = width - leftPad - rightPad, height - topPad - bottomPad
)

// labelsMax is the maximum number of labels of the x axis.
const labelsMax = 20

var (
	colours = []string{"#1b5eb8", "#b8421b", "#2a7d3f", "#7a3fa0", "#8a6d00", "#00798a", "#c2185b", "#5d4037", "#455a64"}
	dashes  = []string{"", "8 4", "2 3", "10 3 2 3", "14 4", "4 2 1 2"}
)

// WriteTo writes the chart as SVG and returns the number of bytes and the error of w.
func (c *Chart) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	top, last := c.top(), 1
	for _, s := range c.Series {
		last = max(last, len(s.Values)-1)
	}
	x := func(i int) float64 { return leftPad + insideX*float64(i)/float64(last) }
	y := func(v float64) float64 { return topPad + insideY*(1-min(max(v, 0), top)/top) }
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "+
		"font-size=\"12\">\n<rect width=\"%[1]d\" height=\"%[2]d\" fill=\"#fff\"/>\n", width, height)
	text(&b, leftPad+insideX/2, topPad/2+4, "middle", c.Title)
	// Draw the axes with their labels and names, and the line for comparison.
	const ticks = 5
	for i := range ticks + 1 {
		v := top * float64(i) / ticks
		line(&b, y(v), "stroke=\"#ddd\"")
		text(&b, leftPad-6, y(v)+4, "end", strconv.FormatFloat(v, 'g', 3, 64))
	}
	step := (last + labelsMax) / labelsMax
	for i := step - 1; i <= last; i += step {
		label := strconv.Itoa(i)
		if i < len(c.Labels) {
			label = c.Labels[i]
		}
		text(&b, x(i), height-bottomPad+18, "middle", label)
	}
	text(&b, leftPad+insideX/2, height-8, "middle", c.X)
	fmt.Fprintf(&b, "<g transform=\"translate(14 %d) rotate(-90)\">", topPad+insideY/2)
	text(&b, 0, 0, "middle", c.Y)
	b.WriteString("</g>\n")
	if c.Line > 0 {
		line(&b, y(c.Line), "stroke=\"#c33\" stroke-dasharray=\"6 4\"")
	}
	// Draw each series, and its entry in the legend.
	for i, s := range c.Series {
		style := fmt.Sprintf("fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linecap=\"round\" stroke-dasharray=\"%s\"",
			colours[i%len(colours)], dashes[i%len(dashes)])
		fmt.Fprintf(&b, "<path d=\"%s\" %s/>\n", path(s.Values, x, y), style)
		if s.Name != "" {
			legendY := float64(topPad + 14 + i*20)
			fmt.Fprintf(&b, "<path d=\"M%d %sh28\" %s/>\n", leftPad+insideX+12, coordinate(legendY-4), style)
			text(&b, leftPad+insideX+46, legendY, "start", s.Name)
		}
	}
	b.WriteString("</svg>\n")
	return b.WriteTo(w)
}

// top returns the upper end of the y axis, which is above 0.
func (c *Chart) top() float64 {
	if c.Top > 0 {
		return c.Top
	}
	top := c.Line
	for _, s := range c.Series {
		for _, v := range s.Values {
			if v > top && !math.IsInf(v, 1) {
				top = v
			}
		}
	}
	if top <= 0 {
		return 1
	}
	return top
}

// path returns the path of a series. It starts a new segment after a missing value.
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

// line draws a horizontal line over the whole width.
func line(b *bytes.Buffer, y float64, style string) {
	fmt.Fprintf(b, "<path d=\"M%d %sh%d\" %s/>\n", leftPad, coordinate(y), insideX, style)
}

func text(b *bytes.Buffer, x, y float64, anchor, s string) {
	fmt.Fprintf(b, "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">", coordinate(x), coordinate(y), anchor)
	xml.EscapeText(b, []byte(s)) // writing to memory cannot fail
	b.WriteString("</text>\n")
}

// coordinate formats v with a precision of a hundredth of a pixel.
func coordinate(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64)
}
