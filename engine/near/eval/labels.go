package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ndd/engine/result"
)

// A Label is one labelled pair of documents, as a row of a table of pairs gives it.
type Label struct {
	A, B    string // IDs of the documents
	Kind    string // "same", "similar", "contains", "different", "unsure" or another word
	Lang    string // empty where the table has no column lang
	Jaccard float64
	Row     int // of the table, from 1
}

// Known labels. Pairs of other kinds are counted as positives under their own name, but for
// [Unsure], which is left out.
const (
	Same      = "same"
	Similar   = "similar"
	Contains  = "contains"
	Different = "different"
	Unsure    = "unsure"
)

// ReadLabels reads a table of labelled pairs, as of [result.ReadTable], with at least the columns
// id_a, id_b and label; the columns jaccard and lang are optional, and others are ignored. Jaccard is
// NaN where the table does not have it. A pair that is repeated with the same label, either way round,
// is returned once; repeated counts the rows left out. The error names the row.
func ReadLabels(ctx context.Context, path string) (labels []Label, repeated int, err error) {
	type labelled struct {
		pair [2]string
		kind string
	}
	seen := map[labelled]bool{}
	row := 0
	err = readTable(ctx, path, []string{"id_a", "id_b", "label"}, func(get func(string) string) error {
		row++
		l := Label{A: get("id_a"), B: get("id_b"), Kind: get("label"), Lang: get("lang"), Jaccard: math.NaN(), Row: row}
		if l.Kind == "" {
			return errors.New("the label is empty")
		}
		if l.A == l.B {
			return fmt.Errorf("%.200q is paired with itself", l.A)
		}
		if s := get("jaccard"); s != "" {
			if l.Jaccard, err = parseShare(s); err != nil {
				return err
			}
		}
		this := labelled{pairKey(l.A, l.B), l.Kind}
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

// Truth holds the Jaccard of pairs that are known to be alike, by the documents' IDs, the smaller
// first.
type Truth map[[2]string]float64

// ReadTruth reads a table of every pair of a corpus with a Jaccard of at least 0.5: columns id_a,
// id_b and jaccard. Pairs that it does not have count as less alike. The error names the row.
func ReadTruth(ctx context.Context, path string) (Truth, error) {
	truth := Truth{}
	return truth, readTable(ctx, path, []string{"id_a", "id_b", "jaccard"}, func(get func(string) string) (err error) {
		truth[pairKey(get("id_a"), get("id_b"))], err = parseShare(get("jaccard"))
		return err
	})
}

func pairKey(a, b string) [2]string {
	if a > b {
		a, b = b, a
	}
	return [2]string{a, b}
}

func parseShare(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return 0, fmt.Errorf("jaccard %q: must be a number from 0 to 1", s)
	}
	return f, nil
}

// readTable calls row for each row of a table that has the needed columns, with a function that
// returns the value of one of these, of jaccard or of lang, empty where there is none.
func readTable(ctx context.Context, path string, needed []string, row func(get func(string) string) error) error {
	want := append(needed, "jaccard", "lang")
	return result.ReadTable(ctx, path, func(have []string) ([]string, error) {
		for _, name := range needed {
			if !slices.Contains(have, name) {
				return nil, fmt.Errorf("no column %s; there are %.200q", name, strings.Join(have, ", "))
			}
		}
		want = slices.DeleteFunc(want, func(name string) bool { return !slices.Contains(have, name) })
		return want, nil
	}, func(cells []result.Cell) error {
		return row(func(name string) string {
			if i := slices.Index(want, name); i >= 0 {
				return cells[i].Text
			}
			return ""
		})
	})
}
