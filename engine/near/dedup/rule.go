package dedup

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/ndd/engine/near/shingle"
)

// A Rule decides whether a document may be dropped for a kept one: the pair must reach all minima of one of the
// clauses. A rule without clauses allows every drop.
type Rule []Clause

// A Clause has minima. 0 means no minimum.
type Clause struct{ Jaccard, Contained float64 }

// A Likeness describes how much the texts of two documents share. An unknown value is 0.
type Likeness struct {
	Jaccard   float32 // similarity of the sets of shingles
	Contained float32 // share of the dropped document's shingles that the kept one has
}

// same is the likeness of a document to itself.
var same = Likeness{1, 1}

// ParseRule parses terms such as jaccard>=X and contained>=X, joined by "or" and "and". The word "and" binds more
// tightly.
func ParseRule(s string) (r Rule, err error) {
	for _, clause := range splitWord(s, "or") {
		var c Clause
		for _, term := range splitWord(clause, "and") {
			name, number, _ := strings.Cut(strings.ReplaceAll(term, " ", ""), ">=")
			threshold, err := strconv.ParseFloat(number, 64)
			if !(err == nil && threshold > 0 && threshold <= 1) || name != "jaccard" && name != "contained" {
				return nil, fmt.Errorf("%q: must be jaccard>=X or contained>=X, with X above 0 and at most 1, "+
					"or several of them joined by or and and", s)
			}
			if name == "jaccard" {
				c.Jaccard = max(c.Jaccard, threshold)
			} else {
				c.Contained = max(c.Contained, threshold)
			}
		}
		r = append(r, c)
	}
	return r, nil
}

// String returns the rule in the syntax of [ParseRule].
func (r Rule) String() string {
	var clauses []string
	for _, c := range r {
		var terms []string
		for _, t := range []struct {
			name      string
			threshold float64
		}{{"jaccard", c.Jaccard}, {"contained", c.Contained}} {
			if t.threshold > 0 {
				terms = append(terms, t.name+">="+strconv.FormatFloat(t.threshold, 'f', -1, 64))
			}
		}
		clauses = append(clauses, strings.Join(terms, " and "))
	}
	return strings.Join(clauses, " or ")
}

// margin returns by how much a likeness exceeds the minima of its best clause. It is negative if the likeness reaches
// the minima of no clause.
func (r Rule) margin(likeness Likeness) float64 {
	best := math.Inf(-1)
	for _, c := range r {
		lowest := math.Inf(1)
		if c.Jaccard > 0 {
			lowest = float64(likeness.Jaccard) - c.Jaccard
		}
		if c.Contained > 0 {
			lowest = min(lowest, float64(likeness.Contained)-c.Contained)
		}
		best = max(best, lowest)
	}
	return best
}

// splitWord splits s at each occurrence of a word between spaces.
func splitWord(s, separator string) (parts []string) {
	part := ""
	for word := range strings.FieldsSeq(s) {
		if word == separator {
			parts, part = append(parts, part), ""
		} else {
			part += " " + word
		}
	}
	return append(parts, part)
}

// threshold returns the minimum of a rule that is only a minimum of the Jaccard similarity, else 0.
func (r Rule) threshold() float64 {
	if len(r) != 1 || r[0].Contained > 0 {
		return 0
	}
	return r[0].Jaccard
}

// ByContainment reports whether a clause has a minimum of containment, so that a short document may be dropped for a
// long one.
func (r Rule) ByContainment() bool {
	return slices.ContainsFunc(r, func(c Clause) bool { return c.Contained > 0 })
}

// Judge compares the sets of shingles of a document and a kept one, and reports whether the document may be dropped. If
// not, the likeness is an upper bound. Judge does not read the sets if their sizes suffice to decide.
func (r Rule) Judge(dropped, kept []uint64) (Likeness, bool) {
	maximum := min(len(dropped), len(kept))
	if likeness, ok := r.judge(maximum, len(dropped), len(kept)); !ok {
		return likeness, false
	}
	if len(dropped) != len(kept) || maximum == 0 || &dropped[0] != &kept[0] { // else they are one set in memory
		maximum = shingle.Shared(dropped, kept)
	}
	return r.judge(maximum, len(dropped), len(kept))
}

// judge is Judge for two sizes of sets and the number of shingles in both. A larger number never prevents a drop.
func (r Rule) judge(shared, dropped, kept int) (Likeness, bool) {
	jaccard, contained := 1.0, 1.0
	if dropped > 0 {
		contained = float64(shared) / float64(dropped)
	}
	if dropped+kept > 0 {
		jaccard = float64(shared) / float64(dropped+kept-shared)
	}
	ok := len(r) == 0 || slices.ContainsFunc(r, func(c Clause) bool {
		return jaccard >= c.Jaccard && contained >= c.Contained
	})
	return Likeness{float32(jaccard), float32(contained)}, ok
}
