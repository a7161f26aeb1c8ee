package dedup

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/near/source"
	"example.org/ndd/engine/result"
)

// giantCluster is the size from which a cluster is worth a warning.
const giantCluster = 1000

// summarize reports the result in one line, after warnings about very large clusters.
func (j *job) summarize(c *dedup.Corpus, r *dedup.Result) {
	extra, equal, farthest, giants := 0, 0, 0, 0
	var giant dedup.Cluster
	// Collect the figures of the clusters.
	for cl := range r.Clusters() {
		extra += len(cl.Rows) - 1
		for _, row := range cl.Rows {
			if row != cl.Kept && r.Equal(row, cl.Kept) {
				equal++
			}
		}
		_, distance := r.Farthest(cl)
		farthest = max(farthest, distance)
		if len(cl.Rows) >= giantCluster {
			if giants++; len(cl.Rows) > len(giant.Rows) {
				giant = cl
			}
		}
	}
	// Warn about giant clusters.
	if giants > 0 {
		j.g.Log.Warn(j.giants(c, r, giants, giant))
	}
	// Log the summary.
	msg := fmt.Sprintf("found %s in %s", cli.Number(extra, "duplicate"), cli.Number(r.Len(), "cluster"))
	if equal > 0 {
		msg += fmt.Sprintf(", %s with the same text as the one kept", humanize.Comma(int64(equal)))
	}
	if j.flags.sameURL != "" {
		msg += fmt.Sprintf(", and %s with the URL of another one", cli.Number(len(r.SameURL), "document"))
	}
	if n := len(r.SameText); n > 0 {
		msg += fmt.Sprintf(", and %s with the text of another one, too short to be compared otherwise", cli.Number(n, "document"))
	}
	if len(j.flags.against) > 0 {
		msg += fmt.Sprintf(", and %s near one in %s", cli.Number(len(r.Known), "document"), j.flags.againstNames())
	}
	msg += fmt.Sprintf("; %s kept", cli.Number(c.Len()-r.NumDropped(), "document"))
	if short := c.NumShort() - len(r.SameText); short > 0 {
		msg += fmt.Sprintf(", %s of them too short to be compared", humanize.Comma(int64(short)))
	}
	if extra > 0 {
		msg += "; largest distance " + cli.Number(farthest, "bit")
	}
	if !r.Verified() {
		msg += "; unverified"
	}
	if r.Rejected > 0 {
		msg += fmt.Sprintf("; %s near by fingerprint, but not similar", cli.Number(r.Rejected, "more document"))
	}
	if r.Protected > 0 {
		msg += fmt.Sprintf("; %s near by fingerprint, but protected", cli.Number(r.Protected, "more document"))
	}
	j.g.Log.Info(msg)
	j.saySources(r)
}

// giants warns of very large clusters, which unlike documents may be in.
func (j *job) giants(c *dedup.Corpus, r *dedup.Result, n int, largest dedup.Cluster) string {
	_, maximum := r.Farthest(largest)
	text := "a very large cluster of "
	if n > 1 {
		text = fmt.Sprintf("%s clusters of %s documents or more; the largest has ", humanize.Comma(int64(n)),
			humanize.Comma(giantCluster))
	}
	text += fmt.Sprintf("%s (kept: %s; largest distance %s)", cli.Number(len(largest.Rows), "document"),
		result.Escape(c.ID(largest.Kept)), cli.Number(maximum, "bit"))
	if !r.Verified() {
		text += ": empty pages or a site's template? sketches tell them apart"
	}
	return text
}

// sourceLines is the maximum number of sources in the summary.
const sourceLines = 10

// saySources says what became of the documents of the largest sources, if there are several.
func (j *job) saySources(r *dedup.Result) {
	list, kept, all := largestSources(r)
	if len(list) < 2 || len(list) == all {
		return
	}
	for _, s := range list[:min(len(list), sourceLines)] {
		j.g.Log.Info(fmt.Sprintf("source %.60s: %s, %s dropped (%s), %s kept (%s of all kept); %s of other sources dropped for them",
			cmp.Or(result.Escape(s.Source), "(none)"), cli.Number(s.Documents, "document"), humanize.Comma(int64(s.Dropped)),
			percent(rate(s.Dropped, s.Documents)), humanize.Comma(int64(s.Kept())), percent(rate(s.Kept(), kept)),
			humanize.Comma(int64(s.KeptFor))))
	}
	if omitted := len(list) - sourceLines; omitted > 0 {
		j.g.Log.Info(fmt.Sprintf("and %s: -o writes a table of all", cli.Number(omitted, "more source")))
	}
}

// sayExcesses names the limits of --max-drop that are exceeded.
func (j *job) sayExcesses(list []source.Excess) {
	for _, b := range list {
		suffix := ""
		if b.Limit.Source != "" {
			suffix = " of " + b.Limit.Source
		}
		j.g.Log.Error(fmt.Sprintf("--max-drop %s%s: %s of %s%s would be dropped (%s): nothing was written", percent(b.Share),
			strings.Replace(suffix, " of", " for", 1), humanize.Comma(int64(b.Dropped)), cli.Number(b.Documents, "document"), suffix,
			percent(rate(b.Dropped, b.Documents))))
	}
}
