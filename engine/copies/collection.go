package copies

import (
	"cmp"
	"errors"
	"slices"

	"ndd/engine/copies/postings"
)

// A collection is the signatures of documents by the methods that they are compared by.
type collection struct {
	o       Options
	methods []methodIndex
	few     []bool   // by document: too few signatures of its own method
	sites   []uint64 // by document, where any has a site; see SiteOf
	report  Report
}

// methodIndex is the documents of one method.
type methodIndex struct {
	method  Method
	docs    []uint32
	builder *postings.Builder
}

func newCollection(o Options) collection {
	o.complete()
	return collection{o: o, report: Report{Methods: map[Method]int{}}}
}

// Add adds the sets of the next document.
func (d *collection) Add(s Sets) {
	own, winnow, shingles := d.o.compared(&s)
	doc := d.document(!own, s.Site)
	d.report.Methods[s.Method]++
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

// document adds a document without its sets, and returns its number. Few is whether it has too few signatures of its own method.
func (d *collection) document(few bool, site uint64) (doc uint32) {
	doc = uint32(d.report.Documents)
	d.report.Documents++
	d.few = append(d.few, few)
	if d.sites != nil || site != 0 {
		d.sites = append(d.sites, make([]uint64, int(doc)-len(d.sites))...)
		d.sites = append(d.sites, site)
	}
	return doc
}

// compared says by which of its sets a document is compared: that of its own method, unless it has too few signatures, and
// where all are compared by their languages' methods that of winnow, and that of shingles where its own are too few.
func (o *Options) compared(s *Sets) (own, winnow, shingles bool) {
	enough := func(m Method, set []uint64) bool { return len(set) >= max(cmp.Or(o.MinFeatures, m.MinFeatures()), 1) }
	own = enough(s.Method, s.Own)
	return own, o.Method == Auto && enough(Winnow, s.Winnow), o.Method == Auto && !own && enough(Shingles, s.Shingles)
}

// site returns the site of a document, 0 for none.
func (d *collection) site(doc uint32) uint64 {
	if int(doc) >= len(d.sites) {
		return 0
	}
	return d.sites[doc]
}

func (d *collection) add(m Method, doc uint32, set []uint64) {
	i := slices.IndexFunc(d.methods, func(x methodIndex) bool { return x.method == m })
	if i < 0 {
		i = len(d.methods)
		d.methods = append(d.methods, methodIndex{method: m, builder: postings.NewBuilder(d.o.Room)})
	}
	x := &d.methods[i]
	x.docs = append(x.docs, doc)
	x.builder.Add(set)
}

// NeedBytes returns the most memory that the documents so far take until a join begins.
func (d *collection) NeedBytes() uint64 {
	const document = 1 + 4 + 8 + 8 + 8 // few, number, site, end, key of its set
	sum := uint64(len(d.few)) * document
	for i := range d.methods {
		sum += d.methods[i].builder.NeedBytes()
	}
	return sum * 5 / 4 // slices grow by a quarter
}

// Close gives temporary files back. It may be called again.
func (d *collection) Close() (err error) {
	for i := range d.methods {
		err = errors.Join(err, d.methods[i].builder.Close())
	}
	return err
}
