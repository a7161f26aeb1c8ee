package copies

import (
	"cmp"
	"fmt"

	"example.org/ndd/engine/copies/ccdet"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/copies/spotsigs"
)

// Options configures a Signer, a Detector or a Writer. The zero value is the default.
type Options struct {
	Method      Method           // default Auto
	Threshold   float64          // minimum similarity for every method; the default depends on the method
	MinFeatures int              // minimum number of signatures of a document; the default depends on the method
	SpotSigs    spotsigs.Options // lists, spot distance, chain length
	Ends        string           // sentence ends of CCDet; default ccdet.PaperEnds for the method CCDet, else ccdet.Ends
	Bags        bool             // a signature counts as often as it occurs in both documents, as in the code of SpotSigs

	// The other fields are for a Detector only.

	Limits RelationLimits // default DefaultLimits

	Room postings.Room    // memory for the sets of one method
	Join postings.Options // threads, memory and limits of a join; the fields above set the others
}

func (o *Options) complete() {
	o.Method = cmp.Or(o.Method, Auto)
	if o.Ends == "" && o.Method == CCDet {
		o.Ends = ccdet.PaperEnds
	}
	o.Ends = cmp.Or(o.Ends, ccdet.Ends)
	o.SpotSigs.Complete()
}

// check returns an error that names an option out of range.
func (o *Options) check() error {
	if !(o.Threshold >= 0 && o.Threshold <= 1) {
		return fmt.Errorf("threshold %g: must be above 0 and at most 1", o.Threshold)
	}
	if o.MinFeatures < 0 {
		return fmt.Errorf("%d signatures at least: must not be negative", o.MinFeatures)
	}
	return nil
}

// ThresholdOf returns the threshold of a method. Documents share fewer long chains of spot signatures, so the default
// for chains of more than 2 is lower.
func (o *Options) ThresholdOf(m Method) float64 {
	const longChains = 0.45
	spots := o.SpotSigs
	spots.Complete()
	switch {
	case o.Threshold != 0:
		return o.Threshold
	case m == SpotSigs && spots.Chain > 2:
		return longChains
	}
	return m.Threshold()
}

// MinFeaturesOf returns the minimum number of signatures of a method.
func (o *Options) MinFeaturesOf(m Method) int { return cmp.Or(o.MinFeatures, m.MinFeatures()) }

// JoinOptions returns the options of the join of a method.
func (o *Options) JoinOptions(m Method) postings.Options {
	j := o.Join
	j.Measure, j.Threshold = m.Measure(), o.ThresholdOf(m)
	j.MaxDocuments = cmp.Or(j.MaxDocuments, postings.MaxDocuments)
	return j
}
