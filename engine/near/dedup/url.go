package dedup

import (
	"cmp"
	"context"
	"encoding/binary"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/highwayhash"

	"ndd/engine/memory"
	"ndd/engine/near/cluster"
)

// URLFields are the fields that have a document's URL where no other is named.
var URLFields = []string{"url", "WARC-Target-URI"}

// tracking are the parameters of URLs that name where a reader came from, and not the page; those
// that begin with utm_ are, too.
var tracking = []string{"fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "igshid", "mc_cid",
	"mc_eid", "_ga", "_gl"}

// indexNames are files that a server shows for the folder that they are in.
var indexNames = []string{"index.html", "index.htm", "index.php"}

// CanonicalURL returns a URL as it is compared, by rule 1: http and https are the same; the host is in
// lower case, without a user, www., a dot at its end and the port of the scheme; the path is without .
// and .., and without index.html and the like at its end; parameters that track readers are gone, and
// so is the fragment. Everything else stays, as the order of the parameters and a slash at the end of
// the path: what servers tell apart is not the same. A text that is no such URL is returned as it is.
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

// findEqual finds the rows, of some, that have the hash of a row preferred, ascending, each with that one.
func (r *Result) findEqual(ctx context.Context, co cluster.Options, hashes [][2]uint64, has func(row int) bool) (
	drops []Drop, err error) {
	c, n := r.corpus, 0
	for row := range hashes {
		if has(row) {
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	a := memory.Arena{Map: c.mapping()}
	defer a.Free()
	rows, keys := memory.In[Row](&a, n, &err)[:0], memory.In[uint64](&a, n, &err)[:0]
	if err != nil {
		return nil, err
	}
	for row, h := range hashes {
		if has(row) {
			rows, keys = append(rows, Row(row)), append(keys, h[0])
		}
	}
	co.K, co.Star, co.Meter = 0, true, nil
	found, err := c.clusters(ctx, cluster.NewPrints(keys), rows, co)
	if err != nil {
		return nil, err
	}
	for _, cl := range found.Clusters() {
		for _, row := range cl.Rows {
			if row != cl.Representative && hashes[row] == hashes[cl.Representative] && !c.sources.safe.has(int(row)) {
				drops = append(drops, Drop{Row: row, KeptRow: int64(cl.Representative)})
			}
		}
	}
	slices.SortFunc(drops, func(a, b Drop) int { return cmp.Compare(a.Row, b.Row) })
	return drops, nil
}

// settleURLs replaces what rows with the same URL are dropped for, where that is dropped itself.
func (r *Result) settleURLs() {
	if len(r.SameURL) == 0 {
		return
	}
	final := map[int64]Drop{}
	for _, d := range r.SameURL {
		final[d.KeptRow] = Drop{KeptRow: d.KeptRow}
	}
	for _, k := range r.Known {
		if _, ok := final[int64(k.Row)]; ok {
			final[int64(k.Row)] = Drop{KeptRow: -1, Kept: k.Kept}
		}
	}
	for c := range r.Clusters() {
		for _, row := range c.Rows {
			if _, ok := final[int64(row)]; ok {
				final[int64(row)] = Drop{KeptRow: int64(c.Kept)}
			}
		}
	}
	for i := range r.SameURL {
		d := &r.SameURL[i]
		to := final[d.KeptRow]
		if d.KeptRow, d.Kept = to.KeptRow, to.Kept; d.KeptRow >= 0 {
			d.Distance = r.Distance(d.Row, Row(d.KeptRow))
		}
	}
}

// noURL is the error where no document has a URL.
func (o *ReadOptions) noURL() error {
	return sourceErrorf("same-url: no document has a URL in the field %s", strings.Join(o.SameURL, " or "))
}
