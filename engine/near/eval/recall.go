package eval

import (
	"cmp"
	"maps"
	"slices"
)

// A rowKey identifies the labelled pairs of a row.
type rowKey struct {
	lang, kind, band string
}

// kindOrder returns the order of labels: known ones first, pairs that should not be found last.
func kindOrder(kind string) int {
	if i := slices.Index([]string{Same, Similar, Contains}, kind); i >= 0 {
		return i
	}
	if kind == Different {
		return 9
	}
	return 5
}

// recall counts pairs within k by language, label and band.
func recall(pairs []Pair, p *fingerprints, bands bool) []Recall {
	rows := map[rowKey][]int{}
	kinds := map[string]int{} // kinds in order of appearance
	for i := range pairs {
		pair := &pairs[i]
		key := rowKey{pair.Lang, pair.Kind, ""}
		if bands && pair.Kind != Different {
			key.band = bandOf(pair.Jaccard).String()
		}
		rows[key] = append(rows[key], i)
		if _, ok := kinds[pair.Kind]; !ok {
			kinds[pair.Kind] = len(kinds)
		}
	}
	keys := slices.SortedFunc(maps.Keys(rows), func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.lang, b.lang), cmp.Compare(kindOrder(a.kind), kindOrder(b.kind)),
			cmp.Compare(kinds[a.kind], kinds[b.kind]),
			cmp.Compare(slices.Index(bandNames, a.band), slices.Index(bandNames, b.band)))
	})
	out := make([]Recall, len(keys))
	for i, k := range keys {
		out[i] = recallOf(k, pairs, rows[k], p)
	}
	return out
}

func recallOf(key rowKey, pairs []Pair, row []int, p *fingerprints) Recall {
	r := Recall{Lang: key.lang, Kind: key.kind, Band: key.band, Pairs: len(row)}
	all := tally{groups: map[int]*groupTally{}}
	for _, i := range row {
		all.add(pairs[i].Group, distance(p, &pairs[i]))
	}
	r.Groups, r.Found = len(all.groups), all.found
	r.PerPair, r.PerGroup = all.curves()
	return r
}

// byLabel counts the pairs within each k by their labels.
func byLabel(pairs []Pair, p *fingerprints) (b ByLabel) {
	for k := range b.F1 {
		var c LabelCounts
		for i := range pairs {
			c.add(pairs[i].Kind, distance(p, &pairs[i]) <= k)
		}
		b.TruePositives[k], b.FalsePositives[k], b.FalseNegatives[k] = c.TruePositives, c.FalsePositives, c.FalseNegatives
		b.Precision[k], b.Recall[k], b.F1[k] = c.precision(), c.recall(), c.f1()
	}
	return b
}

// distance returns the distance of a pair. It is more than MaxK if a document has no fingerprint or verification
// refuses the pair.
func distance(p *fingerprints, pair *Pair) int {
	if !p.verified(pair.A, pair.B) {
		return MaxK + 1
	}
	return p.distance(pair.A, pair.B)
}

// A tally counts found pairs in total and by group. It has at least one pair.
type tally struct {
	pairs  int
	found  Counts
	groups map[int]*groupTally
}

type groupTally struct {
	pairs int
	found Counts
}

func (t *tally) add(group, distance int) {
	g := t.groups[group]
	if g == nil {
		g = new(groupTally)
		t.groups[group] = g
	}
	t.pairs++
	g.pairs++
	for k := distance; k <= MaxK; k++ {
		t.found[k]++
		g.found[k]++
	}
}

// curves returns the recall a pair and the recall a group.
func (t *tally) curves() (perPair, perGroup Curve) {
	for k := range perPair {
		perPair[k] = float64(t.found[k]) / float64(t.pairs)
		for _, g := range t.groups {
			perGroup[k] += float64(g.found[k]) / float64(g.pairs)
		}
		perGroup[k] /= float64(len(t.groups))
	}
	return perPair, perGroup
}
