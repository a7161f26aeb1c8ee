package copies

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"ndd/engine/copies/ccdet"
	"ndd/engine/copies/postings"
	"ndd/engine/copies/signature"
	"ndd/engine/copies/spotsigs"
	"ndd/engine/copies/winnow"
)

// Method is a way of telling copies.
type Method string

// The methods.
const (
	Auto     Method = "auto"
	SpotSigs Method = "spotsigs"
	CCDet    Method = "ccdet"
	Winnow   Method = "winnow"
	Shingles Method = "shingles"
)

// A shingle is a row of so many words, or characters of a script without spaces.
const (
	shingleWords = 3
	shingleChars = 5
)

// Methods are the names of all methods.
var Methods = []string{string(Auto), string(SpotSigs), string(CCDet), string(Winnow), string(Shingles)}

// ParseMethod returns the method of a name, or an error that has all names.
func ParseMethod(name string) (Method, error) {
	if slices.Contains(Methods, name) {
		return Method(name), nil
	}
	return "", fmt.Errorf("must be %s", strings.Join(Methods, ", "))
}

// Threshold returns the least similarity of a pair where no other one is asked for, and of spotsigs chains are 2 long. That of winnow was chosen on one half of the development
// set, for documents that have four fifths of another: of these it finds 0.997 in the other half, where 0.6 has four times the false ones.
func (m Method) Threshold() float64 {
	switch m {
	case SpotSigs:
		return 0.5
	case Winnow:
		return 0.65
	case Shingles:
		return 0.4
	}
	return 0.6
}

// threshold returns the least similarity of a pair by a method. Long chains of spot signatures share less: with more than 2 links the default
// is lower, as that of indexes was whose recipe says 3.
func (o *Options) threshold(m Method) float64 {
	const longChains = 0.45
	switch {
	case o.Threshold != 0:
		return o.Threshold
	case m == SpotSigs && o.SpotSigs.Chain > 2:
		return longChains
	}
	return m.Threshold()
}

// MinFeatures returns how many signatures a document must have where no other number is asked for. On the development
// set 8 spot signatures are a paragraph; one sentence is enough for CCDet, whose features hardly ever meet by
// chance; rows that fill no window are too few for winnow; 4 shingles are 6 words.
func (m Method) MinFeatures() int {
	switch m {
	case SpotSigs:
		return 8
	case Winnow:
		return 3
	case Shingles:
		return 4
	}
	return 1
}

// Measure returns how the similarity of two sets is measured.
func (m Method) Measure() postings.Measure {
	if m == SpotSigs || m == Shingles {
		return postings.Jaccard
	}
	return postings.Containment
}

// Options configures a Detector. The zero value is every default.
type Options struct {
	Method      Method           // default Auto
	Threshold   float64          // of all methods; default: each method's own
	MinFeatures int              // fewer signatures than this are too few to tell by; default: each method's own
	SpotSigs    spotsigs.Options // lists, spot distance, chain length
	Ends        string           // sentence ends of CCDet; default ccdet.Ends
	Bags        bool             // a signature counts as often as it occurs in both, as in SpotSigs' code; default: once

	// Of a Detector alone:

	IDF          IDFRange // of SpotSigs: signatures outside are dropped
	SiteFeatures int      // of CCDet: features that more documents of one site have are dropped from these; 0: none are

	OnConflict OnConflict // of an IndexWriter: what becomes of a document whose ID is taken; default Replace

	OtherSites bool // pairs of documents of one site are left out

	Threads int              // of the join; default: one for each processor
	Room    postings.Room    // for the sets of each method
	Join    postings.Options // the split, its slices and bounds; measure, threshold and threads are set by what stands above
}

func (o *Options) complete() {
	if o.Method == "" {
		o.Method = Auto
	}
	if o.Ends == "" {
		o.Ends = ccdet.Ends
	}
	o.SpotSigs.Complete()
}

// A Signer makes the signatures of texts. It belongs to one goroutine.
type Signer struct {
	o      Options
	spots  *spotsigs.Selector
	ends   *ccdet.Selector
	rows   *winnow.Selector
	all    *winnow.Selector // of Shingles
	signed []signature.Signature
}

// NewSigner returns a Signer, or says which option is out of range.
func NewSigner(o Options) (s *Signer, err error) {
	o.complete()
	if !(o.Threshold >= 0 && o.Threshold <= 1) {
		return nil, fmt.Errorf("threshold %g: must be above 0 and at most 1", o.Threshold)
	}
	if o.MinFeatures < 0 {
		return nil, fmt.Errorf("%d signatures at least: must not be negative", o.MinFeatures)
	}
	if o.SiteFeatures < 0 {
		return nil, fmt.Errorf("features of %d documents of a site: must not be negative", o.SiteFeatures)
	}
	if err := o.IDF.check(); err != nil {
		return nil, err
	}
	s = &Signer{o: o, rows: winnow.New(), all: winnow.NewAll(shingleWords, shingleChars)}
	if s.spots, err = spotsigs.New(o.SpotSigs); err != nil {
		return nil, err
	}
	if s.ends, err = ccdet.New(o.Ends); err != nil {
		return nil, err
	}
	return s, nil
}

// Sets are the sets of signatures of one document by the methods that it is compared by: nil where it is not.
type Sets struct {
	Method   Method // that tells its language, or the one that was asked for
	Own      []uint64
	Winnow   []uint64 // of Auto
	Shingles []uint64 // of Auto, where Own are too few
	Site     uint64   // where the document is from, by SiteOf; 0: unknown
}

// SiteOf returns the number that stands for a site, by its name or by the URL of a page, of which the host counts; 0 for the empty
// name.
func SiteOf(name string) (site uint64) {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		name = strings.ToLower(u.Host)
	}
	for i := range len(name) {
		site = signature.Fold(site, uint64(name[i])+1)
	}
	return site
}

// Sign returns a text's sets. They are the caller's.
func (s *Signer) Sign(text string) Sets {
	sets := Sets{Method: s.o.Method}
	if sets.Method == Auto {
		sets.Method = methodOf(text)
		sets.Winnow = s.set(Winnow, text)
	}
	sets.Own = s.set(sets.Method, text)
	if own, _, _ := s.o.compared(&sets); s.o.Method == Auto && !own {
		sets.Shingles = s.set(Shingles, text)
	}
	return sets
}

// set returns the set of a text's signatures by one method.
func (s *Signer) set(m Method, text string) []uint64 {
	if len(text) >= longText {
		g := signature.Gatherer{Bag: s.o.Bags}
		s.each(m, text, g.Add)
		return g.Set()
	}
	s.signed = s.Append(s.signed[:0], m, text)
	if s.o.Bags {
		return signature.AppendBag(nil, s.signed)
	}
	return signature.AppendSet(nil, s.signed)
}

// longText is how many bytes a text has whose signatures are gathered in batches instead of being held with their places.
const longText = 1 << 20

// each calls yield with the signatures of a text by one method, a batch at a time.
func (s *Signer) each(m Method, text string, yield func([]signature.Signature)) {
	switch m {
	case SpotSigs:
		s.spots.Each(text, yield)
	case CCDet:
		s.ends.Each(text, yield)
	case Winnow:
		s.rows.Each(text, yield)
	case Shingles:
		s.all.Each(text, yield)
	}
}

// Append appends the signatures of a text by one method, with their places. Auto is not one.
func (s *Signer) Append(dst []signature.Signature, m Method, text string) []signature.Signature {
	switch m {
	case SpotSigs:
		return s.spots.Append(dst, text)
	case CCDet:
		return s.ends.Append(dst, text)
	case Winnow:
		return s.rows.Append(dst, text)
	case Shingles:
		return s.all.Append(dst, text)
	}
	panic("copies: no signatures by method " + string(m))
}

// methodOf returns the method for a text's language: CCDet where at least a sixth of its letters are Chinese, Japanese or
// Thai, else SpotSigs: a manual in Chinese may be half code. The first 4 KiB tell.
func methodOf(text string) Method {
	const look = 4096
	east, letters := 0, 0
	for _, r := range text[:min(look, len(text))] {
		switch {
		case r >= 0x3040 && r <= 0x30ff, r >= 0x3400 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff, r >= 0x0e00 && r <= 0x0e7f, r >= 0x20000 && r <= 0x3ffff:
			east++
			letters++
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= 0xc0 && r < 0x2000:
			letters++
		}
	}
	if 6*east >= letters && east > 0 {
		return CCDet
	}
	return SpotSigs
}
