package dedup

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/near/shingle"
)

//go:embed report.html
var reportPage string

// Limits of the content of a report.
const (
	reportExamples = 12  // pairs side by side
	reportClusters = 100 // number of sources, and of clusters in the list of the largest
)

// report is the data of the report page.
type report struct {
	cli.PageHead
	reportTotals
	Settings        string // settings of the result
	Sizes           []reportSize
	Largest         []reportCluster
	More            int // clusters that are not in Largest
	Rates           []reportRate
	MoreRates       int
	Examples        []reportExample
	Skipped         []reportSkip
	SkippedExamples []string
}

type reportTotals struct {
	Documents, Kept, Dropped, Clusters, Known string

	Share string // share of the dropped documents, in percent
	Short int
}

type reportSize struct {
	Label               string
	Clusters, Documents int
	Width               string // width of the bar, in percent
}

type reportCluster struct {
	Number, Size, Distance int
	Kept                   string
	Place                  string // "" if it is the ID
}

type reportExample struct {
	Number, Distance           int
	Jaccard, Contained, Beyond string
	A, B                       cli.PageSide
}

// reportRate has the counts of a source.
type reportRate struct {
	Source, Documents, Dropped, Rate, Kept, Share, KeptFor string
	Width                                                  string
}

type reportSkip struct {
	Reason string
	N      int
	Lost   bool
}

func (j *job) writeReport(ctx context.Context, to cli.Folder, c *dedup.Corpus, r *dedup.Result) error {
	page, err := j.newReport(ctx, c, r)
	if err != nil {
		return err
	}
	return cli.WritePage(to, reportPage, page)
}

func (j *job) newReport(ctx context.Context, c *dedup.Corpus, r *dedup.Result) (*report, error) {
	// Count the documents.
	clusters := slices.Collect(r.Clusters())
	dropped := r.NumDropped()
	all := c.Len()
	p := &report{PageHead: cli.NewPageHead("Near-duplicates", j.inputs), reportTotals: reportTotals{
		Documents: humanize.Comma(int64(all)), Kept: humanize.Comma(int64(all - dropped)),
		Dropped: humanize.Comma(int64(dropped)), Clusters: humanize.Comma(int64(len(clusters))),
		Share: fmt.Sprintf("%.1f", 100*rate(dropped, all)), Short: c.NumShort()}}
	// Describe the settings.
	p.Settings = fmt.Sprintf("k = %d, keep %s", j.finding.K, j.readOptions.Keep)
	if r.Verified() && len(j.finding.Rule) > 0 {
		p.Settings += ", " + j.finding.Rule.String()
	}
	if len(r.Known) > 0 {
		p.Known = fmt.Sprintf("%s near one in %s", cli.Number(len(r.Known), "document"), j.flags.againstNames())
	}
	// Fill the tables.
	p.sizes(clusters)
	p.sourceRows(r)
	// List the largest clusters.
	slices.SortStableFunc(clusters, func(a, b dedup.Cluster) int { return cmp.Compare(len(b.Rows), len(a.Rows)) })
	for _, cl := range clusters[:min(len(clusters), reportClusters)] {
		_, distance := r.Farthest(cl)
		id, place := c.ID(cl.Kept), c.Place(cl.Kept)
		p.Largest = append(p.Largest, reportCluster{cl.Number, len(cl.Rows), distance, id,
			cli.OtherPlace(id, place.File, place.Row)})
	}
	p.More = len(clusters) - len(p.Largest)
	p.skips(&j.skips)
	// Show examples, which need texts.
	if j.fingerprints {
		return p, nil
	}
	return p, p.examples(ctx, c, r, j.finding)
}

func (p *report) sizes(clusters []dedup.Cluster) {
	steps := []struct {
		from  int
		label string
	}{{2, "2"}, {3, "3"}, {4, "4"}, {5, "5–9"}, {10, "10–99"}, {100, "100–999"}, {1000, "1,000 and more"}}
	for i, s := range steps {
		size := reportSize{Label: s.label}
		for _, cl := range clusters {
			if n := len(cl.Rows); n >= s.from && (i+1 == len(steps) || n < steps[i+1].from) {
				size.Clusters++
				size.Documents += n
			}
		}
		if size.Clusters > 0 {
			p.Sizes = append(p.Sizes, size)
		}
	}
	maximum := 1
	for _, s := range p.Sizes {
		maximum = max(maximum, s.Documents)
	}
	for i := range p.Sizes {
		p.Sizes[i].Width = fmt.Sprintf("%.1f", 100*float64(p.Sizes[i].Documents)/float64(maximum))
	}
}

func (p *report) skips(t *input.Tally) {
	for reason, n := range t.ByReason {
		p.Skipped = append(p.Skipped, reportSkip{string(reason), n, reason.LosesData()})
	}
	slices.SortFunc(p.Skipped, func(a, b reportSkip) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Reason, b.Reason))
	})
	for _, s := range t.Examples {
		p.SkippedExamples = append(p.SkippedExamples, s.Error())
	}
}

// sourceRows lists what became of the documents of each source, the largest first.
func (p *report) sourceRows(r *dedup.Result) {
	list, kept, _ := largestSources(r)
	for _, s := range list[:min(len(list), reportClusters)] {
		p.Rates = append(p.Rates, reportRate{cmp.Or(s.Source, "(none)"), humanize.Comma(int64(s.Documents)),
			humanize.Comma(int64(s.Dropped)), percent(rate(s.Dropped, s.Documents)), humanize.Comma(int64(s.Kept())),
			percent(rate(s.Kept(), kept)), humanize.Comma(int64(s.KeptFor)),
			fmt.Sprintf("%.1f", 100*rate(s.Dropped, s.Documents))})
	}
	p.MoreRates = len(list) - len(p.Rates)
}

// examples shows the pairs nearest to the threshold side by side.
func (p *report) examples(ctx context.Context, c *dedup.Corpus, r *dedup.Result, o dedup.Options) error {
	// Choose the pairs, and read their texts again.
	pairs := dedup.Doubts(r, reportExamples, o)
	if len(pairs) == 0 {
		return nil
	}
	var rows []dedup.Row
	for _, p := range pairs {
		rows = append(rows, p.Row, dedup.Row(p.KeptRow))
	}
	texts, err := c.Texts(ctx, rows)
	if err != nil {
		return err
	}
	// Compare the texts of each pair.
	for _, doubt := range pairs {
		a, b := dedup.Row(doubt.KeptRow), doubt.Row
		e := reportExample{Number: doubt.Cluster, Distance: doubt.Distance}
		comparison, err := shingle.Compare(texts[a], texts[b], *c.Recipe())
		if err != nil {
			return err
		}
		e.Jaccard = fmt.Sprintf("%.3f", comparison.Jaccard)
		if r.Verified() {
			e.Contained, e.Beyond = fmt.Sprintf("%.3f", comparison.BInA), fmt.Sprintf("%.3f", max(doubt.Margin, 0))
		}
		e.A, e.B = sideOf(c, a, texts[a], comparison.A.Passages), sideOf(c, b, texts[b], comparison.B.Passages)
		p.Examples = append(p.Examples, e)
	}
	return nil
}

// sideOf returns a document, the passages that the other one lacks marked.
func sideOf(c *dedup.Corpus, row dedup.Row, text string, passages []shingle.Passage) cli.PageSide {
	marks := make([]format.Range, len(passages))
	for i, p := range passages {
		marks[i] = format.Range{From: int64(p.Start), To: int64(p.End)}
	}
	place := c.Place(row)
	return cli.NewPageSide(c.ID(row), place.File, place.Row, text, marks)
}
