// Package plot draws bars ([Bars]) and lines ([Lines]) as SVG, a text format that browsers show. It also writes the
// HTML pages ([Page]) that contain them:
//
//	title                                    title
//	y |        |                             y |   .--'    -- one
//	1 |   |  | | |     a bar for each value, 1 | _/ . '    -- another
//	  | - | -|-|-| -   - - - a line for        |/..'
//	0 +-------------   comparison            0 +-------
//	    0   32   63    x                         0  1  2   x
//
// It has only the features for the paper's figures and for reports of measurements. The output depends only on the
// values. It has no scripts, fonts or references, and takes a few kilobytes. The package keeps no state.
package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Bars is a bar chart.
type Bars struct {
	Title, X, Y string    // X and Y are the names of the axes
	Values      []float64 // from left to right, not negative; bars higher than Top are cut off
	Labels      []int     // labels of the values; default: their positions
	Every       int       // distance between the printed labels, in addition to the first and the last
	Top         float64   // upper end of the y axis; default: the maximum value
	Line        float64   // height of a horizontal line; 0: none
}

// Size of the drawing, and the margins around the bars, in pixels.
const (
	width, height             = 900, 360
	left, right, above, under = 64, 16, 40, 48
)

// WriteTo writes the chart as SVG and returns the number of bytes and the error of w.
func (c *Bars) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	const insideX, insideY = width - left - right, height - above - under
	top := c.top()
	y := func(v float64) float64 { return above + insideY*(1-min(max(v, 0), top)/top) }
	begin(&b, width/2, c.Title)
	// Draw the grid of the y axis.
	for i := range 5 {
		v := top * float64(i) / 4
		fmt.Fprintf(&b, "<path d=\"M%d %sH%d\" stroke=\"#ddd\"/>\n", left, coordinate(y(v)), width-right)
		text(&b, left-6, y(v)+4, "end", "", strconv.FormatFloat(v, 'g', 4, 64))
	}
	// Draw the bars.
	step := insideX / float64(max(len(c.Values), 1))
	b.WriteString("<g fill=\"#36c\">\n")
	for i, v := range c.Values {
		if math.IsNaN(v) {
			continue
		}
		x := left + step*float64(i)
		fmt.Fprintf(&b, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>%s</title></rect>\n",
			coordinate(x+0.1*step), coordinate(y(v)), coordinate(0.8*step), coordinate(y(0)-y(v)),
			escape(fmt.Sprintf("%s: %.4g", c.label(i), v)))
	}
	b.WriteString("</g>\n")
	// Label the first, the last and every c.Every-th bar.
	for i := range c.Values {
		if i == 0 || i == len(c.Values)-1 || c.Every > 0 && i%c.Every == 0 && i+c.Every/2 < len(c.Values) {
			text(&b, left+step*(float64(i)+0.5), height-under+16, "middle", "", c.label(i))
		}
	}
	// Draw the line for comparison, the axes and their names.
	if c.Line > 0 {
		fmt.Fprintf(&b, "<path d=\"M%d %sH%d\" stroke=\"#c33\" stroke-dasharray=\"6 4\"/>\n", left, coordinate(y(c.Line)),
			width-right)
	}
	fmt.Fprintf(&b, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#000\"/>\n", left, above, height-under, width-right)
	end(&b, left+insideX/2, height-10, c.X, c.Y)
	return b.WriteTo(w)
}

// begin draws the background, and the title around position x.
func begin(b *bytes.Buffer, x float64, title string) {
	fmt.Fprintf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "+
		"font-family=\"sans-serif\" font-size=\"12\">\n", width, height)
	fmt.Fprintf(b, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height)
	text(b, x, above/2+4, "middle", "", title)
}

// end writes the names of both axes, and ends the drawing. x and y are the position of the name of the x axis.
func end(b *bytes.Buffer, x, y float64, nameX, nameY string) {
	const middle = above + (height-above-under)/2
	text(b, x, y, "middle", "", nameX)
	text(b, 14, middle, "middle", fmt.Sprintf(" transform=\"rotate(-90 14 %d)\"", middle), nameY)
	b.WriteString("</svg>\n")
}

// top returns the upper end of the y axis, which is above 0.
func (c *Bars) top() float64 {
	if c.Top > 0 {
		return c.Top
	}
	top := c.Line
	for _, v := range c.Values {
		if v > top && !math.IsInf(v, 1) {
			top = v
		}
	}
	if top <= 0 {
		return 1
	}
	return top
}

// label returns the label of value i.
func (c *Bars) label(i int) string {
	if i < len(c.Labels) {
		return strconv.Itoa(c.Labels[i])
	}
	return strconv.Itoa(i)
}

func text(b *bytes.Buffer, x, y float64, anchor, more, s string) {
	fmt.Fprintf(b, "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\"%s>%s</text>\n", coordinate(x), coordinate(y), anchor,
		more, escape(s))
}

// coordinate formats v with a precision of a hundredth of a pixel.
func coordinate(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64)
}

func escape(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s)) // writing to memory cannot fail
	return b.String()
}
