package spotsigs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/oracle/must"
)

// specification implements the definition in the package comment for texts of lower-case words and spaces. It returns
// the words of each signature.
func specification(text string, antecedents, stops []string, d, c int) (all []string) {
	words := strings.Fields(text)
	for i, a := range words {
		if !slices.Contains(antecedents, a) {
			continue
		}
		var following []string
		for _, w := range words[i+1:] {
			if !slices.Contains(stops, w) && !slices.Contains(antecedents, w) {
				following = append(following, w)
			}
		}
		if len(following) < d*c {
			continue
		}
		sig := a
		for j := 1; j <= c; j++ {
			sig += ":" + following[j*d-1]
		}
		all = append(all, sig)
	}
	return all
}

// hashes returns the hashes of signatures by their words.
func hashes(t *testing.T, sigs []string) (all []uint64) {
	t.Helper()
	for _, sig := range sigs {
		h := uint64(0)
		words := strings.Split(sig, ":")
		for _, w := range append(words[1:], words[0]) { // the chain, and then the antecedent
			one, err := makeLists("test", []string{w}, nil)
			must.Do(t, err)
			for hash := range one.kinds {
				h = signature.Fold(h, hash)
			}
		}
		all = append(all, h)
	}
	return all
}

func selector(t *testing.T, o Options) signature.Selector {
	t.Helper()
	s, err := New(o)
	must.Do(t, err)
	return signature.NewReader(t.Context()).Selector(s)
}

// TestPaperExample computes the signatures of the paper's sentence.
func TestPaperExample(t *testing.T) {
	text := "At a rally to kick off a weeklong campaign for the South Carolina primary, Obama tried to set the " +
		"record straight"
	s := selector(t, Options{Lists: Paper, Chain: 2})
	want := hashes(t, []string{"a:rally:kick", "a:weeklong:campaign", "the:south:carolina", "the:record:straight"})
	var got []uint64
	for _, x := range signature.Append(nil, s, text) {
		got = append(got, x.Hash)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	x := signature.Append(nil, s, text)[2]
	if text[x.Start:x.End] != "the South Carolina" {
		t.Errorf("place %q", text[x.Start:x.End])
	}
}

// TestSpecification compares the pass over the tokens with the definition.
func TestSpecification(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	antecedents, stops := []string{"the", "is", "a"}, []string{"the", "is", "a", "of", "and"}
	lists, err := makeLists("test", antecedents, stops)
	must.Do(t, err)
	for i := range 400 {
		var b strings.Builder
		n := random.IntN(60)
		if i == 0 {
			n = 2 * wordsMax // more words than the Selector remembers
		}
		for range n {
			if random.IntN(3) == 0 {
				b.WriteString(stops[random.IntN(len(stops))] + " ")
			} else {
				fmt.Fprintf(&b, "w%d ", random.IntN(20))
			}
		}
		o := Options{lists, 1 + i%3, 1 + i/3%4}
		s := selector(t, o)
		var got []uint64
		for _, x := range signature.Append(nil, s, b.String()) {
			got = append(got, x.Hash)
		}
		want := hashes(t, specification(b.String(), antecedents, stops, o.Distance, o.Chain))
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%q, %d, %d: %d signatures, want %d", b.String(), o.Distance, o.Chain, len(got), len(want))
		}
	}
}

func TestLists(t *testing.T) {
	l, err := ReadLists(strings.NewReader("\ufeff# German\r\nder\r\ndie\r\n\r\nund\r\n"), "de.txt")
	if err != nil || len(l.kinds) != 3 || l.Name() != "de.txt" {
		t.Fatal(l, err)
	}
	s := selector(t, Options{Lists: l, Chain: 1})
	if got := signature.Append(nil, s, "Der und Hund bellt und die Katze"); len(got) != 2 {
		t.Errorf("%d signatures", len(got))
	}
	for in, want := range map[string]string{"": "no antecedents", "two words\n": "is not one word",
		"\nund\n": "no antecedents"} {
		if _, err := ReadLists(strings.NewReader(in), "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
	for _, language := range languages {
		if l, err := ByName(language); err != nil || len(l.kinds) < 50 || l.Name() != language {
			t.Errorf("%s: %v", language, err)
		}
	}
	l, err = ByName("ru")
	must.Do(t, err)
	if got := signature.Append(nil, selector(t, Options{Lists: l, Chain: 1}), "Кот и собака в доме"); len(got) != 2 {
		t.Errorf("Russian: %d signatures", len(got))
	}
	if _, err := ByName("narrow"); err == nil {
		t.Error("an unknown name was taken")
	}
	if l, err := ByName("wide"); err != nil || l != Wide {
		t.Error(err)
	}
	if _, err := New(Options{Chain: 17}); err == nil {
		t.Error("a chain of 17 was taken")
	}
}
