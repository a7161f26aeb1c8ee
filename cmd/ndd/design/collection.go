package design

import (
	"context"
	"fmt"
	"slices"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/distribution"
	"ndd/engine/index/live"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
)

// A collection is what tables are chosen by: how many documents and fingerprints there are, and some of
// these.
type collection struct {
	Documents uint64
	idBytes   uint64 // of the documents' IDs
	distinct  distribution.Distinct
}

// fingerprints returns how many different ones there are, about.
func (c *collection) fingerprints() uint64 {
	n := c.distinct.Count()
	// An estimate that is off by less than its error is no news.
	if float64(n) > 0.98*float64(c.Documents) && n > distribution.DistinctExact {
		return c.Documents
	}
	return n
}

// Request completes r by what the collection has, but for a number of fingerprints that is set.
func (c *collection) Request(r *plan.Request) {
	// An error means that there are too few fingerprints to tell skew from chance.
	r.Sample, _ = plan.NewSample(c.distinct.Sample(), plan.SampleSize, Seed)
	if r.Fingerprints == 0 {
		r.Fingerprints, r.Documents = c.fingerprints(), c.Documents
		if r.IDs == plan.IDsNames {
			r.NameBytes = c.idBytes
		}
	}
}

// CollectFiles reads fingerprint files, all of them once. The same documents give the same collection.
func CollectFiles(ctx context.Context, files []*ndf.File) (c *collection, err error) {
	defer store.CatchFault(&err)()
	c = new(collection)
	for _, f := range files {
		c.Documents += f.Len()
		if f.HasIDs() {
			c.idBytes += f.IDBytes()
		}
		for chunk := range f.Chunks {
			for part := range slices.Chunk(chunk, 1<<20) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				c.distinct.Add(part)
			}
		}
	}
	return c, nil
}

// collectPath reads an index or a fingerprint file.
func collectPath(ctx context.Context, g *cli.Globals, path string) (*collection, error) {
	folder, _, err := cli.KindOf(path)
	if err != nil {
		return nil, err
	}
	if !folder {
		f, err := g.OpenPrintFile(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return CollectFiles(ctx, []*ndf.File{f})
	}
	m, err := live.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	parts, err := m.SegmentPaths(path)
	if err != nil {
		return nil, err
	}
	c := new(collection)
	for _, part := range parts {
		if err := c.addSegment(ctx, part); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// addSegment adds a segment of an index.
func (c *collection) addSegment(ctx context.Context, path string) error {
	f, err := store.Open(path, store.KindSegment)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := segment.Open(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer s.Close()
	if err := s.Walk(func(list []uint64) bool {
		c.distinct.Add(list)
		return ctx.Err() == nil
	}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.Documents += s.Documents()
	if ids := s.IDs(); ids != nil {
		c.idBytes += ids.Bytes()
	}
	return ctx.Err()
}
