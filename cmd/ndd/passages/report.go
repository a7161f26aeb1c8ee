package passages

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/document"
	"ndd/engine/passages"
)

//go:embed report.html
var reportPage string

// What a report shows at most.
const (
	reportExamples = 6 // of each kind
	reportSources  = 20
)

// An example is a span that goes, of a document.
type example struct {
	row        int
	id, source string
	line       int
	passages.Span
}

func (e *example) bytes() int { return e.To - e.From }

// examples are the spans that stand at most places, and the longest ones, each of another first place.
type examples struct{ frequent, long []example }

// add adds the spans of a document that belong to the most frequent or the longest so far.
func (x *examples) add(d *passages.Document) {
	for _, s := range d.Spans {
		if s.Kept {
			continue
		}
		e := example{d.Row, d.ID, d.Source, d.Line, s}
		x.frequent = more(x.frequent, e, func(e *example) int { return e.Count })
		x.long = more(x.long, e, (*example).bytes)
	}
}

// more adds an example to a list, which has the largest ones by a measure, one for each first place.
func more(list []example, e example, measure func(*example) int) []example {
	n := measure(&e)
	if len(list) == reportExamples && measure(&list[len(list)-1]) >= n {
		return list
	}
	same := slices.IndexFunc(list, func(o example) bool {
		return o.First.Row == e.First.Row && o.First.From == e.First.From
	})
	switch {
	case same >= 0 && measure(&list[same]) >= n:
		return list
	case same >= 0:
		list = slices.Delete(list, same, same+1)
	case len(list) == reportExamples:
		list = list[:len(list)-1]
	}
	at := slices.IndexFunc(list, func(o example) bool { return measure(&o) < n })
	if at < 0 {
		at = len(list)
	}
	return slices.Insert(list, at, e)
}

type report struct {
	cli.PageHead
	Settings, Documents, Repeated, Spans, Cut string
	Share                                     string // of all text, in percent
	Sources                                   []reportSource
	More                                      int // files that are not in Sources
	Examples                                  []reportGroup
}

type reportSource struct {
	Name, Documents, Cut, Share string
}

type reportGroup struct {
	Name  string
	Pairs []reportPair
}

type reportPair struct {
	Bytes, Count string
	Sides        [2]reportSide
}

type reportSide struct {
	Here bool
	cli.PageSide
}

func (p *finding) writeReport(ctx context.Context, to cli.Folder, inputs []string, t *totals,
	r *passages.Result) error {
	page := &report{PageHead: cli.NewPageHead("Repeated passages", inputs), Settings: p.o.Unit.String(),
		Documents: humanize.Comma(int64(r.Len())), Repeated: humanize.Comma(int64(t.documents)),
		Spans: humanize.Comma(int64(t.spans)), Cut: humanize.IBytes(uint64(t.cutBytes)),
		Share: percent(t.percent(r))}
	names := slices.SortedStableFunc(slices.Values(t.sources), func(a, b string) int {
		return cmp.Compare(t.bySource[b].cutBytes, t.bySource[a].cutBytes)
	})
	for _, name := range names[:min(len(names), reportSources)] {
		s := t.bySource[name]
		page.Sources = append(page.Sources, reportSource{name, humanize.Comma(int64(s.documents)),
			humanize.IBytes(uint64(s.cutBytes)), percent(100 * float64(s.cutBytes) / float64(max(s.textBytes, 1)))})
	}
	page.More = len(names) - len(page.Sources)
	groups := []struct {
		name string
		list []example
	}{{"What stands at most places", t.examples.frequent}, {"What is longest", t.examples.long}}
	var rows []int
	for _, g := range groups {
		for _, e := range g.list {
			rows = append(rows, e.row, e.First.Row)
		}
	}
	texts, err := r.Texts(ctx, rows)
	if err != nil {
		return err
	}
	for _, g := range groups {
		group := reportGroup{Name: g.name}
		for _, e := range g.list {
			first := texts[e.First.Row]
			group.Pairs = append(group.Pairs, reportPair{humanize.IBytes(uint64(e.bytes())), humanize.Comma(int64(e.Count)),
				[2]reportSide{sideOf(false, e.First.ID, e.First.Source, e.First.Line, first, e.First.From,
					min(e.First.From+e.bytes(), len(first))),
					sideOf(true, e.id, e.source, e.line, texts[e.row], e.From, e.To)}})
		}
		if len(group.Pairs) > 0 {
			page.Examples = append(page.Examples, group)
		}
	}
	return cli.WritePage(to, reportPage, page)
}

// percent returns a share with one digit.
func percent(share float64) string { return fmt.Sprintf("%.1f", share) }

// sideOf returns one document, with a range of its text marked.
func sideOf(here bool, id, source string, line int, text string, from, to int) reportSide {
	return reportSide{here, cli.NewPageSide(id, source, line, text, []document.Range{{From: int64(from), To: int64(to)}})}
}
