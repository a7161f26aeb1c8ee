package copies

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ndd/engine/copies/postings"
)

// Relation is how two documents are related.
type Relation string

// The relations; see the package comment.
const (
	Duplicate Relation = "duplicate"
	Contains  Relation = "contains"  // the first contains the second
	Contained Relation = "contained" // the second contains the first
	Overlap   Relation = "overlap"
)

// The limits of the relations.
const (
	containmentLeast = 0.6
	lengthRatioLeast = 0.5
)

// A Pair is two documents that have text in common.
type Pair struct {
	A, B         uint32 // in order of Add, A < B
	Relation     Relation
	Method       Method
	Score        float64 // the method's similarity
	SizeA, SizeB int     // signatures
	Shared       int
	Flags        Flags
}

// Flags are what is to be known about a pair.
type Flags uint8

// The flags.
const (
	Equal    Flags = 1 << iota // all signatures are shared
	FewA                       // the first has too few signatures of its language's method: both are compared by winnow or shingles
	FewB                       // the second has
	SameSite                   // both are of one site
)

// Has reports whether all of some flags are set.
func (f Flags) Has(some Flags) bool { return f&some == some }

// String returns the names of the flags, separated by commas.
func (f Flags) String() string {
	var names []string
	for i, name := range []string{"equal", "few_a", "few_b", "same_site"} {
		if f.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// flags returns the flags of a pair; site is whether it is of one site.
func flags(fewA, fewB, site bool, sizeA, sizeB, shared int) (f Flags) {
	if sizeA == shared && sizeB == shared {
		f |= Equal
	}
	if fewA {
		f |= FewA
	}
	if fewB {
		f |= FewB
	}
	if site {
		f |= SameSite
	}
	return f
}

// ContainmentA returns the share of the first document's signatures that the second has.
func (p *Pair) ContainmentA() float64 { return float64(p.Shared) / float64(p.SizeA) }

// ContainmentB returns the share of the second document's signatures that the first has.
func (p *Pair) ContainmentB() float64 { return float64(p.Shared) / float64(p.SizeB) }

// RelationOf returns how two documents of a and b signatures are related that share some.
func RelationOf(a, b, shared int) Relation {
	small, large := min(a, b), max(a, b)
	switch {
	case float64(shared)/float64(small) < containmentLeast:
		return Overlap
	case float64(small)/float64(large) >= lengthRatioLeast:
		return Duplicate
	case a > b:
		return Contains
	}
	return Contained
}

// A Report says what was compared and what was not.
type Report struct {
	Documents int
	Methods   map[Method]int // documents by the method of their own
	Fallback  int            // documents with too few signatures of their own method, compared by winnow and shingles
	None      int            // documents with no signature at all, or too few by the only method: in no pair
	Unlisted  int            // documents with the same signatures as very many others: each is in one pair, with the first of them
	Taken     int            // of an IndexWriter: documents whose ID another one had; what became of them says Options.OnConflict
	TakenIDs  []string       // some of these IDs
	SameSite  int            // pairs that were left out for being of one site
	Dropped   uint64         // signatures that the options leave out, once for each document that had one
	Pairs     int

	// What the joins say, added up; see [postings.Report].
	Common, Frequent, Slices int
	Candidates               uint64
	Lookups, Postings        uint64
	Traffic                  postings.Traffic
}

// add adds the report of one method's join.
func (r *Report) add(j *postings.Report) {
	r.Common += j.Common
	r.Frequent += j.Frequent
	r.Unlisted += j.Unlisted
	r.Slices += j.Slices
	r.Candidates += j.Candidates
	r.Lookups += j.Lookups
	r.Postings += j.Postings
	r.Traffic.Add(j.Traffic)
}

// A Detector takes the signatures of documents and finds pairs. It belongs to one goroutine.
type Detector struct {
	collection
}

// NewDetector returns a Detector without documents.
func NewDetector(o Options) *Detector {
	return &Detector{newCollection(o)}
}

// Pairs returns all pairs, ordered by A and B, and forgets the documents. A pair that two methods find is that of its language's
// method. The error is of ctx.
func (d *Detector) Pairs(ctx context.Context) ([]Pair, Report, error) {
	var all []Pair
	slices.SortFunc(d.methods, func(a, b methodIndex) int { return cmp.Compare(order(a.method), order(b.method)) })
	for i := range d.methods {
		m := &d.methods[i]
		if err := d.filter(ctx, m); err != nil {
			return nil, d.report, err
		}
		pairs, r, err := m.builder.Join(ctx, d.o.join(m.method))
		if err != nil {
			return nil, d.report, err
		}
		d.report.add(&r)
		for _, p := range pairs {
			a, b := m.docs[p.A], m.docs[p.B]
			if m.method == Winnow && d.o.Method == Auto && !d.few[a] && !d.few[b] {
				continue // both are compared by their languages' methods
			}
			site := d.site(a) != 0 && d.site(a) == d.site(b)
			if d.o.OtherSites && site {
				d.report.SameSite++
				continue
			}
			all = append(all, Pair{A: a, B: b, Relation: RelationOf(p.SizeA, p.SizeB, p.Shared), Method: m.method,
				Score: m.method.Measure().Similarity(p.SizeA, p.SizeB, p.Shared), SizeA: p.SizeA, SizeB: p.SizeB, Shared: p.Shared,
				Flags: flags(d.few[a], d.few[b], site, p.SizeA, p.SizeB, p.Shared)})
		}
	}
	slices.SortStableFunc(all, func(a, b Pair) int { return cmp.Compare(uint64(a.A)<<32|uint64(a.B), uint64(b.A)<<32|uint64(b.B)) })
	all = slices.CompactFunc(all, func(a, b Pair) bool { return a.A == b.A && a.B == b.B })
	d.report.Pairs = len(all)
	d.methods = nil
	return all, d.report, nil
}

// inOrder are the methods that make sets: of a pair that several find, the first one's result counts.
var inOrder = []Method{CCDet, SpotSigs, Shingles, Winnow}

func order(m Method) int { return slices.Index(inOrder, m) }
