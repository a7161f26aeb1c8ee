package dedup

import (
	"encoding/binary"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/highwayhash"
)

// URLFields are the default fields with a document's URL.
var URLFields = []string{"url", "WARC-Target-URI"}

// tracking lists URL parameters that track readers and do not select the page. Parameters that begin with utm_ do so,
// too.
var tracking = []string{"fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "igshid", "mc_cid",
	"mc_eid", "_ga", "_gl"}

// indexNames are the files that a server returns for their folder.
var indexNames = []string{"index.html", "index.htm", "index.php"}

// CanonicalURL returns the form of a URL that is compared, by rule 1. The schemes http and https are the same. The
// host is in lower case, without a user, www., a dot at its end and the port of the scheme. The path has no . and ..,
// and no name such as index.html at its end. Tracking parameters and the fragment are removed. All other parts remain,
// such as the order of the parameters and a slash at the end of the path, because servers may distinguish them. A text
// that is no http or https URL is returned without spaces at its ends.
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
	if slash := strings.LastIndexByte(path, '/'); slices.Contains(indexNames, path[slash+1:]) {
		path = path[:slash+1]
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
