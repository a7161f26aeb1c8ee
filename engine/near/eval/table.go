package eval

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// A textTable has rows of equal length: a name and cells.
type textTable [][]string

// row adds a row with a cell for each distance.
func (t *textTable) row(name string, cell func(k int) string) {
	cells := []string{name}
	for k := range MaxK + 1 {
		cells = append(cells, cell(k))
	}
	*t = append(*t, cells)
}

// String aligns names on the left and cells on the right.
func (t textTable) String() string {
	widths := make([]int, len(t[0]))
	for _, cells := range t {
		for i, c := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, cells := range t {
		fmt.Fprintf(&b, "%-*s", widths[0], cells[0])
		for i, c := range cells[1:] {
			fmt.Fprintf(&b, "  %*s", widths[i+1], c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cell formats a value. NaN is a dash.
func cell(format string, value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return fmt.Sprintf(format, value)
}

// plural returns a number and a noun.
func plural(n int, noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok && n != 1 {
		noun = stem + "ies"
	} else if n != 1 {
		noun += "s"
	}
	return humanize.Comma(int64(n)) + " " + noun
}
