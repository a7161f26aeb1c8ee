package copies

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"ndd/engine/copies/postings"
)

// A Report counts the documents and pairs of a comparison.
type Report struct {
	Documents int
	Fallback  int // documents with too few signatures of their own method, compared by winnow and shingles
	None      int // documents with no signature at all, or too few by the only method: in no pair
	SameSite  int // pairs that were left out for being of one site
	Pairs     int

	postings.Report // of the joins, added up
}

// Pairs returns all pairs, ordered by A and B, and removes the documents. A pair that two methods
// find is one; see the package comment. With known documents ([Detector.Known]) A is one of these and B is not. The error
// is of ctx.
func (d *Detector) Pairs(ctx context.Context) ([]Pair, Report, error) {
	var all []Pair
	slices.SortFunc(d.methods, func(a, b methodSets) int { return cmp.Compare(order(a.method), order(b.method)) })
	for i := range d.methods {
		m := &d.methods[i]
		if d.hasKnown && m.known == 0 { // no pair has a known document
			continue
		}
		o := d.o.Postings(m.method)
		o.Known = m.known
		pairs, r, err := m.builder.Join(ctx, o)
		if err != nil {
			return nil, d.report, err
		}
		d.report.Add(&r)
		if found := uint64(len(all) + len(pairs)); d.o.Join.MaxPairs > 0 && found > d.o.Join.MaxPairs {
			return nil, d.report, &postings.TooManyPairsError{Max: d.o.Join.MaxPairs}
		}
		all = slices.Grow(all, len(pairs))
		for _, p := range pairs {
			a, b := m.docs[p.A], m.docs[p.B]
			site := siteAt(d.sites, a) != 0 && siteAt(d.sites, a) == siteAt(d.sites, b)
			pair := NewPair(m.method, int(p.SizeA), int(p.SizeB), int(p.Shared), flags(d.few.has(a), d.few.has(b), site))
			pair.A, pair.B = a, b
			all = append(all, pair)
		}
	}
	all, d.report.SameSite = d.o.settle(all, func(p *Pair) bool { return d.ends[p.A] && d.ends[p.B] })
	part := (*Pair).part
	if d.hasKnown {
		part = func(p *Pair) (uint32, bool) { return p.B, p.Relation == Contains }
	}
	flagCommon(all, part)
	d.report.Pairs = len(all)
	return all, d.report, d.Close()
}

// Known marks the documents so far as known: pairs are of one of them and a later document.
func (d *Detector) Known() {
	d.hasKnown = true
	for i := range d.methods {
		d.methods[i].known = len(d.methods[i].docs)
	}
	d.report = Report{Documents: d.report.Documents}
}

// Postings returns the options of the join of a method.
func (o *Options) Postings(m Method) postings.Options {
	j := o.Join
	j.Measure, j.Threshold, j.Threads = m.Measure(), o.threshold(m), o.Threads
	return j
}

// A Detector finds pairs among documents whose signatures are added. It belongs to one goroutine.
type Detector struct {
	o        Options
	methods  []methodSets
	hasKnown bool     // documents were marked as known
	few      bitmap   // of documents: too few signatures of its own method to tell by it alone
	ends     []bool   // by document: compared by CCDet
	sites    []uint64 // by document, where any has a site; see SiteOf
	report   Report
}

type methodSets struct {
	method  Method
	docs    []uint32
	known   int // of docs
	builder *postings.Builder
}

// NewDetector returns a Detector without documents.
func NewDetector(o Options) *Detector {
	o.complete()
	return &Detector{o: o}
}

// Add adds the sets of the next document.
func (d *Detector) Add(s Sets) {
	own, winnow, shingles := d.o.compared(&s)
	doc := d.document(d.o.few(&s), s.Site)
	d.ends = append(d.ends, own && s.Method == CCDet)
	switch {
	case own:
		d.add(s.Method, doc, s.Own)
	case winnow || shingles:
		d.report.Fallback++
	default:
		d.report.None++
	}
	if winnow {
		d.add(Winnow, doc, s.Winnow)
	}
	if shingles {
		d.add(Shingles, doc, s.Shingles)
	}
}

// document adds a document without its sets and returns its number. Few is set if it has too few
// signatures of its own method.
func (d *Detector) document(few bool, site uint64) (doc uint32) {
	doc = uint32(d.report.Documents)
	d.report.Documents++
	if few {
		d.few.set(doc)
	}
	if d.sites != nil || site != 0 {
		d.sites = append(d.sites, make([]uint64, int(doc)-len(d.sites))...)
		d.sites = append(d.sites, site)
	}
	return doc
}

// compared returns which of its sets a document is compared by: that of its own method unless it
// has too few signatures; with Auto that of winnow; and that of shingles if its own are too few.
// Auto compares by CCDet whatever has a signature of it, and by winnow beside it; see settle.
func (o *Options) compared(s *Sets) (own, winnow, shingles bool) {
	enough := func(m Method, set []uint64) bool { return len(set) >= max(o.minFeatures(m), 1) }
	if o.Method != Auto {
		return !o.few(s), false, false
	}
	few := o.few(s)
	own = !few || s.Method == CCDet && o.MinFeatures == 0 && len(s.Own) > 0
	return own, enough(Winnow, s.Winnow) || own && few && len(s.Winnow) > 0, !own && enough(Shingles, s.Shingles)
}

// few reports whether a document has too few signatures of its own method to tell by it alone.
func (o *Options) few(s *Sets) bool { return len(s.Own) < max(o.minFeatures(s.Method), 1) }

// minFeatures returns the minimum of signatures of a method.
func (o *Options) minFeatures(m Method) int { return cmp.Or(o.MinFeatures, m.MinFeatures()) }

// surelyLeast is the containment that winnow needs to tell of two documents of about the same size,
// whose Jaccard is below the threshold of SpotSigs, and where one has fewer signatures than
// surelySize: below it, half of these are wrong on the development set.
const (
	surelyLeast = 0.8
	surelySize  = 12
)

// settle orders pairs that are in order of their methods by their documents, leaves one or none of those that
// methods find of the same two documents, and drops those of one site if they do not count. It returns how
// many these are. Ends reports whether both documents of a pair are compared by CCDet.
func (o *Options) settle(all []Pair, ends func(*Pair) bool) (settled []Pair, sameSite int) {
	slices.SortStableFunc(all, comparePairs)
	settled = all[:0]
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && comparePairs(all[i], all[j]) == 0 {
			j++
		}
		first, last := &all[i], &all[j-1]
		few, take, ok := first.Flags&(FewA|FewB) != 0, i, true
		switch {
		case o.Method != Auto:
		case ends(first) && few: // a sentence of very many documents is not enough
			take, ok = j-1, first.Method == CCDet && last.Method == Winnow
		case ends(first):
			ok = first.Method == CCDet
		case first.Method == Winnow:
			ok = first.Score >= surelyLeast || min(first.SizeA, first.SizeB) >= surelySize &&
				(few || first.Relation == Contains || first.Relation == Contained)
		}
		if ok {
			settled = append(settled, all[take])
		}
		i = j
	}
	if o.OtherSites {
		found := len(settled)
		settled = slices.DeleteFunc(settled, func(p Pair) bool { return p.Flags.Has(SameSite) })
		sameSite = found - len(settled)
	}
	return settled, sameSite
}

// Rows orders pairs that one method has found elsewhere as [Detector.Pairs] does, drops those of one site if they do
// not count, and flags what many documents contain. It returns how many pairs of one site it drops.
func (o *Options) Rows(pairs []Pair) (rows []Pair, sameSite int) {
	rows, sameSite = o.settle(pairs, nil)
	flagCommon(rows, (*Pair).part)
	return rows, sameSite
}

func comparePairs(a, b Pair) int {
	return cmp.Compare(uint64(a.A)<<32|uint64(a.B), uint64(b.A)<<32|uint64(b.B))
}

// siteAt returns the site of a document, 0 for none.
func siteAt(sites []uint64, doc uint32) uint64 {
	if int(doc) >= len(sites) {
		return 0
	}
	return sites[doc]
}

func (d *Detector) add(m Method, doc uint32, set []uint64) {
	i := slices.IndexFunc(d.methods, func(x methodSets) bool { return x.method == m })
	if i < 0 {
		i = len(d.methods)
		d.methods = append(d.methods, methodSets{method: m, builder: postings.NewBuilder(d.o.Room)})
	}
	x := &d.methods[i]
	x.docs = append(x.docs, doc)
	x.builder.Add(set)
}

// NeedBytes returns the memory of the documents so far, until a join begins.
func (d *Detector) NeedBytes() uint64 {
	const document = 2 + 4 + 8 + 8 + 8 // few, ends, number, site, end, key of its set
	sum := uint64(d.report.Documents) * document
	for i := range d.methods {
		sum += d.methods[i].builder.NeedBytes()
	}
	return sum * 5 / 4 // slices grow by a quarter
}

// A bitmap is a set of documents, one bit each.
type bitmap []byte

func (b bitmap) has(doc uint32) bool { return int(doc/8) < len(b) && b[doc/8]>>(doc%8)&1 == 1 }

// set adds a document, growing the bitmap if necessary.
func (b *bitmap) set(doc uint32) {
	if n := int(doc/8) + 1 - len(*b); n > 0 {
		*b = append(*b, make([]byte, n)...)
	}
	(*b)[doc/8] |= 1 << (doc % 8)
}

// Close removes temporary files. It may be called again.
func (d *Detector) Close() (err error) {
	for i := range d.methods {
		err = errors.Join(err, d.methods[i].builder.Close())
	}
	return err
}
