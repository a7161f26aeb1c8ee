package eval

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// thresholds is the number of thresholds that are measured: 1/thresholds, 2/thresholds, ... 1.
const thresholds = 20

// A Scoring has the scores of labelled pairs by one method.
type Scoring struct {
	Name      string
	Threshold float64   // default of the method
	Scores    []float64 // 0 for a pair that is never found; NaN if a document has too few signatures

	// Containment is true if the score is a containment. Then pairs labelled [Contains] are positive; else they are
	// neither positive nor negative.
	Containment bool
}

// A ThresholdResult is precision and recall over thresholds of the score, by the labels alone.
type ThresholdResult struct {
	Documents int                `json:"documents"`
	Pairs     int                `json:"labelled_pairs"`
	Methods   []MethodThresholds `json:"methods"`
}

// MethodThresholds are the results of one method for the pairs of one language.
type MethodThresholds struct {
	Name       string            `json:"name"`
	Lang       string            `json:"lang,omitempty"`
	Pairs      int               `json:"labelled_pairs"`
	Default    float64           `json:"default_threshold"`
	TooFew     int               `json:"pairs_with_too_few_signatures"`
	Thresholds []ThresholdCounts `json:"thresholds"`
}

// ThresholdCounts are the counts of the pairs with at least a threshold.
type ThresholdCounts struct {
	Threshold float64 `json:"threshold"`
	LabelCounts
	Precision Share `json:"precision"`
	Recall    Share `json:"recall"`
	F1        Share `json:"f1"`
}

// A Share is a number from 0 to 1, or NaN if there was nothing to measure; JSON has null for that.
type Share float64

// MarshalJSON writes a number or null.
func (s Share) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(s)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(s))
}

// MeasureThresholds counts labelled pairs of a corpus by language, label and score.
func (c *Corpus) MeasureThresholds(pairs []Pair, scorings []Scoring) *ThresholdResult {
	r := &ThresholdResult{Documents: c.Len(), Pairs: len(pairs)}
	byLang := map[string][]int{} // indexes of pairs
	for i := range pairs {
		byLang[pairs[i].Lang] = append(byLang[pairs[i].Lang], i)
	}
	for i := range scorings {
		for _, lang := range slices.Sorted(maps.Keys(byLang)) {
			r.Methods = append(r.Methods, scorings[i].measure(lang, pairs, byLang[lang]))
		}
	}
	return r
}

// measure returns the results for some of the pairs.
func (s *Scoring) measure(lang string, pairs []Pair, indexes []int) MethodThresholds {
	m := MethodThresholds{Name: s.Name, Lang: lang, Pairs: len(indexes), Default: s.Threshold}
	for _, i := range indexes {
		if math.IsNaN(s.Scores[i]) {
			m.TooFew++
		}
	}
	for step := range thresholds {
		t := ThresholdCounts{Threshold: float64(step+1) / thresholds}
		for _, i := range indexes {
			kind := pairs[i].Kind
			if kind == Contains && s.Containment {
				kind = Same
			}
			t.add(kind, s.Scores[i] >= t.Threshold)
		}
		t.Precision, t.Recall, t.F1 = Share(t.precision()), Share(t.recall()), Share(t.f1())
		m.Thresholds = append(m.Thresholds, t)
	}
	return m
}
