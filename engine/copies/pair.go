package copies

import (
	"cmp"
	"strings"

	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/result"
)

// A Pair is two documents with text in common.
type Pair struct {
	postings.Pair
	Relation Relation
	Flags    Flags
	Method   Method
	Score    float64 // similarity by the method

	coveredA, coveredB uint8 // percentage of each text that the signatures cover; set by asOverlap, else 0
}

// NewPair returns a pair that a method found. It adds the flag Equal if all signatures are shared.
func (o *Options) NewPair(m Method, p postings.Pair, f Flags) Pair {
	if p.SizeA == p.Shared && p.SizeB == p.Shared {
		f |= Equal
	}
	a, b, shared := int(p.SizeA), int(p.SizeB), int(p.Shared)
	limits := cmp.Or(o.Limits, DefaultLimits)
	return Pair{Pair: p, Relation: limits.relation(a, b, shared), Flags: f, Method: m,
		Score: m.Measure().Similarity(a, b, shared)}
}

// asOverlap returns the pair as an overlap: the signatures cover too little of a text. Shares are in percent.
func (p Pair) asOverlap(a, b uint8) Pair {
	p.Relation, p.coveredA, p.coveredB = Overlap, max(a, 1), max(b, 1)
	return p
}

// Flags are facts about a pair.
type Flags uint8

// The flags.
const (
	Equal Flags = 1 << iota // all signatures are shared
	FewA                    // the first document has too few signatures of its own method, or too few for its length
	FewB                    // the second document has too few
)

// Has reports whether all of some flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// String returns the names of the flags, separated by commas.
func (f Flags) String() string {
	var names []string
	for i, name := range []string{"equal", "few_a", "few_b"} {
		if f.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Swapped returns the pair with its documents in the other order.
func (p Pair) Swapped() Pair {
	p.A, p.B, p.SizeA, p.SizeB = p.B, p.A, p.SizeB, p.SizeA
	p.coveredA, p.coveredB = p.coveredB, p.coveredA
	p.Relation = p.Relation.swapped()
	if f := p.Flags & (FewA | FewB); f == FewA || f == FewB {
		p.Flags ^= FewA | FewB
	}
	return p
}

// ContainmentA returns the share of the first document that the second has: of its signatures, or of its text if they
// cover too little of that.
func (p *Pair) ContainmentA() float64 { return part(p.Shared, p.SizeA, p.coveredA) }

// ContainmentB returns the share of the second document that the first has.
func (p *Pair) ContainmentB() float64 { return part(p.Shared, p.SizeB, p.coveredB) }

func part(shared, size int32, covered uint8) float64 {
	return float64(shared) / float64(size) * float64(cmp.Or(covered, 100)) / 100
}

// Columns are the columns of a table of pairs.
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
