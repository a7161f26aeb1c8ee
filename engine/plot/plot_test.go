package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

func draw(t *testing.T, c *Chart) string {
	t.Helper()
	var b bytes.Buffer
	if n, err := c.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatal(n, err)
	}
	return b.String()
}

// elements parses the drawing, and counts its elements.
func elements(t *testing.T, svg string) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			found[e.Name.Local]++
		}
	}
}

// TestChart checks that every series is drawn with its name, that a missing value leaves a gap, and that names are
// escaped.
func TestChart(t *testing.T) {
	c := Chart{Title: "a < b", X: "k", Y: "share", Top: 1, Line: 0.5, Series: []Series{
		{Name: "one & two", Values: []float64{0, 0.5, 1, 2}}, {Name: "gap", Values: []float64{math.NaN(), 0.25, math.NaN(), 0.75}}}}
	svg := draw(t, &c)
	if found := elements(t, svg); found["svg"] != 1 || found["path"] != 6+1+2*2 {
		t.Errorf("elements %v in %s", found, svg)
	}
	for _, want := range []string{"a &lt; b", "one &amp; two", ">gap<", "M64 312h0L277.33 176L490.67 40L704 40",
		"M277.33 244h0M704 108h0"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
}

// TestLabels checks that a chart has at most 20 labels, which are numbers by default.
func TestLabels(t *testing.T) {
	for _, test := range []struct {
		values int
		labels []string
		want   string
	}{
		{0, nil, "0 1"}, {11, nil, "0 1 2 3 4 5 6 7 8 9 10"}, {64, nil, "3 7 11 15 19 23 27 31 35 39 43 47 51 55 59 63"},
		{3, []string{"0.1", "0.2", "0.3"}, "0.1 0.2 0.3"},
	} {
		svg := draw(t, &Chart{Labels: test.labels, Series: []Series{{Values: make([]float64, test.values)}}})
		var got []string
		for _, label := range regexp.MustCompile(`y="330" text-anchor="middle">([^<]+)<`).FindAllStringSubmatch(svg, -1) {
			got = append(got, label[1])
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%d values: %q, want %q", test.values, got, test.want)
		}
	}
}

// TestTop checks that without Top the axis ends at the maximum of the values and the line. The drawing has only
// numbers.
func TestTop(t *testing.T) {
	for _, test := range []struct {
		values    []float64
		top, line float64
		want      float64
	}{
		{nil, 0, 0, 1}, {[]float64{0, math.NaN()}, 0, 0, 1}, {[]float64{0.2, 0.1}, 0, 0, 0.2}, {[]float64{1e-300}, 0, 0, 1e-300},
		{[]float64{0.2}, 0, 1, 1}, {[]float64{7}, 3, 0, 3}, {[]float64{2, math.Inf(1), -5}, 0, 0, 2},
	} {
		c := Chart{Top: test.top, Line: test.line, Series: []Series{{Values: test.values}}}
		if got := c.top(); got != test.want {
			t.Errorf("%v: %v, want %v", test.values, got, test.want)
		}
		if svg := draw(t, &c); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || strings.Contains(svg, "=\"-") {
			t.Errorf("%v: %s", test.values, svg)
		}
	}
}

// TestStyles checks that nine series differ in colour or dashes.
func TestStyles(t *testing.T) {
	styles := map[string]bool{}
	for i := range 9 {
		styles[colours[i%len(colours)]+" "+dashes[i%len(dashes)]] = true
	}
	if len(styles) != 9 {
		t.Errorf("%d styles: %v", len(styles), styles)
	}
}
