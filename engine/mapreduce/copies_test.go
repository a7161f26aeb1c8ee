package mapreduce_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/copies/spotsigs"
	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/result"
)

// texts are documents. Some are copies of others, or of parts of them.
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

// idInOrder returns ascending IDs, idOf unordered ones.
func idInOrder(i int) string { return fmt.Sprintf("d%04d é", i) }
func idOf(i int) string      { return idInOrder(i * 7919 % 10000) }

func textLines(all []string, idOf func(int) string) string {
	var b strings.Builder
	for i, text := range all {
		fmt.Fprintf(&b, "{\"id\":%q,\"text\":%q}\n", idOf(i), text)
	}
	return b.String()
}

// copiesOf returns the table of one machine.
func copiesOf(t *testing.T, all []string, o copies.Options) string {
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
		must.Do(t, p.Write(w, idOf(int(p.A)), idOf(int(p.B))))
	}
	must.Do(t, w.Close())
	return table.String()
}

// TestCopies checks that the table of pairs equals the table of package copies byte for byte, with an index split by
// documents and by terms. A signature of more documents than max-df finds no pair, but counts as shared.
func TestCopies(t *testing.T) {
	all := texts(160)
	maximum := copiesOf(t, all, copies.Options{Method: copies.SpotSigs, Threshold: 0.3})
	for _, o := range []copies.Options{{Method: copies.Winnow}, {Method: copies.SpotSigs, Threshold: 0.3},
		{Method: copies.SpotSigs, Threshold: 0.3, Join: postings.Options{MaxDocuments: 2}},
		{Method: copies.SpotSigs, Threshold: 0.3, Join: postings.Options{MinDocuments: 4}, Limits: copies.RelationLimits{LengthRatio: 0.9}},
		{Method: copies.SpotSigs, SpotSigs: spotsigs.Options{Chain: 3}, Bags: true, MinFeatures: 2}} {
		want := copiesOf(t, all, o)
		if n := strings.Count(want, "\n"); n < 20 || o.Join.MaxDocuments+o.Join.MinDocuments > 0 && n >= strings.Count(maximum, "\n") {
			t.Fatalf("%+v finds %d copies: the texts show nothing", o, n)
		}
		eachSplit(t, o.Method == copies.Winnow, func(t *testing.T, l *localCluster) {
			parts := l.cut(textLines(all, idOf))
			signed := l.run(mapreduce.Signatures{Copies: o}, parts)
			side := files.New(t, "signatures.tsv", signed)
			collected := func(results string) string {
				out, err := step(t, mapreduce.Collect, results, func(c *mapreduce.Options) {
					c.Copies = &mapreduce.CopyRows{Signatures: side, Options: o}
				})
				must.Do(t, err)
				return out
			}
			docs := l.run(mapreduce.CopiesDocs{Queries: side, Copies: o}, l.cut(signed))
			if got := collected(docs); got != want {
				t.Fatalf("by documents: %s", cmp.Diff(want, got))
			}
			partial := l.run(mapreduce.CopiesTerms{Copies: o}, l.cut(signed))
			terms := l.run(mapreduce.CopiesSum{Copies: o}, l.cut(partial))
			if got := collected(terms); got != want {
				t.Fatalf("by terms: %s", cmp.Diff(want, got))
			}
		})
	}
}

// TestCopiesEqual checks that of more than 1,000 documents with equal signatures, only the first has pairs with others,
// as on one machine. This holds for any order of the IDs. The shuffle has no other pairs.
func TestCopiesEqual(t *testing.T) {
	o := copies.Options{Method: copies.Winnow, Threshold: 0.3}
	some := texts(40)
	all := []string{some[0] + " " + some[1], some[2]}
	for _, text := range some[3:] {
		all = append(all, some[2]+" "+text)
	}
	for range postings.MaxEqual + 1 {
		all = append(all, some[0])
	}
	all = append(all, some[0]+" "+some[3], some[0], some[0][:len(some[0])*3/4]) // two larger documents, and a smaller one
	want := copiesOf(t, all, o)
	if n := strings.Count(want, "\n"); n > 2*postings.MaxEqual {
		t.Fatalf("%d pairs: the texts show nothing", n)
	}
	l := newLocal(t, 3, 1)
	signed := l.run(mapreduce.Signatures{Copies: o}, l.cut(textLines(all, idOf)))
	side := files.New(t, "signatures.tsv", signed)
	for name, results := range map[string]string{"documents": l.run(mapreduce.CopiesDocs{Queries: side, Copies: o}, l.cut(signed)),
		"terms": l.run(mapreduce.CopiesSum{Copies: o}, l.cut(l.run(mapreduce.CopiesTerms{Copies: o}, l.cut(signed))))} {
		counted := map[string]int64{}
		got, err := step(t, mapreduce.Collect, results, func(c *mapreduce.Options) {
			c.Copies = &mapreduce.CopyRows{Signatures: side, Options: o}
			c.Count = func(name string, n int64) { counted[name] = n }
		})
		must.Do(t, err)
		if got != want {
			t.Errorf("by %s: %.3000s", name, cmp.Diff(want, got))
		}
		if n := strings.Count(results, "\n"); n > 3*strings.Count(want, "\n") || counted["equal_documents_listed_with_the_first_only"] != postings.MaxEqual+1 {
			t.Errorf("by %s: %d results, counted %v", name, n, counted)
		}
	}
	_, err := step(t, mapreduce.Collect, "d5000\tnosuch 3 4 3\n", func(o *mapreduce.Options) {
		o.Copies = &mapreduce.CopyRows{Signatures: side}
	})
	wantError(t, err, mapreduce.ErrLost, "nosuch")
}

// TestManyPairs checks that more pairs of a part than the memory holds are an error that says what helps, and that with
// little memory, signatures in temporary files give the same output.
func TestManyPairs(t *testing.T) {
	o := copies.Options{Method: copies.Winnow}
	signed := runMap(t, mapreduce.Signatures{Copies: o}, textLines(texts(160), idOf))
	job := mapreduce.CopiesDocs{Queries: files.New(t, "signatures.tsv", signed), Copies: o}
	limited := func(bytes uint64) (string, error) {
		return step(t, mapOf(job), signed, func(o *mapreduce.Options) { o.Budget = memory.NewBudget(memory.Set(bytes)) })
	}
	got, err := limited(100 << 10)
	must.Do(t, err)
	if want := runMap(t, job, signed); got != want {
		t.Errorf("with little memory: %s", cmp.Diff(want, got))
	}
	_, err = limited(15 << 10)
	wantError(t, err, nil, "a part of 160 documents has more than 64 pairs, which do not fit in the memory: give smaller parts or more memory")
}

// TestOtherSignatures checks that a map refuses a side file with signatures of another recipe.
func TestOtherSignatures(t *testing.T) {
	all := textLines(texts(20), idOf)
	sign := func(o copies.Options) string { return runMap(t, mapreduce.Signatures{Copies: o}, all) }
	winnow, spots := copies.Options{Method: copies.Winnow}, copies.Options{Method: copies.SpotSigs}
	signed, other := sign(winnow), files.New(t, "other.tsv", sign(spots))
	part := files.New(t, "part.tsv", signed[:strings.Index(signed, "\n"+idOf(10)[:5])]+signed[strings.Index(signed, "\n~end"):])
	for _, c := range []struct {
		job   mapreduce.Mapper
		wraps error
		says  string
	}{
		{mapreduce.CopiesDocs{Queries: other, Copies: winnow}, mapreduce.ErrRecipe, "recipe"},
		{mapreduce.CopiesDocs{Queries: part, Copies: winnow}, mapreduce.ErrLost, "part.tsv"},
		{mapreduce.CopiesDocs{Queries: part, Copies: spots}, mapreduce.ErrRecipe, "and a job of spotsigs-"},
		{mapreduce.CopiesTerms{Copies: spots}, mapreduce.ErrRecipe, "and a job of spotsigs-"},
	} {
		_, err := step(t, mapOf(c.job), signed, nil)
		wantError(t, err, c.wraps, c.says)
	}
}
