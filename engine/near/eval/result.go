package eval

import (
	"encoding/json"
)

// MaxK is the largest distance that is measured.
const MaxK = 10

// A Curve has a value for each distance k from 0 to [MaxK], or NaN if there was nothing to measure; JSON has null for
// that.
type Curve [MaxK + 1]float64

// MarshalJSON writes an array of numbers and nulls.
func (c Curve) MarshalJSON() ([]byte, error) {
	values := make([]Share, len(c))
	for i := range c {
		values[i] = Share(c[i])
	}
	return json.Marshal(values)
}

// Counts has a number for each distance k from 0 to [MaxK].
type Counts [MaxK + 1]int

// A Result has the measurements of [Measure].
type Result struct {
	Documents int            `json:"documents"`
	Copies    int            `json:"edited_copies,omitempty"` // documents that are edited copies
	TextBytes int            `json:"text_bytes"`
	Pairs     int            `json:"labelled_pairs"`
	Methods   []MethodResult `json:"methods"`
}

// A MethodResult has the measurements of one method.
type MethodResult struct {
	Name       string    `json:"name"`
	Recipe     string    `json:"recipe"` // recipe as JSON
	Verify     float64   `json:"verify,omitempty"`
	Seconds    float64   `json:"seconds"`             // time from texts to fingerprints, on all threads
	TooShort   int       `json:"without_fingerprint"` // documents with too few features
	Recall     []Recall  `json:"recall"`
	ByLabel    ByLabel   `json:"by_label"`
	Precision  Precision `json:"precision"`
	Figure     Figure    `json:"by_jaccard"`
	Candidates Counts    `json:"candidates"` // pairs of documents within k, before verification
}

// Recall is the recall of one kind of labelled pairs.
type Recall struct {
	Lang   string `json:"lang,omitempty"`
	Kind   string `json:"label"`
	Band   string `json:"band,omitempty"` // empty: all bands
	Pairs  int    `json:"pairs"`
	Groups int    `json:"groups"`

	PerPair  Curve  `json:"per_pair"`
	PerGroup Curve  `json:"per_group"`
	Found    Counts `json:"found"` // pairs
}

// ByLabel has the [LabelCounts] of the pairs within each k.
type ByLabel struct {
	TruePositives  Counts `json:"true_positives"`
	FalsePositives Counts `json:"false_positives"`
	FalseNegatives Counts `json:"false_negatives"`
	Precision      Curve  `json:"precision"`
	Recall         Curve  `json:"recall"`
	F1             Curve  `json:"f1"`
}

// Precision is the precision of all pairs within k.
type Precision struct {
	Reported Counts `json:"reported"` // pairs
	Share    Curve  `json:"share"`    // share of pairs with a Jaccard of at least 0.5
	Sampled  Counts `json:"judged"`   // pairs at exactly this distance with a measured Jaccard
}

// Figure is precision and recall by measured Jaccard, with equal weights of the distances. See the package comment.
type Figure struct {
	Precision Curve `json:"precision"`
	Recall    Curve `json:"recall"`
}
