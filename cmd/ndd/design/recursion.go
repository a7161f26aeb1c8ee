package design

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"example.org/ndd/engine/index/plan"
	"example.org/ndd/permute"
)

// fingerprintBits is the parameter f of the paper.
const fingerprintBits = 64

// writeRecursion prints the paper's recursion X(f, k, d) for several bounds on the keys that a probe compares. Each
// line also has the design of radius 0 with the fewest tables that meets the bound.
func writeRecursion(w io.Writer, n uint64, k int) error {
	d := int(math.Ceil(math.Log2(float64(max(n, 2)))))
	fmt.Fprintf(w, "X(%d, %d, %d): the paper's tables (section 3.1.2) for 2^%d fingerprints, k = %d, and ours\n\n", fingerprintBits, k, d, d, k)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "keys a probe\tX\tblocks\tleading\tours\ttables\tleading\t")
	before := permute.Split{}
	for tau := 1; tau <= d+1; tau++ {
		x := permute.Recursion(fingerprintBits, k, d, tau)
		if x.Tables == 0 || x.Tables == before.Tables {
			continue
		}
		before = x
		name, tables, leading := "-", "-", "-"
		if x.Low > 0 { // otherwise all fingerprints are compared
			name, tables, leading = fewest(k, x.Low)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%s\t%s\t%s\t\n", plan.Count(math.Exp2(float64(d-x.Low)), ""), x.Tables, blocksText(x.Blocks), x.Low,
			name, tables, leading)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nA level of r blocks has one table for each choice of the k blocks that may differ: C(r, k) tables.")
	return err
}

// blocksText returns the numbers of blocks at each level.
func blocksText(blocks []int) string {
	if len(blocks) == 0 {
		return "-"
	}
	var words []string
	for _, r := range blocks {
		words = append(words, strconv.Itoa(r))
	}
	return strings.Join(words, " x ")
}

// fewest returns the design of the catalogue with the fewest tables, among those of radius 0 with at least some leading
// bits.
func fewest(k, minimum int) (name, tables, leading string) {
	name, tables, leading = "-", "-", "-"
	fewest := math.MaxInt
	for _, d := range permute.Catalogue(k, Seed) {
		low := fingerprintBits
		for i := range d.Tables {
			if d.Tables[i].Radius > 0 {
				low = -1
				break
			}
			low = min(low, d.Tables[i].Leading())
		}
		if low >= minimum && len(d.Tables) < fewest {
			fewest = len(d.Tables)
			name, tables, leading = d.Name, strconv.Itoa(fewest), strconv.Itoa(low)
		}
	}
	return name, tables, leading
}
