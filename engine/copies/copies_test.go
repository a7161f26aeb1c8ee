package copies

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/near/shingle"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
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
	s := newSigner(t, o)
	d := NewDetector(o)
	for _, text := range texts {
		d.Add(s.Sign(text))
	}
	pairs, report, err := d.Pairs(context.Background())
	must.Do(t, err)
	return pairs, report
}

// TestRelations relates a revised text, an excerpt, and unrelated texts, in both kinds of languages and with all
// methods.
func TestRelations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range []func(*rand.Rand, int) string{english, chinese} {
		whole, other := text(random, 60), text(random, 60)
		revised := text(random, 6) + whole + text(random, 6)
		// the middle third, by whole sentences
		sentences := strings.SplitAfter(strings.ReplaceAll(whole, "。", "。|"), "|")
		if len(sentences) < 10 {
			sentences = strings.SplitAfter(whole, ". ")
		}
		excerpt := strings.ReplaceAll(strings.Join(sentences[20:40], ""), "|", "")
		for _, m := range []Method{Auto, Winnow} {
			pairs, report := detect(t, Options{Method: m}, whole, revised, other, excerpt)
			got := map[[2]uint32]Relation{}
			for _, p := range pairs {
				got[[2]uint32{p.A, p.B}] = p.Relation
			}
			if got[[2]uint32{0, 1}] != Duplicate || len(pairs) > 3 || report.Documents != 4 || report.Pairs != len(pairs) {
				t.Errorf("%s: %v, %+v", m, got, report)
			}
			if got[[2]uint32{0, 3}] != Contains || got[[2]uint32{1, 3}] != Contains {
				t.Errorf("%s: %v", m, got)
			}
		}
	}
}

// TestRelationLimits checks that each limit separates two relations, and is a setting.
func TestRelationLimits(t *testing.T) {
	limits := func(change func(*RelationLimits)) RelationLimits {
		l := DefaultLimits
		change(&l)
		return l
	}
	for _, x := range []struct {
		limits       RelationLimits
		a, b, shared int32
		want         Relation
	}{
		{RelationLimits{}, 2, 10, 2, Contained}, {RelationLimits{}, 10, 2, 2, Contains}, {RelationLimits{}, 10, 10, 5, Overlap},
		{RelationLimits{}, 4, 8, 3, Revised}, {RelationLimits{}, 4, 5, 4, Duplicate}, {RelationLimits{}, 10, 6, 6, Contains},
		{RelationLimits{}, 4, 9, 3, Contained}, {limits(func(l *RelationLimits) { l.LengthRatio = 0 }), 4, 9, 3, Revised},
		{limits(func(l *RelationLimits) { l.Containment = 0.5 }), 10, 10, 5, Revised},
		{limits(func(l *RelationLimits) { l.Containment = 0.7 }), 10, 10, 6, Overlap},
		{limits(func(l *RelationLimits) { l.Duplicate = 0.9 }), 4, 5, 4, Contained},
		{limits(func(l *RelationLimits) { l.Duplicate = 0.4 }), 10, 10, 6, Duplicate},
		{RelationLimits{}, 10, 14, 9, Contained}, {limits(func(l *RelationLimits) { l.Whole = 0.95 }), 10, 14, 9, Revised},
	} {
		o := Options{Limits: x.limits}
		if got := o.NewPair(Winnow, postings.Pair{SizeA: x.a, SizeB: x.b, Shared: x.shared}, 0).Relation; got != x.want {
			t.Errorf("%+v: %d of %d and %d: %s, want %s", x.limits, x.shared, x.a, x.b, got, x.want)
		}
	}
}

// TestAnnouncement checks that a document with fewer than 4 sentences is a copy if another document contains its text,
// but not because of one sentence of many documents.
func TestAnnouncement(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const last = "本办法自公布之日起正式施行。"
	notice := strings.ReplaceAll(chinese(random, 4), "。", "，") + last
	article := chinese(random, 2)
	texts := []string{notice, article}
	const others = 20
	for range others {
		texts = append(texts, chinese(random, 20)+article+last)
	}
	pairs, _ := detect(t, Options{}, texts...)
	for _, p := range pairs {
		if p.A != 1 || p.Relation != Contained {
			t.Errorf("%+v", p)
		}
	}
	if len(pairs) != others {
		t.Errorf("%d pairs, want the pairs of the article with %d others", len(pairs), others)
	}
}

// TestSettle checks that two documents without CCDet signatures are compared by winnow alone.
func TestSettle(t *testing.T) {
	o := Options{Method: Auto}
	for _, x := range []struct {
		a, b, shared int32
		flags        Flags
		want         int
	}{{3, 100, 2, FewA, 0}, {5, 100, 4, FewA, 1}, {12, 100, 9, FewA, 1}, {12, 100, 8, 0, 0}, {11, 100, 8, 0, 0},
		{2, 100, 2, FewA, 0}, {24, 100, 16, FewA, 1}, {24, 100, 16, 0, 1},
		{40, 50, 30, 0, 0}, {40, 50, 32, 0, 1}} {
		all := o.settle([]Pair{o.NewPair(Winnow, postings.Pair{SizeA: x.a, SizeB: x.b, Shared: x.shared}, x.flags)}, func(*Pair) bool { return false })
		if len(all) != x.want {
			t.Errorf("%d of %d and %d, %s: %v", x.shared, x.a, x.b, x.flags, all)
		}
	}
}

// TestFallback checks that a text that is too short for the method of its language is compared by shingles with other
// short texts, and by winnow with longer ones. The report counts texts without any signature.
func TestFallback(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	list := "alpha beta gamma delta "
	for i := range 80 {
		list += fmt.Sprintf("item%d ", i) // words, and no stop words
	}
	pairs, report := detect(t, Options{}, english(random, 40)+list, list, "...", list+"end")
	if report.Fallback != 2 || report.None != 1 {
		t.Errorf("%+v", report)
	}
	if !slices.ContainsFunc(pairs, func(p Pair) bool {
		return p.A == 1 && p.B == 3 && p.Method == Shingles && p.Relation == Duplicate && p.Flags.Has(FewA|FewB)
	}) ||
		!slices.ContainsFunc(pairs, func(p Pair) bool { return p.A == 0 && p.B == 1 && p.Method == Winnow }) {
		t.Errorf("%+v", pairs)
	}
	// Texts with a name and a few words. Winnow selects one or two rows of each.
	short := []string{"ndarray.shape\nTuple of array dimensions, seldom more",
		"ndarray.shape\nmethod\nTuple of array dimensions, seldom more", "too few words"}
	if pairs, report := detect(t, Options{}, short...); len(pairs) != 1 || pairs[0].Method != Shingles ||
		pairs[0].B != 1 || report.Fallback != 2 || report.None != 1 {
		t.Errorf("short texts: %+v, %+v", pairs, report)
	}
	if pairs, report := detect(t, Options{Method: SpotSigs}, list, list); len(pairs) != 0 || report.None != 2 {
		t.Errorf("spotsigs alone: %+v, %+v", pairs, report)
	}
}

// TestBrute compares the pairs with a comparison of all sets.
func TestBrute(t *testing.T) {
	texts := corpus(rand.New(rand.NewPCG(5, 6)), 480)
	for _, m := range []Method{SpotSigs, Winnow} {
		s := newSigner(t, Options{Method: m})
		var sets [][]uint64
		for _, text := range texts {
			sets = append(sets, s.Sign(text).Own)
		}
		var want [][2]uint32
		for a := range sets {
			for b := a + 1; b < len(sets); b++ {
				shared := shingle.Shared(sets[a], sets[b])
				if len(sets[a]) >= m.MinFeatures() && len(sets[b]) >= m.MinFeatures() &&
					m.Measure().Similarity(len(sets[a]), len(sets[b]), shared) >= m.Threshold() {
					want = append(want, [2]uint32{uint32(a), uint32(b)})
				}
			}
		}
		pairs, _ := detect(t, Options{Method: m}, texts...)
		var got [][2]uint32
		for _, p := range pairs {
			got = append(got, [2]uint32{p.A, p.B})
		}
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: %d pairs, want %d: %v, want %v", m, len(got), len(want), got, want)
		}
	}
}

func TestMethodOf(t *testing.T) {
	for text, want := range map[string]Method{"": SpotSigs, "plain English": SpotSigs, "中文": CCDet, "日本語のテキスト": CCDet,
		"code with many English words 和 a little Chinese": SpotSigs, "12345": SpotSigs, "код на русском": SpotSigs,
		"使用 component 组件来渲染 template 模板": CCDet} {
		if got := methodOf(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	menu := strings.Repeat("Home News About Contact Search Login Register Imprint ", 180) // more than 8 KiB
	random := rand.New(rand.NewPCG(2, 6))
	if got := methodOf(menu + chinese(random, 120)); got != CCDet {
		t.Errorf("Chinese after an English menu: %s", got)
	}
	if got := methodOf(strings.Repeat("菜单", 1500) + english(random, 1500)); got != SpotSigs {
		t.Errorf("English after a Chinese menu: %s", got)
	}
	if _, err := ParseMethod("simhash"); err == nil {
		t.Error("an unknown method was taken")
	}
	for _, o := range []Options{{Threshold: -1}, {Threshold: 1.0001}, {Threshold: math.NaN()}, {MinFeatures: -1},
		{Ends: "a"}} {
		j := o.JoinOptions(Winnow)
		if _, err := NewSigner(t.Context(), o); err == nil || o.Threshold != 0 && j.Check() == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// TestMinFeatures checks that two documents with the same signatures are a pair if these are as many as their method
// needs. With one fewer they are counted.
func TestMinFeatures(t *testing.T) {
	for _, m := range []Method{SpotSigs, CCDet, Winnow} {
		for _, o := range []Options{{Method: m}, {Method: m, MinFeatures: 9}} {
			for _, missing := range []int{0, 1} {
				set := sets.Generate(cmp.Or(o.MinFeatures, m.MinFeatures())-missing, func(i int) uint64 { return uint64(i) })
				d := NewDetector(o)
				d.Add(Sets{Method: m, Own: set})
				d.Add(Sets{Method: m, Own: set})
				if pairs, r, err := d.Pairs(t.Context()); err != nil || len(pairs) != 1-missing || r.None != 2*missing {
					t.Errorf("%+v: %d signatures: %d pairs, %d documents without, %v", o, len(set), len(pairs), r.None, err)
				}
			}
		}
	}
}

// FuzzSign checks that sets ascend without repetitions, and signatures are of bytes of the text.
func FuzzSign(f *testing.F) {
	f.Add("The cat is on the mat。 猫在垫子上。\xff")
	f.Add("\xe3\x80。\xff。一二三。四五六七 八九\n十甲乙丙丁戊。x！")
	s, err := NewSigner(f.Context(), Options{})
	must.Do(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		sets := s.Sign(text)
		for _, set := range [][]uint64{sets.Own, sets.Winnow, sets.Shingles} {
			if !slices.IsSorted(set) || len(slices.Compact(slices.Clone(set))) != len(set) {
				t.Fatalf("%q: %x", text, set)
			}
		}
		for _, m := range []Method{SpotSigs, CCDet, Winnow, Shingles} {
			for _, x := range signature.Append(nil, s.selector(m), text) {
				if x.Start < 0 || x.End <= x.Start || int(x.End) > len(text) {
					t.Fatalf("%q, %s: %v", text, m, x)
				}
			}
		}
	})
}

// documentBytes is the size of the long document of TestLongDocument.
var documentBytes = flag.Int("document.bytes", 4<<20, "bytes of a long document")

// TestLongDocument checks that a document as long as a corpus is found by its copy and by an excerpt, with little
// memory for a slice.
func TestLongDocument(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	var b strings.Builder
	for b.Len() < *documentBytes {
		b.WriteString(english(random, 200))
	}
	const end = "the end"
	longer := b.String() + end
	b.Reset()
	for _, m := range []Method{SpotSigs, Winnow, CCDet, Shingles} {
		if m == CCDet {
			longer = strings.ReplaceAll(longer, ".", "。")
		}
		text := longer[:len(longer)-len(end)]
		part := text[len(text)/2 : len(text)/2+20_000]
		o := Options{Method: m, Room: postings.Room{Bytes: 1 << 20, Dir: t.TempDir()},
			Join: postings.Options{MemoryBytes: 1 << 20}}
		pairs, _ := detect(t, o, text, longer, part)
		if m.Measure() == postings.Jaccard { // Jaccard does not find an excerpt
			if len(pairs) != 1 || pairs[0].Relation != Duplicate {
				t.Errorf("%s: %+v", m, pairs)
			}
			continue
		}
		if len(pairs) != 3 || pairs[0].Relation != Duplicate || pairs[1].Relation != Contains ||
			pairs[2].Relation != Contains {
			t.Errorf("%s: %+v", m, pairs)
		}
	}
}

// TestInvalidText checks that invalid bytes do not end a comparison, and do not make two documents similar. Passages
// stay inside the texts.
func TestInvalidText(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(128 + random.IntN(128))
		}
		return string(b)
	}
	whole := english(random, 30) + chinese(random, 30)
	broken := strings.ReplaceAll(whole, "ble", "ble"+noise(1))
	texts := []string{noise(5000), noise(5000), strings.Repeat("\xff", 5000), strings.Repeat("\xfe", 4000),
		whole + noise(300), noise(300) + whole, broken, "", "\x00"}
	for _, m := range []Method{Auto, SpotSigs, CCDet, Winnow, Shingles} {
		pairs, _ := detect(t, Options{Method: m}, texts...)
		found := false
		for _, p := range pairs {
			found = found || p.A == 4 && p.B == 5
			if p.A < 2 {
				t.Errorf("%s: noise is a copy: %+v", m, p)
			}
		}
		if !found {
			t.Errorf("%s: texts with noise about them are not found: %+v", m, pairs)
		}
	}
}

// TestBags checks that a text that occurs twice in another one is its copy as a set, and half of it as a bag.
func TestBags(t *testing.T) {
	once := english(rand.New(rand.NewPCG(2, 2)), 40)
	for bags, want := range map[bool]float64{false: 0.95, true: 0.5} {
		pairs, _ := detect(t, Options{Method: SpotSigs, Bags: bags, Threshold: 0.3}, once, once+once)
		if len(pairs) != 1 || pairs[0].Score < want-0.05 || pairs[0].Score > want+0.05 {
			t.Errorf("bags %t: %+v, want a score of %g", bags, pairs, want)
		}
	}
}
