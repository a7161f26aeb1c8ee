package dedup

import (
	"encoding/binary"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/highwayhash"
)

// URLFields are the fields that have a document's URL unless the caller names another one.
var URLFields = []string{"url", "WARC-Target-URI"}

// tracking are the parameters of URLs that name the origin of a reader and not the page. So do those that begin with
// utm_.
var tracking = []string{"fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "igshid", "mc_cid",
	"mc_eid", "_ga", "_gl"}

// indexNames are files that a server shows for their folder.
var indexNames = []string{"index.html", "index.htm", "index.php"}

// CanonicalURL returns the form of a URL that is compared, by rule 1. http and https are the same. The host is in
// lower case, without a user, www., a dot at its end and the port of the scheme. The path has no . and .., and no
// index.html and the like at its end. Parameters that track readers and the fragment are removed. Everything else
// stays, such as the order of the parameters and a slash at the end of the path, because servers may tell them apart.
// A text that is no such URL is returned unchanged.
func CanonicalURL(text string) string {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return text
	}
	port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	host := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(u.Host), port), ".")
	var params []string
	for param := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(param, "=")
		if param != "" && !strings.HasPrefix(name, "utm_") && !slices.Contains(tracking, name) {
			params = append(params, param)
		}
	}
	path := u.ResolveReference(u).EscapedPath() // without dot segments
	if at := strings.LastIndexByte(path, '/'); slices.Contains(indexNames, path[at+1:]) {
		path = path[:at+1]
	}
	if path = "/" + strings.TrimPrefix(path, "/"); len(params) > 0 {
		path += "?" + strings.Join(params, "&")
	}
	return strings.TrimPrefix(host, "www.") + path
}

// urlKey is the key of the hashes of URLs.
var urlKey = []byte("ndd dedup: URLs, rule 1, Highway")

// hashURL returns the hash of a URL in its canonical form, 0 for none.
func hashURL(text string) [2]uint64 {
	if text = CanonicalURL(text); text == "" {
		return [2]uint64{}
	}
	sum := highwayhash.Sum128([]byte(text), urlKey)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])}
}
