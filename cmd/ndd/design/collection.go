package design

import (
	"context"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/storage/store"
)

// A collection has the facts about fingerprints that the choice of tables depends on: their number, a sample, and the
// size of IDs.
type collection struct {
	Documents uint64
	idBytes   uint64 // total bytes of the IDs
	distinct  distribution.Distinct
}

// fingerprints returns the estimated number of distinct fingerprints.
func (c *collection) fingerprints() uint64 {
	n := c.distinct.Count()
	// Ignore a difference that is smaller than the error of the estimate.
	if float64(n) > 0.98*float64(c.Documents) && n > distribution.DistinctExact {
		return c.Documents
	}
	return n
}

// Request completes r by the collection. It keeps a number of fingerprints that is set.
func (c *collection) Request(r *plan.Request) {
	// An error means that there are too few fingerprints to distinguish skew from chance.
	r.Sample, _ = plan.NewSample(c.distinct.Sample(), plan.SampleSize, Seed)
	if r.Fingerprints == 0 {
		r.Fingerprints, r.Documents = c.fingerprints(), c.Documents
		if r.IDs == plan.IDsNames {
			r.NameBytes = c.idBytes
		}
	}
}

// CollectFiles reads all fingerprint files once. The same documents give the same collection.
func CollectFiles(ctx context.Context, files []*ndf.File) (c *collection, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	c = new(collection)
	for _, f := range files {
		c.Documents += f.Len()
		if f.HasIDs() {
			c.idBytes += f.IDBytes()
		}
		if err := cli.EachChunk(ctx, f, c.distinct.Add); err != nil {
			return nil, err
		}
	}
	return c, nil
}
