package copies

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ndd/engine/copies/signature"
	"ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// english returns n sentences of random words between stop words.
func english(random *rand.Rand, n int) string {
	var b strings.Builder
	word := func() string {
		return fmt.Sprintf("%c%c%cble", 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26))
	}
	for range n {
		fmt.Fprintf(&b, "The %s is on a %s and the %s has been %s. ", word(), word(), word(), word())
	}
	return b.String()
}

func chinese(random *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		for range 6 + random.IntN(20) {
			b.WriteRune(rune(0x4e00 + random.IntN(3000)))
		}
		b.WriteString("。")
	}
	return b.String()
}

func detect(t *testing.T, o Options, texts ...string) ([]Pair, Report) {
	t.Helper()
	s, err := NewSigner(o)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDetector(o)
	for _, text := range texts {
		d.Add(s.Sign(text))
	}
	if d.NeedBytes() == 0 && len(d.methods) > 0 {
		t.Error("no memory needed")
	}
	pairs, report, err := d.Pairs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return pairs, report
}

// TestRelations: a revised text, an excerpt, and texts that have nothing in common, in both kinds of languages and by all methods.
func TestRelations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range []func(*rand.Rand, int) string{english, chinese} {
		whole, other := text(random, 60), text(random, 60)
		revised := text(random, 6) + whole + text(random, 6)
		// the middle fifth, by whole sentences
		sentences := strings.SplitAfter(strings.ReplaceAll(whole, "。", "。|"), "|")
		if len(sentences) < 10 {
			sentences = strings.SplitAfter(whole, ". ")
		}
		excerpt := strings.ReplaceAll(strings.Join(sentences[20:40], ""), "|", "")
		for _, m := range []Method{Auto, Winnow} {
			pairs, report := detect(t, Options{Method: m, Threshold: 0.6}, whole, revised, other, excerpt)
			got := map[[2]uint32]Relation{}
			for _, p := range pairs {
				got[[2]uint32{p.A, p.B}] = p.Relation
			}
			if got[[2]uint32{0, 1}] != Duplicate || len(pairs) > 3 || report.Documents != 4 || report.Pairs != len(pairs) {
				t.Errorf("%s: %v, %+v", m, got, report)
			}
			if MethodOf(whole) == CCDet || m == Winnow { // the Jaccard of an excerpt is low
				if got[[2]uint32{0, 3}] != Contains || got[[2]uint32{1, 3}] != Contains {
					t.Errorf("%s: %v", m, got)
				}
			}
		}
	}
	if RelationOf(2, 10, 2) != Contained || RelationOf(10, 2, 2) != Contains || RelationOf(10, 10, 5) != Overlap || RelationOf(4, 8, 3) != Duplicate {
		t.Error("relation")
	}
}

// TestFallback: a text that is too short for its language's method is compared by winnow; without any signature it is told.
func TestFallback(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	list := strings.Repeat("alpha beta gamma delta ", 1)
	for i := range 80 {
		list += fmt.Sprintf("item%d ", i) // words, and no stop words
	}
	pairs, report := detect(t, Options{}, english(random, 40)+list, list, "...", list+"end")
	if report.Fallback != 2 || report.None != 1 || report.Methods[SpotSigs] != 4 {
		t.Errorf("%+v", report)
	}
	if !slices.ContainsFunc(pairs, func(p Pair) bool { return p.A == 1 && p.B == 3 && p.Method == Winnow && p.Relation == Duplicate }) ||
		!slices.ContainsFunc(pairs, func(p Pair) bool { return p.A == 0 && p.B == 1 && p.Method == Winnow }) {
		t.Errorf("%+v", pairs)
	}
	if pairs, report := detect(t, Options{Method: SpotSigs}, list, list); len(pairs) != 0 || report.None != 2 {
		t.Errorf("spotsigs alone: %+v, %+v", pairs, report)
	}
}

// TestBrute holds pairs against comparing all sets with all.
func TestBrute(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var texts []string
	for i := range 120 {
		switch {
		case i%4 != 0:
			old := strings.SplitAfter(texts[random.IntN(i)], ". ")
			old[random.IntN(len(old))] = english(random, 2)
			texts = append(texts, strings.Join(old, ""))
		default:
			texts = append(texts, english(random, 5+random.IntN(20)))
		}
	}
	for _, m := range []Method{SpotSigs, Winnow} {
		s, err := NewSigner(Options{Method: m})
		if err != nil {
			t.Fatal(err)
		}
		var sets [][]uint64
		for _, text := range texts {
			sets = append(sets, s.Sign(text).Own)
		}
		want := 0
		for a := range sets {
			for b := a + 1; b < len(sets); b++ {
				shared := signature.Shared(sets[a], sets[b])
				if len(sets[a]) >= m.MinFeatures() && len(sets[b]) >= m.MinFeatures() &&
					m.Measure().Similarity(len(sets[a]), len(sets[b]), shared) >= m.Threshold() {
					want++
				}
			}
		}
		if pairs, _ := detect(t, Options{Method: m}, texts...); len(pairs) != want || want == 0 {
			t.Errorf("%s: %d pairs, want %d", m, len(pairs), want)
		}
	}
}

// TestExplain: the passages of two texts are where the common text stands.
func TestExplain(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	common := english(random, 20)
	before, after := english(random, 10), english(random, 15)
	a, b := before+common, common+after
	s, err := NewSigner(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Method{SpotSigs, Winnow} {
		e := s.Explain(m, a, b, 100)
		if len(e.A) != 1 || len(e.B) != 1 {
			t.Fatalf("%s: %+v", m, e)
		}
		if e.A[0].Other != 0 || e.B[0].Other != 0 {
			t.Errorf("%s: the passages do not lead to each other: %+v", m, e)
		}
		if e.A[0].Start < len(before)-10 || e.A[0].Start > len(before)+100 || e.A[0].End < len(a)-100 || e.B[0].Start > 100 || e.B[0].End > len(common)+10 {
			t.Errorf("%s: %+v; the common text begins at %d and 0, and ends at %d and %d", m, e, len(before), len(a), len(common))
		}
		if e.CoveredA < 0.55 || e.CoveredA > 0.7 || e.CoveredB < 0.45 || e.CoveredB > 0.62 {
			t.Errorf("%s: covered %g, %g", m, e.CoveredA, e.CoveredB)
		}
	}
	if e := s.Explain(Winnow, "", b, 100); len(e.A) != 0 || e.CoveredA != 0 || e.Shared != 0 {
		t.Errorf("an empty text: %+v", e)
	}
}

func TestClusters(t *testing.T) {
	got := Clusters(7, []Pair{{A: 1, B: 4}, {A: 4, B: 6}, {A: 0, B: 3}})
	if fmt.Sprint(got) != "[[0 3] [1 4 6]]" {
		t.Error(got)
	}
	if Clusters(0, nil) != nil {
		t.Error("clusters of nothing")
	}
}

func TestMethodOf(t *testing.T) {
	for text, want := range map[string]Method{"": SpotSigs, "plain English": SpotSigs, "中文": CCDet, "日本語のテキスト": CCDet,
		"code with many English words 和 a little Chinese": SpotSigs, "12345": SpotSigs, "код на русском": SpotSigs,
		"使用 component 组件来渲染 template 模板": CCDet} {
		if got := MethodOf(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	if _, err := ParseMethod("simhash"); err == nil {
		t.Error("an unknown method was taken")
	}
	for _, o := range []Options{{Threshold: 1.5}, {MinFeatures: -1}, {Ends: "a"}} {
		if _, err := NewSigner(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func FuzzSign(f *testing.F) {
	f.Add("The cat is on the mat。 猫在垫子上。\xff")
	s, err := NewSigner(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sets := s.Sign(text)
		for _, set := range [][]uint64{sets.Own, sets.Winnow} {
			if !slices.IsSorted(set) || len(slices.Compact(slices.Clone(set))) != len(set) {
				t.Fatalf("%q: %x", text, set)
			}
		}
	})
}
