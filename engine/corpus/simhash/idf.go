package simhash

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/ndd/engine/corpus/token"
)

// idf holds a factor for the weight of each feature, in hundredths. The factor is the inverse document frequency.
//
//	feature    factor  the header, which may be absent
//	*          6.91    any feature that has no row
//	the        0.05
//	棕 色      4.61    of two tokens, with a space between them
type idf struct {
	hundredths map[uint64]uint32 // factors by the hash of the feature
	unlisted   uint32
}

const (
	// IDFRows is the maximum number of rows of a table of factors.
	IDFRows = 1 << 22
	// IDFBytes is the maximum number of bytes of a feature in a table of factors.
	IDFBytes = 1 << 10
	// IDFOther is the feature whose row has the factor of all features without a row of their own.
	IDFOther = "*"

	idfMax = 1000
)

// readIDF reads the table of a recipe. The hash of a feature is made by folding the hashes of its tokens.
func (r *Recipe) readIDF(l *token.Lexicon, hash func(token []byte) uint64) (*idf, error) {
	t, listed := &idf{hundredths: map[uint64]uint32{}}, false
	err := r.IDF.rows(IDFRows, func(row string) error {
		feature, number, ok := strings.Cut(row, "\t")
		factor, err := strconv.ParseFloat(number, 64)
		switch {
		case row == "feature\tfactor": // the header
			return nil
		case !ok:
			return errors.New("no tab: a row is a feature, tab, factor")
		case err != nil || !(factor >= 0 && factor <= idfMax):
			return fmt.Errorf("the factor is %.32q, must be a number from 0 to %d", number, idfMax)
		case feature == IDFOther && listed:
			return fmt.Errorf("the second row of %s", IDFOther)
		case feature == IDFOther:
			t.unlisted, listed = hundredthsOf(factor), true
			return nil
		}
		h, err := r.hashFeature(feature, l, hash)
		if _, twice := t.hundredths[h]; err == nil && twice {
			err = fmt.Errorf("the second row of %.64q", feature)
		}
		t.hundredths[h] = hundredthsOf(factor)
		return err
	})
	if err == nil && !listed {
		err = fmt.Errorf("%s: no row of %s, with the factor of features that have none", r.IDF.File, IDFOther)
	}
	return t, err
}

func hundredthsOf(factor float64) uint32 { return uint32(math.Round(100 * factor)) }

// hashFeature returns the hash of a feature for its text, which is tokens in normal form with spaces between them.
func (r *Recipe) hashFeature(feature string, l *token.Lexicon, hash func(token []byte) uint64) (h uint64, err error) {
	tokens := strings.Split(feature, " ")
	if limit := r.longest(); len(tokens) > limit {
		return 0, fmt.Errorf("%.64q is %d tokens, and features of this recipe have %d at most", feature, len(tokens), limit)
	}
	for _, t := range tokens {
		// A stem may end with a character that ends a word, and in Cherokee each case becomes the other one.
		normal := l.Normal(t)
		if isNormal := strings.HasPrefix(t, normal) || l.Normal(normal) == t; normal == "" || !isNormal {
			return 0, fmt.Errorf("%.64q is not in normal form, in which it is %.64q", t, normal)
		}
	}
	return hashTokens(tokens, hash), nil
}

// longest returns the maximum number of tokens in a feature.
func (r *Recipe) longest() int {
	if r.Sketch == SketchMinwise {
		return 2
	}
	return max(r.WordShingle, r.CharShingle)
}

// factor returns the factor of a feature, in hundredths.
func (t *idf) factor(hash uint64) uint32 {
	if f, listed := t.hundredths[hash]; listed {
		return f
	}
	return t.unlisted
}

// apply multiplies the weights of features by their factors and rounds them down. It returns how many become 0.
func (t *idf) apply(hashes []uint64, weights []uint32) (zeros int) {
	for i, h := range hashes {
		weights[i] = uint32(min(uint64(weights[i])*uint64(t.factor(h))/100, math.MaxUint32))
		if weights[i] == 0 {
			zeros++
		}
	}
	return zeros
}

// hashTokens returns the hash of a feature.
func hashTokens(tokens []string, hash func([]byte) uint64) uint64 {
	h := hash([]byte(tokens[0]))
	for _, t := range tokens[1:] {
		h = token.Fold(h, hash([]byte(t)))
	}
	return h
}
