package copies

import (
	"strings"

	"ndd/engine/result"
)

// Relation is how two documents are related.
type Relation uint8

// The relations; see the package comment.
const (
	Overlap Relation = iota
	Duplicate
	Revised
	Contains  // the first contains the second
	Contained // the second contains the first
)

// String returns the name of the relation.
func (r Relation) String() string {
	return [...]string{"overlap", "duplicate", "revised", "contains", "contained"}[r]
}

// The limits of the relations.
const (
	containmentLeast = 0.6
	lengthRatioLeast = 0.5
	duplicateLeast   = 0.8 // Jaccard
	wholeLeast       = 0.9 // containment from which the length does not matter
)

// A Pair is two documents that have text in common.
type Pair struct {
	A, B         uint32 // in order of Add, A < B
	SizeA, SizeB int32  // signatures
	Shared       int32
	Relation     Relation
	Flags        Flags
	Method       Method
	Score        float64 // the method's similarity
}

// Flags are facts about a pair.
type Flags uint8

// The flags.
const (
	Equal Flags = 1 << iota // all signatures are shared
	// the first has too few signatures of its language's method: both are compared by winnow or
	// shingles
	FewA
	FewB     // the second has
	SameSite // both are of one site
	Common   // the one that is contained is so in more than commonIn documents
)

// commonIn is in how many documents another one is contained at most before it is common: a notice,
// a licence, the text of a template.
const commonIn = 20

// Has reports whether all of some flags are set.
func (f Flags) Has(some Flags) bool { return f&some == some }

// String returns the names of the flags, separated by commas.
func (f Flags) String() string {
	var names []string
	for i, name := range []string{"equal", "few_a", "few_b", "same_site", "common"} {
		if f.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// flags returns the flags that are set by both documents of a pair; site is whether they are of one
// site.
func flags(fewA, fewB, site bool) (f Flags) {
	for i, set := range []bool{fewA, fewB, site} {
		if set {
			f |= FewA << i
		}
	}
	return f
}

// NewPair returns a pair that a method finds, without its documents, with the flag Equal where it belongs.
func NewPair(m Method, sizeA, sizeB, shared int, f Flags) Pair {
	if sizeA == shared && sizeB == shared {
		f |= Equal
	}
	return Pair{Relation: relationOf(sizeA, sizeB, shared), Method: m, Score: m.Measure().Similarity(sizeA, sizeB, shared),
		SizeA: int32(sizeA), SizeB: int32(sizeB), Shared: int32(shared), Flags: f}
}

// Swapped returns the pair with its documents in the other order.
func (p Pair) Swapped() Pair {
	p.A, p.B, p.SizeA, p.SizeB = p.B, p.A, p.SizeB, p.SizeA
	p.Flags = p.Flags&^(FewA|FewB) | flags(p.Flags.Has(FewB), p.Flags.Has(FewA), false)
	switch p.Relation {
	case Contains:
		p.Relation = Contained
	case Contained:
		p.Relation = Contains
	}
	return p
}

// part returns the document that the other one contains; ok is false if none is.
func (p *Pair) part() (doc uint32, ok bool) {
	if p.Relation == Contained {
		return p.A, true
	}
	return p.B, p.Relation == Contains
}

// flagCommon sets the flag Common of pairs, given a function that returns which document the other one of
// a pair contains, if any.
func flagCommon(pairs []Pair, part func(*Pair) (doc uint32, ok bool)) {
	in := map[uint32]int{}
	for i := range pairs {
		if doc, ok := part(&pairs[i]); ok {
			in[doc]++
		}
	}
	for i := range pairs {
		if doc, ok := part(&pairs[i]); ok && in[doc] > commonIn {
			pairs[i].Flags |= Common
		}
	}
}

// ContainmentA returns the share of the first document's signatures that the second has.
func (p *Pair) ContainmentA() float64 { return float64(p.Shared) / float64(p.SizeA) }

// ContainmentB returns the share of the second document's signatures that the first has.
func (p *Pair) ContainmentB() float64 { return float64(p.Shared) / float64(p.SizeB) }

// relationOf returns the relation of two documents of a and b signatures, of which they share some.
func relationOf(a, b, shared int) Relation {
	small, large := min(a, b), max(a, b)
	switch {
	case float64(shared)/float64(small) < containmentLeast:
		return Overlap
	case float64(shared)/float64(a+b-shared) >= duplicateLeast:
		return Duplicate
	case float64(small)/float64(large) >= lengthRatioLeast && float64(shared)/float64(small) < wholeLeast:
		return Revised
	case a > b:
		return Contains
	}
	return Contained
}

// Columns are the columns of a table of pairs, which [Pair.Write] writes the rows of.
var Columns = []result.Column{{Name: "id_a", Kind: result.Text}, {Name: "id_b", Kind: result.Text},
	{Name: "relation", Kind: result.Text},
	{Name: "score", Kind: result.Real}, {Name: "a_in_b", Kind: result.Real}, {Name: "b_in_a", Kind: result.Real},
	{Name: "size_a", Kind: result.Integer}, {Name: "size_b", Kind: result.Integer}, {Name: "shared", Kind: result.Integer},
	{Name: "method", Kind: result.Text}, {Name: "flags", Kind: result.Text}}

// Write writes the pair as a row of a table, with the IDs of its documents.
func (p *Pair) Write(t *result.TableWriter, a, b string) error {
	t.Text(a).Text(b).Text(p.Relation.String()).Real(p.Score).Real(p.ContainmentA()).Real(p.ContainmentB())
	t.Integer(int64(p.SizeA)).Integer(int64(p.SizeB)).Integer(int64(p.Shared))
	return t.Text(string(p.Method)).Text(p.Flags.String()).End()
}
