package copies

import (
	"context"
	"fmt"
	"math"
)

// An IDFRange is bounds of the normalised inverse document frequency of signatures: log(n/d) / log(n) for one that d of n documents
// have, so 1 for a signature of one document and 0 for one of all. The zero value has no bounds.
//
// SpotSigs' authors bound it at .2 and .3 in places; an upper bound below 1 drops every rare signature.
type IDFRange struct {
	Least, Most float64
}

// check says whether the bounds can be.
func (r IDFRange) check() error {
	if r != (IDFRange{}) && !(r.Least >= 0 && r.Least <= r.Most && r.Most <= 1) {
		return fmt.Errorf("inverse document frequencies of %g to %g: must be within 0 and 1, the least first", r.Least, r.Most)
	}
	return nil
}

// has reports whether a signature of so many of all documents is within the bounds.
func (r IDFRange) has(documents, all int) bool {
	if all < 2 {
		return true
	}
	idf := math.Log(float64(all)/float64(documents)) / math.Log(float64(all))
	return idf >= r.Least && idf <= r.Most
}

// filter drops the signatures of a method that the options leave out.
func (d *Detector) filter(ctx context.Context, m *methodIndex) error {
	var dropped uint64
	var err error
	switch {
	case m.method == SpotSigs && d.o.IDF != (IDFRange{}):
		all := m.builder.Documents()
		dropped, err = m.builder.KeepFrequencies(ctx, d.o.Threads, d.o.Join.MemoryBytes, func(n int) bool { return d.o.IDF.has(n, all) })
	case m.method == CCDet && d.o.SiteFeatures > 0:
		dropped, err = m.builder.DropLocal(ctx, d.o.Threads, d.o.Join.MemoryBytes, d.o.SiteFeatures, func(row uint32) uint64 { return d.site(m.docs[row]) })
	}
	d.report.Dropped += dropped
	return err
}
