package copies

import (
	"context"
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

// A shingle is a row of 3 words, or 5 characters of a script without spaces.
const (
	shingleWords = 3
	shingleChars = 5
)

// Methods are the names of all methods.
var Methods = []string{string(Auto), string(SpotSigs), string(CCDet), string(Winnow), string(Shingles)}

// ParseMethod returns the method of a name, or an error with all names.
func ParseMethod(name string) (Method, error) {
	if slices.Contains(Methods, name) {
		return Method(name), nil
	}
	return "", fmt.Errorf("must be %s", strings.Join(Methods, ", "))
}

// methods are the methods that make signatures, with their defaults. Of a pair that several find,
// the result of the first one counts.
//
// The threshold of spotsigs is that of chains of 2. Winnow's was chosen on one half of the
// development set, for documents that have four fifths of another: of these it finds 0.997 in the
// other half, where 0.6 has four times the false ones.
//
// On the development set 8 spot signatures are a paragraph; with fewer than 4 sentences one that is
// in many documents, such as the last one of an announcement, decides over CCDet; rows that fill no
// window are too few for winnow; 4 shingles are 6 words.
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

// order returns the index of a method in methods; that of Auto is CCDet's.
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

// MinFeatures returns the default minimum of signatures.
func (m Method) MinFeatures() int { return methods[order(m)].minFeatures }

// Measure returns the similarity measure of the method.
func (m Method) Measure() postings.Measure { return methods[order(m)].measure }

// threshold returns the threshold of a method. Long chains of spot signatures share less: with more
// than 2 links the default is lower.
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

// Options configures a Detector. The zero value is every default.
type Options struct {
	Method      Method           // default Auto
	Threshold   float64          // of all methods; default: each method's own
	MinFeatures int              // fewer signatures than this are too few to tell by; default: each method's own
	SpotSigs    spotsigs.Options // lists, spot distance, chain length
	Ends        string           // sentence ends of CCDet; default ccdet.Ends
	Bags        bool             // a signature counts as often as it occurs in both, as in SpotSigs' code; default: once

	// Of a Detector alone:

	OtherSites bool // pairs of documents of one site are left out

	Threads int              // of the join; default: one for each processor
	Room    postings.Room    // for the sets of each method
	Join    postings.Options // its memory and bounds; the rest is set by the fields above
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
	ctx       context.Context
	o         Options
	selectors map[Method]signature.Selector
	reader    *signature.Reader
	gatherer  signature.Gatherer
	winnowed  signature.Gatherer
}

// NewSigner returns a Signer, or an error that names the option out of range. When the context is done, Sign
// ends early, and its sets mean nothing.
func NewSigner(ctx context.Context, o Options) (s *Signer, err error) {
	o.complete()
	if !(o.Threshold >= 0 && o.Threshold <= 1) {
		return nil, fmt.Errorf("threshold %g: must be above 0 and at most 1", o.Threshold)
	}
	if o.MinFeatures < 0 {
		return nil, fmt.Errorf("%d signatures at least: must not be negative", o.MinFeatures)
	}
	spots, err := spotsigs.New(ctx, o.SpotSigs)
	if err != nil {
		return nil, err
	}
	ends, err := ccdet.New(ctx, o.Ends)
	if err != nil {
		return nil, err
	}
	return &Signer{ctx: ctx, o: o, reader: signature.NewReader(ctx), gatherer: signature.Gatherer{Bag: o.Bags},
		winnowed: signature.Gatherer{Bag: o.Bags}, selectors: map[Method]signature.Selector{
			SpotSigs: spots, CCDet: ends, Winnow: winnow.New(ctx), Shingles: winnow.NewAll(ctx, shingleWords, shingleChars)}}, nil
}

// Sets are the sets of signatures of one document by the methods that it is compared by: nil where
// it is not.
type Sets struct {
	Method   Method // that tells its language, or the one that was asked for
	Own      []uint64
	Winnow   []uint64 // of Auto
	Shingles []uint64 // of Auto, where Own are too few
	Site     uint64   // where the document is from, by SiteOf; 0: unknown
}

// SiteOf returns the number of a site, given its name or the URL of a page, of which the host
// counts; 0 for the empty name.
func SiteOf(name string) (site uint64) {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		name = strings.ToLower(u.Host)
	}
	for i := range len(name) {
		site = signature.Fold(site, uint64(name[i])+1)
	}
	return site
}

// Sign returns the sets of a text. They belong to the caller.
func (s *Signer) Sign(text string) Sets {
	sets := Sets{Method: s.o.Method}
	auto := sets.Method == Auto
	if auto {
		sets.Method = methodOf(text)
	}
	if own, ok := s.selectors[sets.Method].(signature.Part); auto && ok { // in one pass
		winnow := s.selectors[Winnow].(signature.Part)
		own.Begin(s.gatherer.Add)
		winnow.Begin(s.winnowed.Add)
		s.reader.Read(text, own, winnow)
		sets.Own, sets.Winnow = s.gatherer.Set(), s.winnowed.Set()
	} else {
		sets.Own = s.set(sets.Method, text)
		if auto {
			sets.Winnow = s.set(Winnow, text)
		}
	}
	if own, _, _ := s.o.compared(&sets); s.o.Method == Auto && !own {
		sets.Shingles = s.set(Shingles, text)
	}
	return sets
}

func (s *Signer) set(m Method, text string) []uint64 {
	s.selectors[m].Each(text, s.gatherer.Add)
	return s.gatherer.Set()
}

// methodOf returns the method for a text's language: CCDet if at least a sixth of the letters of
// its first 4 KiB are Chinese, Japanese or Thai, else SpotSigs: a manual in Chinese may be half
// code.
func methodOf(text string) Method {
	const look = 4096
	east, letters := 0, 0
	for _, r := range text[:min(look, len(text))] {
		switch {
		case r >= 0x3040 && r <= 0x30ff, r >= 0x3400 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff, r >= 0x0e00 &&
			r <= 0x0e7f, r >= 0x20000 && r <= 0x3ffff:
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
