package mapreduce_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ndd/engine/copies"
	"ndd/engine/mapreduce"
	"ndd/engine/oracle/files"
	"ndd/engine/oracle/must"
	"ndd/engine/result"
)

// texts are documents of which some are copies of others, in whole or in part.
func texts(n int) []string {
	rng := rand.New(rand.NewPCG(7, 7))
	stops := strings.Fields("the a is of to in and that it was for on are as with his they at be this")
	all := make([]string, n)
	for i := range all {
		var words []string
		for range 40 + rng.IntN(80) {
			words = append(words, fmt.Sprintf("w%d", rng.IntN(3000)))
			if rng.IntN(3) == 0 {
				words = append(words, stops[rng.IntN(len(stops))])
			}
		}
		if i > 0 && rng.IntN(2) == 0 {
			other := strings.Fields(all[rng.IntN(i)])
			switch rng.IntN(3) {
			case 0:
				words = other
			case 1:
				words = append(other, words[:len(words)/4]...)
			default:
				words = append(words[:len(words)/2], other[:len(other)/2]...)
			}
		}
		if rng.IntN(20) == 0 {
			words = words[:3]
		}
		all[i] = strings.Join(words, " ")
	}
	return all
}

func textLines(all []string) string {
	var b strings.Builder
	for i, text := range all {
		fmt.Fprintf(&b, "{\"id\":\"d%04d é\",\"text\":%q}\n", i, text)
	}
	return b.String()
}

// copiesOf returns what one machine finds.
func copiesOf(t *testing.T, all []string, o copies.Options) []string {
	t.Helper()
	s, err := copies.NewSigner(t.Context(), o)
	must.Do(t, err)
	d := copies.NewDetector(o)
	defer d.Close()
	for _, text := range all {
		d.Add(s.Sign(text))
	}
	found, _, err := d.Pairs(t.Context())
	must.Do(t, err)
	var table strings.Builder
	w := result.NewTableWriter(&table, result.TSV, copies.Columns...)
	for _, p := range found {
		must.Do(t, p.Write(w, fmt.Sprintf("d%04d é", p.A), fmt.Sprintf("d%04d é", p.B)))
	}
	must.Do(t, w.Close())
	return sortedLines(table.String())
}

// TestCopies: the table of pairs is that of package copies, header and flags included, whether the
// index is split by documents or by terms.
func TestCopies(t *testing.T) {
	all := texts(160)
	for _, o := range []copies.Options{{Method: copies.Winnow}, {Method: copies.SpotSigs, Threshold: 0.3}} {
		want := copiesOf(t, all, o)
		if len(want) < 20 {
			t.Fatalf("only %d copies: the texts are too unlike", len(want))
		}
		eachSplit(t, o.Method == copies.Winnow, func(t *testing.T, l *local) {
			parts := l.cut(textLines(all))
			signed := l.run(mapreduce.Signatures{Copies: o}, parts)
			side := files.New(t, "signatures.tsv", signed)
			l.options.Table = copies.Columns
			docs := l.run(mapreduce.CopiesDocs{Queries: side, Copies: o}, l.cut(signed))
			same(t, "by documents", l.collect(docs, l.reduces), want)
			partial := l.run(mapreduce.CopiesTerms{Copies: o}, l.cut(signed))
			terms := l.run(mapreduce.CopiesSum{Copies: o}, l.cut(partial))
			same(t, "by terms", l.collect(terms, l.reduces), want)
		})
	}
}

// TestCopiesTies: shares are rounded as tables round them: 17 of 32 is 0.5313.
func TestCopiesTies(t *testing.T) {
	set := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "---------%c%c", "-0123456"[(from+i)/8], "-0123456"[(from+i)%8])
		}
		return b.String()
	}
	o := copies.Options{Method: copies.Winnow, Threshold: 0.5}
	l := newLocal(t, 1, 1)
	l.options.Table = copies.Columns[:1]
	partial := l.run(mapreduce.CopiesTerms{Copies: o},
		[]string{"a\t" + set(0, 32) + "\nb\t" + set(15, 32) + "\nc\t" + set(15, 32) + "\n"})
	got := l.collect(l.run(mapreduce.CopiesSum{Copies: o}, []string{partial}), l.reduces)
	same(t, "pairs", got, []string{"a\tb\toverlap\t0.5313\t0.5313\t0.5313\t32\t32\t17\twinnow\t\n",
		"a\tc\toverlap\t0.5313\t0.5313\t0.5313\t32\t32\t17\twinnow\t\n",
		"b\tc\tduplicate\t1.0000\t1.0000\t1.0000\t32\t32\t32\twinnow\tequal\n", "id_a\n"})
}

// TestOtherSignatures: signatures that were made otherwise are refused beside the map.
func TestOtherSignatures(t *testing.T) {
	all := textLines(texts(20))
	sign := func(o copies.Options) string { return runMap(t, mapreduce.Signatures{Copies: o}, all) }
	winnow, spots := copies.Options{Method: copies.Winnow}, copies.Options{Method: copies.SpotSigs}
	signed, other := sign(winnow), files.New(t, "other.tsv", sign(spots))
	part := files.New(t, "part.tsv", signed[:strings.Index(signed, "\nd0010")]+signed[strings.Index(signed, "\n~end"):])
	for _, c := range []struct {
		job   mapreduce.Mapper
		wraps error
		says  string
	}{
		{mapreduce.CopiesDocs{Queries: other, Copies: winnow}, mapreduce.ErrRecipe, "recipe"},
		{mapreduce.CopiesDocs{Queries: part, Copies: winnow}, mapreduce.ErrLost, "part.tsv"},
		{mapreduce.CopiesDocs{Queries: part, Copies: spots}, mapreduce.ErrRecipe, "winnow, and a job of method spotsigs"},
		{mapreduce.CopiesTerms{Copies: spots}, mapreduce.ErrRecipe, "winnow, and a job of method spotsigs"},
	} {
		_, err := step(t, mapOf(c.job), signed, nil)
		wantError(t, err, c.wraps, c.says)
	}
}
