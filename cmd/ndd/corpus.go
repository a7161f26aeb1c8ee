package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"ndd/engine"
	"ndd/engine/ingest"
	"ndd/engine/simhash"
)

// A corpus is documents by row: their fingerprints, names, and the lengths of
// their texts where these are known.
type corpus struct {
	recipe *simhash.Recipe // nil for raw fingerprints
	prints []uint64
	names  []string
	bytes  []uint32 // empty for raw fingerprints
}

// corpus reads fingerprint files, or fingerprints documents. partly is
// errPartly when some of the input was skipped.
func (g *globals) corpus(ctx context.Context, inputs []string, docs *documentFlags, recipe *simhash.Recipe) (c *corpus, partly, err error) {
	c = new(corpus)
	prints, err := arePrints(inputs)
	if err != nil {
		return nil, nil, err
	}
	if prints {
		return c, nil, c.open(ctx, g, inputs)
	}
	config, err := docs.config(g, recipe)
	if err != nil {
		return nil, nil, err
	}
	c.recipe = &config.Recipe
	_, err = g.ingest(ctx, inputs, config, func(r ingest.Record) error {
		if r.OK {
			c.prints = append(c.prints, uint64(r.Fingerprint))
			c.names = append(c.names, r.ID)
			c.bytes = append(c.bytes, uint32(min(uint64(r.TextBytes), math.MaxUint32)))
		}
		return nil
	})
	if err == errPartly {
		return c, err, nil
	}
	return c, nil, err
}

func (c *corpus) open(ctx context.Context, g *globals, paths []string) error {
	files, err := openPrints(paths)
	if err != nil {
		return err
	}
	defer closePrints(files)
	c.recipe = files[0].Recipe()
	for _, f := range files {
		if s := f.Store(); s != nil {
			if err := s.Verify(ctx, g.threads, nil); err != nil {
				return err
			}
		}
		r := f.Recipe()
		if (r == nil) != (c.recipe == nil) {
			return fmt.Errorf("%w: one of %s and %s has raw fingerprints", engine.ErrMixed, files[0].Path(), f.Path())
		}
		if r != nil {
			if err := c.recipe.Check(*r); err != nil {
				return fmt.Errorf("%w: %s and %s: %w", engine.ErrMixed, files[0].Path(), f.Path(), err)
			}
		} else {
			for row := range f.Len() {
				c.names = append(c.names, strconv.FormatUint(uint64(len(c.prints))+row, 10))
			}
		}
		c.prints = append(c.prints, f.Fingerprints()...)
		for chunk := range f.TextBytes {
			c.bytes = append(c.bytes, chunk...)
		}
		for name, err := range f.Names {
			if err != nil {
				return fmt.Errorf("%s: %w", f.Path(), err)
			}
			c.names = append(c.names, name)
		}
	}
	return nil
}

// prefer is the order of a keep policy: which of two rows to keep.
func (c *corpus) prefer(keep string) (func(a, b int) int, error) {
	switch keep {
	case "first":
		return nil, nil
	case "longest", "shortest":
		if len(c.bytes) != len(c.prints) {
			return nil, usagef("--keep %s: raw fingerprints do not say how long the texts were", keep)
		}
		if keep == "longest" {
			return func(a, b int) int { return cmp.Compare(c.bytes[b], c.bytes[a]) }, nil
		}
		return func(a, b int) int { return cmp.Compare(c.bytes[a], c.bytes[b]) }, nil
	}
	return nil, usagef("--keep %q: must be first, longest or shortest", keep)
}

// only keeps the rows of a list.
func (c *corpus) only(rows []int) *corpus {
	n := &corpus{recipe: c.recipe}
	for _, row := range rows {
		n.prints = append(n.prints, c.prints[row])
		n.names = append(n.names, c.names[row])
		if len(c.bytes) > 0 {
			n.bytes = append(n.bytes, c.bytes[row])
		}
	}
	return n
}
