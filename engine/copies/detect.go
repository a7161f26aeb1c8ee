package copies

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/storage/store"
)

// A Report counts the documents and pairs of a comparison.
type Report struct {
	Documents int
	Fallback  int // documents with too few signatures of their own method, compared by winnow and shingles
	None      int // documents with too few signatures to be compared
	Pairs     int

	postings.Report // sum of all joins
}

// A Detector finds pairs among documents whose signatures are added. It belongs to one goroutine.
type Detector struct {
	o        Options
	methods  []methodSets
	hasKnown bool    // MarkKnown was called
	facts    []facts // facts of each document
	covered  []uint8 // coverage of each document, see [Sets]
	report   Report
}

// methodSets are the sets of the documents that one method compares.
type methodSets struct {
	method    Method
	docs      []uint32 // numbers of the documents, in order of the sets
	knownDocs int      // number of known documents among them
	builder   *postings.Builder
}

// facts are bits that describe a document.
type facts uint8

const (
	fewSignatures   facts = 1 << iota // too few signatures of its own method, or too few for its length
	sentencesInText                   // compared by CCDet
)

// NewDetector returns a Detector without documents.
func NewDetector(o Options) *Detector {
	o.complete()
	return &Detector{o: o}
}

// Add adds the sets of the next document.
func (d *Detector) Add(s Sets) {
	doc := uint32(d.report.Documents)
	d.report.Documents++
	compared, f := d.o.comparedSets(s), facts(0)
	if d.o.hasFew(&s) {
		f |= fewSignatures
	}
	if compared.Own != nil && s.Method == CCDet && f == 0 {
		f |= sentencesInText
	}
	d.facts, d.covered = append(d.facts, f), append(d.covered, s.Covered)
	switch {
	case compared.Own != nil:
	case compared.Winnow != nil || compared.Shingles != nil:
		d.report.Fallback++
	default:
		d.report.None++
	}
	d.add(s.Method, doc, compared.Own)
	d.add(Winnow, doc, compared.Winnow)
	d.add(Shingles, doc, compared.Shingles)
}

// add adds the set of a document to the sets of a method, unless it is nil.
func (d *Detector) add(m Method, doc uint32, set []uint64) {
	if set == nil {
		return
	}
	i := slices.IndexFunc(d.methods, func(x methodSets) bool { return x.method == m })
	if i < 0 {
		i = len(d.methods)
		d.methods = append(d.methods, methodSets{method: m, builder: postings.NewBuilder(d.o.Room)})
	}
	x := &d.methods[i]
	x.docs = append(x.docs, doc)
	x.builder.Add(set)
}

// AddFile adds the documents of a signature file, as [Detector.Add] does.
func (d *Detector) AddFile(f *File) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	for s, err := range f.All() {
		if err != nil {
			return err
		}
		d.Add(s)
	}
	return nil
}

// MarkKnown marks the documents so far as known. Every pair will have a known document and a later one. The report
// counts only later documents, except in Report.Documents.
func (d *Detector) MarkKnown() {
	d.hasKnown = true
	for i := range d.methods {
		d.methods[i].knownDocs = len(d.methods[i].docs)
	}
	d.report = Report{Documents: d.report.Documents}
}

// Pairs returns all pairs, ordered by A and B, and removes the documents. With known documents A is a known one and B
// is not. It returns the error of ctx or of a temporary file, or a [postings.TooManyPairsError].
func (d *Detector) Pairs(ctx context.Context) ([]Pair, Report, error) {
	var all []Pair
	// Join the sets of each method.
	slices.SortFunc(d.methods, func(a, b methodSets) int { return cmp.Compare(order(a.method), order(b.method)) })
	for i := range d.methods {
		m := &d.methods[i]
		if d.hasKnown && m.knownDocs == 0 { // no pair has a known document
			continue
		}
		o := d.o.JoinOptions(m.method)
		o.Known = m.knownDocs
		pairs, r, err := m.builder.Join(ctx, o)
		if err != nil {
			return nil, d.report, err
		}
		// Add the counts, and limit the pairs of all methods together.
		d.report.Add(&r)
		if total := uint64(len(all) + len(pairs)); o.MaxPairs > 0 && total > o.MaxPairs {
			return nil, d.report, &postings.TooManyPairsError{Max: o.MaxPairs}
		}
		all = slices.Grow(all, len(pairs))
		// Replace numbers of sets by documents. Winnow must confirm pairs of few signatures.
		isOwn := m.method != Winnow && m.method != Shingles
		for _, p := range pairs {
			p.A, p.B = m.docs[p.A], m.docs[p.B]
			pair, ok := d.o.NewPair(m.method, p, d.flags(p.A, p.B)), true
			if few := pair.Flags&(FewA|FewB) != 0; few && d.o.Method != Auto {
				pair = pair.asOverlap(d.covered[p.A], d.covered[p.B])
			} else if few && isOwn {
				var w Pair
				if w, ok = d.confirm(pair); min(d.covered[p.A], d.covered[p.B]) < autoCover {
					pair = w
				}
			}
			if ok {
				all = append(all, pair)
			}
		}
	}
	// Keep one pair for two documents.
	all = d.o.settle(all, func(p *Pair) bool { return d.facts[p.A]&d.facts[p.B]&sentencesInText != 0 })
	d.report.Pairs = len(all)
	return all, d.report, d.Close()
}

// flags returns the flags of two documents.
func (d *Detector) flags(a, b uint32) (f Flags) {
	if d.facts[a]&fewSignatures != 0 {
		f |= FewA
	}
	if d.facts[b]&fewSignatures != 0 {
		f |= FewB
	}
	return f
}

// Close removes temporary files. It may be called again.
func (d *Detector) Close() (err error) {
	for i := range d.methods {
		err = errors.Join(err, d.methods[i].builder.Close())
	}
	return err
}

// confirm returns the pair that winnow finds instead of a pair whose own signatures are too few for the length of a
// text. It returns false if winnow finds too little in common.
func (d *Detector) confirm(p Pair) (_ Pair, ok bool) {
	i := slices.IndexFunc(d.methods, func(x methodSets) bool { return x.method == Winnow })
	if i < 0 {
		return p, false
	}
	x := &d.methods[i]
	a, okA := slices.BinarySearch(x.docs, p.A)
	b, okB := slices.BinarySearch(x.docs, p.B)
	if !okA || !okB {
		return p, false
	}
	w := x.builder.Pair(uint32(a), uint32(b))
	w.A, w.B = p.A, p.B
	p = d.o.NewPair(Winnow, w, p.Flags&^Equal)
	jaccard := postings.Jaccard.Similarity(int(w.SizeA), int(w.SizeB), int(w.Shared))
	return p, jaccard >= confirmJaccard || p.Score >= d.o.ThresholdOf(Winnow)
}
