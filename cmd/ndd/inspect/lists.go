package inspect

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/copies/lists"
)

// DescribeLists says how large the lists of each method are.
func DescribeLists(stats map[copies.Method]lists.Stats) (lines []string) {
	for _, m := range slices.Sorted(maps.Keys(stats)) {
		s := stats[m]
		line := fmt.Sprintf("%s: %s in %s, %s of one document, %s", m, cli.Number(s.Shared, "shared signature"), cli.Number(s.Documents, "document"),
			humanize.Comma(int64(s.Single)), cli.Number(s.Lists, "different list"))
		if s.Documents > 0 {
			line += fmt.Sprintf("; bytes per document: %.1f, and %.1f for signatures of one document",
				float64(s.Bytes())/float64(s.Documents), float64(s.SingleBytes)/float64(s.Documents))
		}
		lines = append(lines, line)
	}
	return lines
}
