package dedup

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/engine/near/dedup"
	"ndd/engine/result"
)

// giantCluster is the size from which a cluster is worth a warning: near pairs
// chain, and such a one joins unlike documents more often than not.
const giantCluster = 1000

// sum reports the result in one line, after warnings about very large clusters.
func (d *deduping) sum(c *dedup.Corpus, r *dedup.Result) {
	extra, equal, farthest, beyond, giants := 0, 0, 0, 0, 0
	var giant dedup.Cluster
	for cl := range r.Clusters() {
		extra += len(cl.Rows) - 1
		for _, row := range cl.Rows {
			if row != cl.Kept && r.Equal(row, cl.Kept) {
				equal++
			}
		}
		_, distance, more := r.Farthest(cl, d.k)
		farthest, beyond = max(farthest, distance), beyond+more
		if len(cl.Rows) >= giantCluster {
			if giants++; len(cl.Rows) > len(giant.Rows) {
				giant = cl
			}
		}
	}
	if giants > 0 {
		d.g.Log.Warn(d.giants(c, r, giants, giant))
	}
	msg := fmt.Sprintf("found %s in %s", cli.Number(extra, "duplicate"), cli.Number(r.Len(), "cluster"))
	if equal > 0 {
		msg += fmt.Sprintf(", %s with the same text as the one kept", humanize.Comma(int64(equal)))
	}
	if d.sameURL != "" {
		msg += fmt.Sprintf(", and %s with the URL of another one", cli.Number(len(r.SameURL), "document"))
	}
	if n := len(r.SameText); n > 0 {
		msg += fmt.Sprintf(", and %s with the text of another one, too short to be compared otherwise", cli.Number(n, "document"))
	}
	if len(d.against) > 0 {
		msg += fmt.Sprintf(", and %s near one in %s", cli.Number(len(r.Known), "document"), d.againstNames())
	}
	msg += fmt.Sprintf("; %s kept", cli.Number(c.Len()-r.NumDropped(), "document"))
	if short := c.NumShort() - len(r.SameText); short > 0 {
		msg += fmt.Sprintf(", %s of them too short to be compared", humanize.Comma(int64(short)))
	}
	if extra > 0 {
		msg += "; largest distance " + cli.Number(farthest, "bit")
	}
	if beyond > 0 {
		msg += fmt.Sprintf("; %s farther than k = %d from the one kept (they are not without --chains)",
			cli.Number(beyond, "dropped document"), d.k)
	}
	if r.Rejected > 0 {
		msg += fmt.Sprintf("; %s near by fingerprint, but not by text", cli.Number(r.Rejected, "more document"))
	}
	d.g.Log.Info(msg)
	d.saySources(r)
}

// giants warns of clusters that may be chains of unlike documents.
func (d *deduping) giants(c *dedup.Corpus, r *dedup.Result, n int, largest dedup.Cluster) string {
	_, most, _ := r.Farthest(largest, d.k)
	var what strings.Builder
	if n > 1 {
		fmt.Fprintf(&what, "%s clusters of %s documents or more; the largest has ", humanize.Comma(int64(n)),
			humanize.Comma(giantCluster))
	} else {
		what.WriteString("a very large cluster of ")
	}
	fmt.Fprintf(&what, "%s (kept: %s; largest distance %s)", cli.Number(len(largest.Rows), "document"),
		result.Escape(c.ID(largest.Kept)), cli.Number(most, "bit"))
	switch {
	case r.Verified():
	case most > d.k:
		what.WriteString(": near pairs may have chained unlike documents together: leave out --chains, or see --verify")
	default:
		what.WriteString(": empty pages or a site's template? see --verify")
	}
	return what.String()
}
