package eval

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/ndd/engine/result"
)

// A Label is a labelled pair of documents: a row of a table of pairs.
type Label struct {
	A, B    string // IDs of the documents
	Kind    string // a known label, or the kind of edit of [Corpus.SyntheticLabels]
	Lang    string // empty where the table has no column lang
	Jaccard float64
	Row     int // row of the table, from 1
}

// The labels. [Same] and [Similar] are positive, [Different] is negative, [Contains] is neither. Pairs with the label
// [Unsure] are ignored.
const (
	Same      = "same"
	Similar   = "similar"
	Contains  = "contains"
	Different = "different"
	Unsure    = "unsure"
)

// LabelWords has the labels by the words of a table of pairs. The paper has the words true, false and unknown (section
// 4.1).
var LabelWords = map[string]string{Same: Same, "true": Same, "duplicate": Same, Similar: Similar, Contains: Contains, Different: Different,
	"false": Different, Unsure: Unsure, "unknown": Unsure}

// ReadLabels reads a table of labelled pairs with [result.ReadTable]. It needs the columns id_a, id_b and label, with
// [LabelWords]. The columns jaccard and lang are optional, and others are ignored. Jaccard is NaN if the table does not
// have it. A pair that is repeated with the same label, in either order, is returned once; repeated is the number of
// the other rows. An error names the row.
func ReadLabels(ctx context.Context, path string) (labels []Label, repeated int, err error) {
	type labelled struct {
		pair [2]string
		kind string
	}
	seen := map[labelled]bool{}
	// Choose the columns of the table.
	row, names := 0, []string{"id_a", "id_b", "label", "jaccard", "lang"}
	err = result.ReadTable(ctx, path, func(have []string) ([]string, error) {
		for _, name := range names[:3] {
			if !slices.Contains(have, name) {
				return nil, fmt.Errorf("no column %s; there are %.200q", name, strings.Join(have, ", "))
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(have, name) })
		return names, nil
	}, func(cells []result.Cell) error {
		// Parse and check a row.
		get := func(name string) string {
			if i := slices.Index(names, name); i >= 0 {
				return cells[i].Text
			}
			return ""
		}
		row++
		l := Label{A: get("id_a"), B: get("id_b"), Kind: LabelWords[get("label")], Lang: get("lang"), Jaccard: math.NaN(), Row: row}
		if l.Kind == "" {
			return fmt.Errorf("label %.64q: must be one of %s", get("label"),
				strings.Join(slices.Sorted(maps.Keys(LabelWords)), ", "))
		}
		if l.A == l.B {
			return fmt.Errorf("%.200q is paired with itself", l.A)
		}
		if s := get("jaccard"); s != "" {
			if l.Jaccard, err = strconv.ParseFloat(s, 64); err != nil || !(l.Jaccard >= 0 && l.Jaccard <= 1) {
				return fmt.Errorf("jaccard %q: must be a number from 0 to 1", s)
			}
		}
		// Count a repeated pair, whatever the order of its IDs.
		this := labelled{[2]string{min(l.A, l.B), max(l.A, l.B)}, l.Kind}
		if seen[this] {
			repeated++
			return nil
		}
		seen[this] = true
		labels = append(labels, l)
		return nil
	})
	return labels, repeated, err
}

// LabelCounts counts labelled pairs that a method finds or misses. A pair labelled [Different] is negative. A pair
// labelled [Contains] does not count. All others are positive.
type LabelCounts struct {
	TruePositives  int `json:"true_positives"`
	FalsePositives int `json:"false_positives"`
	FalseNegatives int `json:"false_negatives"`
}

// add counts a pair.
func (c *LabelCounts) add(kind string, found bool) {
	switch {
	case kind == Contains, kind == Different && !found:
	case kind == Different:
		c.FalsePositives++
	case found:
		c.TruePositives++
	default:
		c.FalseNegatives++
	}
}

func (c *LabelCounts) precision() float64 {
	return ratio(float64(c.TruePositives), float64(c.TruePositives+c.FalsePositives))
}

func (c *LabelCounts) recall() float64 {
	return ratio(float64(c.TruePositives), float64(c.TruePositives+c.FalseNegatives))
}

func (c *LabelCounts) f1() float64 {
	return ratio(float64(2*c.TruePositives), float64(2*c.TruePositives+c.FalsePositives+c.FalseNegatives))
}

// ratio returns a/b, or NaN if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
