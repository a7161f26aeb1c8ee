package copies

import (
	"net/url"
	"strings"

	"example.org/ndd/engine/copies/signature"
)

// Sets are the sets of signatures of one document. A set is nil if the document is not compared by it.
type Sets struct {
	Method   Method // the requested method; with Auto, the method for the language
	Own      []uint64
	Winnow   []uint64 // only with Auto
	Shingles []uint64 // only with Auto, if Own has too few signatures
	Covered  uint8    // share of the text that the signatures of Own cover, in percent; see [signature.Gatherer.Covered]
	Site     uint64   // number by SiteOf, or 0 if unknown
}

// SiteOf returns the number of a site, given its name or the URL of a page. Of a URL only the host counts. The empty
// name has the number 0.
func SiteOf(name string) (site uint64) {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		name = strings.ToLower(u.Host)
	}
	for i := range len(name) {
		site = signature.Fold(site, uint64(name[i])+1)
	}
	return site
}
