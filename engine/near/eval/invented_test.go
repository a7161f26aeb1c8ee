package eval

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"ndd/engine/corpus/simhash"
	"ndd/engine/oracle/must"
)

// TestInventedPairs: texts are the same for a seed, edits cover the Jaccards from 0.5 to 1, and the
// classes that look alike have what makes them so.
func TestInventedPairs(t *testing.T) {
	const pairs = 10
	for _, name := range []string{"en", "zh", "th"} {
		c, labels, err := InventedPairs(name, pairs, 7)
		must.Do(t, err)
		again := c
		if name == "zh" {
			again, _, _ = InventedPairs(name, pairs, 7)
		}
		most := map[string]float64{}
		least := map[string]float64{}
		for i, l := range labels {
			one, other := c.texts[2*i], c.texts[2*i+1]
			if one != again.texts[2*i] || other != again.texts[2*i+1] {
				t.Fatalf("%s, %s: another text for the same seed", name, l.Kind)
			}
			if !utf8.ValidString(one) || one == other {
				t.Errorf("%s, %s: %.80q and %.80q", name, l.Kind, one, other)
			}
			if most[l.Kind] == 0 {
				least[l.Kind] = 1
			}
			most[l.Kind], least[l.Kind] = max(most[l.Kind], l.Jaccard), min(least[l.Kind], l.Jaccard)
			switch l.Kind {
			case "numbers only": // nothing but digits differs
				if without(one, "0123456789.") != without(other, "0123456789.") {
					t.Errorf("%s: %q and %q differ in more than numbers", name, one, other)
				}
			case "shuffled sentences":
				if sorted(one) != sorted(other) {
					t.Errorf("%s: %q has other characters than %q", name, one, other)
				}
			}
		}
		for _, unit := range []string{byWord, bySentence, byParagraph} {
			if most[unit] < 0.85 || least[unit] > 0.75 || least[unit] < 0.25 {
				t.Errorf("%s: %s have Jaccards from %.2f to %.2f", name, unit, least[unit], most[unit])
			}
		}
		for _, kind := range []string{"shuffled words", "code", "tables", "lists"} {
			if most[kind] >= 0.75 {
				t.Errorf("%s: %s have a Jaccard of %.2f", name, kind, most[kind])
			}
		}
	}
	if _, _, err := InventedPairs("xx", 1, 1); err == nil {
		t.Error("a language that is not there: no error")
	}
}

func without(s, set string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(set, r) {
			return -1
		}
		return r
	}, s)
}

func sorted(s string) (counts [256]int) {
	for _, c := range []byte(strings.Join(strings.Fields(without(s, ".。।")), "")) {
		counts[c]++
	}
	return counts
}

// TestMeasureLanguages: a bag of words cannot tell the same words in another order apart, and pairs
// of words can; every key counts.
func TestMeasureLanguages(t *testing.T) {
	bag := simhash.Minwise()
	methods := []Method{{Name: "bag", Recipe: bag}, {Name: "pairs", Recipe: simhash.MinwisePairs()},
		{Name: "verified", Recipe: bag, Verify: 0.5}}
	found, err := MeasureLanguages(context.Background(), []string{"en"}, 20, methods, Options{})
	must.Do(t, err)
	got := map[string]LanguageResult{}
	for _, r := range found {
		got[r.Method+" "+r.Class] = r
	}
	if s := got["bag shuffled words"].False[0]; s.K != 3 || s.Least != 1 {
		t.Errorf("a bag of words, shuffled: %+v", s)
	}
	if s := got["pairs shuffled words"].False[0]; s.Most > 0.1 {
		t.Errorf("pairs of words, shuffled: %+v", s)
	}
	if s := got["verified shuffled words"].False[1]; s.Most != 0 {
		t.Errorf("compared by text: %+v", s)
	}
	if r := got["bag "+byWord]; r.Near < 4 || r.Found[0].Mean < 0.9 || r.Found[0].Least > r.Found[0].Mean {
		t.Errorf("edited words: %+v", r)
	}
	if r := got["bag "+AllEdits]; r.Found[0].Least == r.Found[0].Most {
		t.Errorf("every key finds the same: %+v", r)
	}
	if a, b := got["bag "+AllClasses], got["bag "+AllEdits]; a.Near < b.Near || a.Unlike < 100 {
		t.Errorf("all classes %+v, edits %+v", a, b)
	}
}
