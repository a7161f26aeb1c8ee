package dedup

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/near/dedup"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/near/source"
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
	f.StringVar(&s.field, "source", "", "field with a document's source (default: the input)")
	f.StringVar(&s.prefer, "prefer", "", "keep documents of these sources before others")
	f.StringArrayVar(&s.protect, "protect", nil, "never remove documents of these sources or files; repeatable")
	f.StringArrayVar(&s.maxDrop, "max-drop", nil, "write nothing if more is removed: 60% or SOURCE=60%; repeatable")
}

// options checks the flags. order is the order of --keep. --prefer adds the policy source before it, unless order has
// it.
func (s *sourceFlags) options(order keep.Order, prints bool) (o source.Options, _ keep.Order, err error) {
	o = source.Options{Field: s.field, Protect: s.protect}
	bySource := slices.Contains(order, keep.By{Policy: keep.Source})
	switch {
	case s.field != "" && prints:
		return o, nil, cli.Usagef("--source names a field, and fingerprint files have none: their sources are files")
	case s.prefer != "":
		o.Prefer = strings.Split(s.prefer, ",")
		if !bySource {
			order = append(keep.Order{{Policy: keep.Source}}, order...)
		}
	case bySource && s.field != "":
		return o, nil, cli.Usagef("--keep source needs --prefer where --source names a field: values have no order")
	}
	// Check the names and patterns.
	for i, name := range o.Prefer {
		name = strings.TrimSpace(name)
		if o.Prefer[i] = name; name == "" || slices.Contains(o.Prefer[:i], name) {
			return o, nil, cli.Usagef("--prefer %s: %q is listed twice or is no name", s.prefer, name)
		}
	}
	for _, pattern := range s.protect {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return o, nil, cli.Usagef("--protect %q: invalid pattern: * matches any characters except /, ? matches one, [a-z] one "+
				"of these", pattern)
		}
	}
	// Parse the limits of --max-drop.
	for _, limit := range s.maxDrop {
		i := strings.LastIndexByte(limit, '=')
		number, percent := strings.CutSuffix(limit[i+1:], "%")
		share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !percent || !(share >= 0 && share <= 100) || i == 0 {
			return o, nil, cli.Usagef("--max-drop %s: must be a share from 0%% to 100%%, or SOURCE=SHARE", limit)
		}
		rate := source.Limit{Source: limit[:max(i, 0)], Share: share / 100}
		if slices.ContainsFunc(o.Limits, func(l source.Limit) bool { return l.Source == rate.Source }) {
			return o, nil, cli.Usagef("--max-drop %s: a second limit for the same documents", limit)
		}
		o.Limits = append(o.Limits, rate)
	}
	return o, order, nil
}

// rate returns n of all, 0 of none.
func rate(n, all int) float64 { return float64(n) / float64(max(all, 1)) }

// percent formats a share with a decimal digit if it needs one. Only a share of 1 is 100%.
func percent(share float64) string {
	tenths := float64(int64(share*1000 + 0.5))
	if share < 1 {
		tenths = min(tenths, 999)
	}
	return strconv.FormatFloat(tenths/10, 'f', -1, 64) + "%"
}

// largestSources returns the sources, the largest first, with their numbers of documents and of kept documents.
func largestSources(r *dedup.Result) (list []source.Count, kept, all int) {
	list = r.Sources()
	for _, s := range list {
		kept, all = kept+s.Kept(), all+s.Documents
	}
	slices.SortStableFunc(list, func(a, b source.Count) int { return cmp.Compare(b.Documents, a.Documents) })
	return list, kept, all
}
