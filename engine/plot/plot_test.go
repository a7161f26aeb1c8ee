package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

var update = flag.Bool("update", false, "write the golden file anew")

func draw(t *testing.T, c io.WriterTo) string {
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

func TestGolden(t *testing.T) {
	got := draw(t, &Bars{Title: "ones < half & \"more\"", X: "bit", Y: "fraction", Values: []float64{0.5, 0.25, 0, 1, 2},
		Labels: []int{4, 3, 2, 1, 0}, Every: 2, Top: 1, Line: 0.5})
	path := filepath.Join("testdata", "bars.svg")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	if want := string(must.Read(t, path)); got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

// TestBars: the chart is valid XML with a bar for each value except NaN.
func TestBars(t *testing.T) {
	for _, values := range [][]float64{nil, {0}, {1e-300}, {1, math.NaN(), 3}, {math.Inf(1), -5}, make([]float64, 128)} {
		for _, top := range []float64{0, 1} {
			bars := 1 // the ground
			for _, v := range values {
				if v == v {
					bars++
				}
			}
			svg := draw(t, &Bars{Values: values, Every: 16, Top: top})
			if e := elements(t, svg); e["svg"] != 1 || e["rect"] != bars {
				t.Errorf("%v: %v", values, e)
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf\"") || strings.Contains(svg, "=\"-") {
				t.Errorf("%v: %s", values, svg)
			}
		}
	}
}

// TestLines: every series is drawn with its name, a value that is not there leaves a gap, and names are escaped.
func TestLines(t *testing.T) {
	c := Lines{Title: "a < b", X: "k", Y: "share", Series: []Series{
		{Name: "one & two", Values: []float64{0, 0.5, 1, 2}}, {Name: "gap", Values: []float64{math.NaN(), 0.25, math.NaN(), 0.75}}}}
	svg := draw(t, &c)
	if found := elements(t, svg); found["svg"] != 1 || found["path"] != 6+2*2 {
		t.Errorf("elements %v in %s", found, svg)
	}
	for _, want := range []string{"one &amp; two", ">gap<", "M64 312h0L277.33 176L490.67 40L704 40",
		"M277.33 244h0M704 108h0"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
}

// TestTop: without Top, the axis ends at the maximum of the values and the line.
func TestTop(t *testing.T) {
	for _, test := range []struct {
		bars Bars
		want float64
	}{
		{Bars{}, 1}, {Bars{Values: []float64{0, math.NaN()}}, 1}, {Bars{Values: []float64{0.2, 0.1}}, 0.2},
		{Bars{Values: []float64{0.2}, Line: 1}, 1}, {Bars{Values: []float64{7}, Top: 3}, 3},
		{Bars{Values: []float64{2, math.Inf(1)}}, 2},
	} {
		if got := test.bars.top(); got != test.want {
			t.Errorf("%v: %v, want %v", test.bars, got, test.want)
		}
	}
}

// TestStyles: nine series differ in colour or dashes.
func TestStyles(t *testing.T) {
	styles := map[string]bool{}
	for i := range 9 {
		styles[colours[i%len(colours)]+" "+dashes[i%len(dashes)]] = true
	}
	if len(styles) != 9 {
		t.Errorf("%d styles: %v", len(styles), styles)
	}
}

// TestWilson compares intervals with the formula in a textbook, and checks the figures of the drawing.
func TestWilson(t *testing.T) {
	for _, test := range []struct {
		share    float64
		n        int
		low, top float64
	}{{0.5, 10, 0.2366, 0.7634}, {1, 20, 0.8389, 1}, {0, 20, 0, 0.1611}, {0.75, 400, 0.7053, 0.7900}} {
		got := Wilson(test.share, test.n)
		if got.N != test.n || math.Abs(got.Low-test.low) > 1e-4 || math.Abs(got.Top-test.top) > 1e-4 {
			t.Errorf("%v of %d: %+v", test.share, test.n, got)
		}
	}
	values := []float64{0.5, math.NaN(), 1}
	svg := draw(t, &Lines{Series: []Series{{Name: "s", Values: values,
		Points: []Point{Wilson(0.5, 10), Wilson(math.NaN(), 0), Wilson(1, 0)}}}})
	if found := elements(t, svg); found["circle"] != 1 || strings.Contains(svg, "NaN") ||
		!strings.Contains(svg, "s, 0: 0.500 (0.237 to 0.763), n = 10") {
		t.Errorf("%v in %s", found, svg)
	}
}
