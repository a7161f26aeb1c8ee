package copies

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ndd/engine/copies/postings"
)

// A Method is a way of finding copies.
type Method string

// The methods.
const (
	Auto     Method = "auto"
	SpotSigs Method = "spotsigs"
	CCDet    Method = "ccdet"
	Winnow   Method = "winnow"
	Shingles Method = "shingles"
)

// A shingle has 3 words, or 5 characters of a script without spaces.
const (
	shingleWords = 3
	shingleChars = 5
)

// ParseMethod returns the method with a name, or an error with all names.
func ParseMethod(name string) (Method, error) {
	names := []string{string(Auto), string(SpotSigs), string(CCDet), string(Winnow), string(Shingles)}
	if slices.Contains(names, name) {
		return Method(name), nil
	}
	return "", fmt.Errorf("must be %s", strings.Join(names, ", "))
}

// methods are the methods that make signatures, with their defaults. If several find the same pair, the first of them
// counts.
//
// The threshold of spotsigs is for chains of 2. The threshold of winnow was chosen on one half of the development set,
// for documents that have 0.8 of another one: in the other half it finds 0.997 of these, and a threshold of 0.6
// reports four times as many wrong pairs.
//
// The minimum numbers of signatures are from the development set, too. 8 spot signatures are a paragraph. With fewer
// than 4 sentences, a single common sentence would decide the result of CCDet, such as the last one of an
// announcement. Winnow needs rows that fill a window. 4 shingles are 6 words.
var methods = []struct {
	method      Method
	measure     postings.Measure
	threshold   float64
	minFeatures int
}{
	{CCDet, postings.Containment, 0.6, 4},
	{SpotSigs, postings.Jaccard, 0.5, 8},
	{Shingles, postings.Jaccard, 0.4, 4},
	{Winnow, postings.Containment, 0.65, 3},
}

// order returns the index of a method in methods; for Auto that is CCDet's.
func order(m Method) int {
	for i := range methods {
		if methods[i].method == m {
			return i
		}
	}
	return 0
}

// Threshold returns the default threshold of the method.
func (m Method) Threshold() float64 { return methods[order(m)].threshold }

// MinFeatures returns the default minimum number of signatures.
func (m Method) MinFeatures() int { return methods[order(m)].minFeatures }

// Measure returns the similarity measure of the method.
func (m Method) Measure() postings.Measure { return methods[order(m)].measure }
