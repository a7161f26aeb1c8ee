package dedup

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/near/dedup"
	"ndd/engine/result"
)

// sourceFlags are the flags for the sources of documents and their rights.
type sourceFlags struct {
	field   string
	prefer  string
	protect []string
	maxDrop []string
}

// sourceFlagNames are their names.
var sourceFlagNames = []string{"source", "prefer", "protect", "max-drop"}

func (s *sourceFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.field, "source", "", "field that names the source of a document (default: the input, a file or folder)")
	f.StringVar(&s.prefer, "prefer", "", "sources, separated by commas: keep their documents before others, in this order")
	f.StringArrayVar(&s.protect, "protect", nil, "pattern of sources, files and folders: never drop their documents; may be "+
		"repeated")
	f.StringArrayVar(&s.maxDrop, "max-drop", nil, "write nothing and exit with status 4 if more would be dropped: 60% of all, "+
		"or SOURCE=60%; may be repeated")
}

// options checks the flags. keep is the order of --keep, before which --prefer comes unless source is
// in it.
func (s *sourceFlags) options(keep dedup.Keep, prints bool) (o dedup.Sources, _ dedup.Keep, err error) {
	o = dedup.Sources{Field: s.field, Protect: s.protect}
	bySource := slices.Contains(keep, dedup.By{Policy: dedup.Source})
	switch {
	case s.field != "" && prints:
		return o, nil, cli.Usagef("--source names a field, and fingerprint files have none: their sources are files")
	case s.prefer != "":
		o.Prefer = strings.Split(s.prefer, ",")
		if !bySource {
			keep = append(dedup.Keep{{Policy: dedup.Source}}, keep...)
		}
	case bySource && s.field != "":
		return o, nil, cli.Usagef("--keep source needs --prefer where --source names a field: values have no order")
	}
	for i, name := range o.Prefer {
		name = strings.TrimSpace(name)
		if o.Prefer[i] = name; name == "" || slices.Contains(o.Prefer[:i], name) {
			return o, nil, cli.Usagef("--prefer %s: %q is there twice or is no name", s.prefer, name)
		}
	}
	for _, pattern := range s.protect {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return o, nil, cli.Usagef("--protect %q: not a pattern: * stands for any characters but /, ? for one, [a-z] for one "+
				"of these", pattern)
		}
	}
	for _, limit := range s.maxDrop {
		i := strings.LastIndexByte(limit, '=')
		number, percent := strings.CutSuffix(limit[i+1:], "%")
		most, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !percent || !(most >= 0 && most <= 100) || i == 0 {
			return o, nil, cli.Usagef("--max-drop %s: must be a share from 0%% to 100%%, or SOURCE=SHARE", limit)
		}
		rate := dedup.DropRate{Source: limit[:max(i, 0)], Most: most / 100}
		if slices.ContainsFunc(o.Limits, func(r dedup.DropRate) bool { return r.Source == rate.Source }) {
			return o, nil, cli.Usagef("--max-drop %s: a second limit for the same documents", limit)
		}
		o.Limits = append(o.Limits, rate)
	}
	return o, keep, nil
}

// sayBeyond says which limits of --max-drop are exceeded.
func (d *deduping) sayBeyond(list []dedup.Beyond) {
	for _, b := range list {
		of := ""
		if b.DropRate.Source != "" {
			of = " of " + b.DropRate.Source
		}
		d.g.Log.Error(fmt.Sprintf("--max-drop %s%s: %s of %s%s would be dropped (%s): nothing was written", percent(b.Most),
			strings.Replace(of, " of", " for", 1), humanize.Comma(int64(b.Dropped)), cli.Number(b.Documents, "document"), of,
			percent(rate(b.Dropped, b.Documents))))
	}
}

// rate returns n of all, 0 of none.
func rate(n, all int) float64 { return float64(n) / float64(max(all, 1)) }

// percent writes a share with a digit where it needs one. Only all is 100%.
func percent(share float64) string {
	tenths := float64(int64(share*1000 + 0.5))
	if share < 1 {
		tenths = min(tenths, 999)
	}
	return strconv.FormatFloat(tenths/10, 'f', -1, 64) + "%"
}

// largestSources returns the sources, the largest first, and how many documents they have, and how many are kept.
func largestSources(r *dedup.Result) (list []dedup.SourceCount, kept, all int) {
	list = r.Sources()
	for _, s := range list {
		kept, all = kept+s.Kept(), all+s.Documents
	}
	slices.SortStableFunc(list, func(a, b dedup.SourceCount) int { return cmp.Compare(b.Documents, a.Documents) })
	return list, kept, all
}

// sourceLines is how many sources the summary has at most.
const sourceLines = 10

// saySources says what became of the documents of the largest sources, if there are several.
func (d *deduping) saySources(r *dedup.Result) {
	list, kept, all := largestSources(r)
	if len(list) < 2 || len(list) == all {
		return
	}
	for _, s := range list[:min(len(list), sourceLines)] {
		d.g.Log.Info(fmt.Sprintf("source %.60s: %s, %s dropped (%s), %s kept (%s of all kept); %s of other sources dropped for them",
			cmp.Or(result.Escape(s.Source), "(none)"), cli.Number(s.Documents, "document"), humanize.Comma(int64(s.Dropped)),
			percent(rate(s.Dropped, s.Documents)), humanize.Comma(int64(s.Kept())), percent(rate(s.Kept(), kept)),
			humanize.Comma(int64(s.KeptFor))))
	}
	if more := len(list) - sourceLines; more > 0 {
		d.g.Log.Info(fmt.Sprintf("and %s: -o writes a table of all", cli.Number(more, "more source")))
	}
}

var sourceColumns = cli.ColumnsOf("source? documents:i dropped:i drop_rate:r kept:i kept_share:r kept_for_others:i")

func (t *clusterTables) sources(w *result.TableWriter) error {
	list, kept := t.r.Sources(), 0
	for _, s := range list {
		kept += s.Kept()
	}
	for _, s := range list {
		if s.Source == "" {
			w.Null()
		} else {
			w.Text(s.Source)
		}
		if err := w.Integer(int64(s.Documents)).Integer(int64(s.Dropped)).Real(rate(s.Dropped, s.Documents)).
			Integer(int64(s.Kept())).Real(rate(s.Kept(), kept)).Integer(int64(s.KeptFor)).End(); err != nil {
			return err
		}
	}
	return nil
}
