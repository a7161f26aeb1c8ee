package dedup

import (
	"context"
	"maps"
	"slices"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
)

// Texts reads the inputs again and returns the texts of some rows. It costs as much as reading all; the texts are held in memory.
func (c *Corpus) Texts(ctx context.Context, rows []uint32, threads int) (map[uint32]string, error) {
	if err := c.readable(); err != nil {
		return nil, err
	}
	wanted := map[uint32]bool{}
	for _, row := range rows {
		wanted[row] = true
	}
	type text struct {
		unit int
		doc  string
	}
	texts, at, row := map[uint32]string{}, map[int]uint32{}, -1
	units := make(chan [2]int, len(wanted)) // unit and row, from the goroutine that scans
	_, err := ingest.Extract(ctx, c.inputs, ingest.Config{Document: c.options, Threads: threads}, ingest.Steps[text]{
		Want: func(unit int) bool {
			if !c.units.has(unit) {
				return false
			}
			if row++; !wanted[uint32(row)] {
				return false
			}
			units <- [2]int{unit, row}
			return true
		},
		Worker: func() (func(int, *document.Document) (text, error), error) {
			return func(unit int, doc *document.Document) (text, error) { return text{unit, strings.Clone(doc.Text)}, nil }, nil
		},
		Emit: func(t text) error {
			for _, found := at[t.unit]; !found; _, found = at[t.unit] {
				next := <-units
				at[next[0]] = uint32(next[1])
			}
			texts[at[t.unit]] = t.doc
			return nil
		},
	})
	if err == nil && len(texts) != len(wanted) {
		missing := slices.DeleteFunc(slices.Sorted(maps.Keys(wanted)), func(row uint32) bool { _, ok := texts[row]; return ok })
		return nil, changed(c.ID(missing[0]))
	}
	return texts, err
}
