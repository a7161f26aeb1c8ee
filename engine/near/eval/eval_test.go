package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

func newCorpus(t *testing.T, texts ...string) *Corpus {
	t.Helper()
	c := NewCorpus()
	for i, text := range texts {
		must.Do(t, c.Add(fmt.Sprint(i), text))
	}
	return c
}

// sentence returns n random words of a language of 2,000.
func sentence(random *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		w := random.IntN(2000)
		b.WriteString(string(rune('a'+w%26)) + string(rune('a'+w/26%26)) + string(rune('a'+w/676)) + "x ")
	}
	return b.String()
}

// labelsOf reads a table of labelled pairs.
func labelsOf(t *testing.T, table string) ([]Label, int, error) {
	t.Helper()
	must.Do(t, os.WriteFile("p.tsv", []byte(table), 0o644))
	return ReadLabels(t.Context(), "p.tsv")
}

func TestReadLabels(t *testing.T) {
	t.Chdir(t.TempDir())
	got, _, err := labelsOf(t, "label\tid_a\tid_b\tjaccard\textra\r\nsame\ta\tb\t0.9\tx\n\ndifferent\ta\tc\t\ty\n")
	if err != nil || len(got) != 2 || got[0] != (Label{"a", "b", "same", "", 0.9, 1}) || got[1].Kind != "different" ||
		!math.IsNaN(got[1].Jaccard) || got[1].Row != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for in, want := range map[string]string{
		"":                                "p.tsv: the header is missing: the file is empty",
		"id_a\tb\n":                       `p.tsv: no column id_b; there are "id_a, b"`,
		"\x7fELF\x1b[2J\xff\n":            `p.tsv: no column id_a; there are "\x7fELF\x1b[2J\xff"`,
		"id_a\tid_b\tlabel\na\tb\n":       `p.tsv: row 1: 2 fields, but column "label" is number 3`,
		"id_a\tid_b\tlabel\na\tb\t\n":     `p.tsv: row 1: label "": must be one of contains, different, duplicate, false, same, similar, true, unknown, unsure`,
		"id_a\tid_b\tlabel\na\tb\tyes\n":  `p.tsv: row 1: label "yes": must be one of contains, different, duplicate, false, same, similar, true, unknown, unsure`,
		"id_a\tid_b\tlabel\na\ta\tsame\n": `p.tsv: row 1: "a" is paired with itself`,
		"id_a\tid_b\tlabel\tjaccard\na\tb\tsame\t2\n": `p.tsv: row 1: jaccard "2": must be a number from 0 to 1`,
		"id_a\tid_b\tlabel\tjaccard\na\tb\tsame\tx\n": `p.tsv: row 1: jaccard "x": must be a number from 0 to 1`,
	} {
		if _, _, err := labelsOf(t, in); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	tagged, _, err := labelsOf(t, "\ufeffid_a\tid_b\tlabel\na\tb\ttrue\na\tc\tfalse\na\td\tunknown\n")
	if err != nil || len(tagged) != 3 || tagged[0].Kind != Same || tagged[1].Kind != Different || tagged[2].Kind != Unsure {
		t.Errorf("tags of the paper, after a byte order mark: %+v, %v", tagged, err)
	}
	twice, repeated, err := labelsOf(t, "id_a\tid_b\tlabel\na\tb\tsame\nb\ta\tsame\na\tb\tcontains\n")
	if err != nil || repeated != 1 || len(twice) != 2 || twice[0].Row != 1 || twice[1].Kind != Contains {
		t.Errorf("a pair that comes twice: %+v, %v", twice, err)
	}
}

// TestPairs checks that same and similar pairs connect documents to groups. Labels without documents are returned.
func TestPairs(t *testing.T) {
	c := newCorpus(t, "one two three four", "One  two three FOUR", "five six seven eight", "one two three nine", "ten")
	pairs, missing := c.Pairs([]Label{
		{A: "0", B: "1", Kind: Same, Jaccard: math.NaN()}, {A: "1", B: "3", Kind: Similar, Jaccard: 0.4},
		{A: "2", B: "3", Kind: Contains, Jaccard: 0.1},
		{A: "0", B: "4", Kind: Different, Jaccard: 0}, {A: "0", B: "9", Kind: Same}, {A: "0", B: "2", Kind: Unsure},
	})
	if len(missing) != 1 || missing[0].B != "9" || len(pairs) != 4 {
		t.Fatalf("%+v, missing %+v", pairs, missing)
	}
	if pairs[0].Jaccard != 1 || pairs[1].Jaccard != 0.4 {
		t.Errorf("%+v", pairs)
	}
	if pairs[0].Group != pairs[1].Group || pairs[2].Group == pairs[0].Group || pairs[3].Group != pairs[0].Group {
		t.Errorf("groups %+v", pairs)
	}
}

// TestRecall counts by hand: one group of three pairs, one of a single pair.
func TestRecall(t *testing.T) {
	p := &fingerprints{keys: []uint64{0, 1, 3, 0xff, 0xff, 0}, ok: []bool{true, true, true, true, true, false}}
	pairs := []Pair{
		{A: 0, B: 1, Kind: Same, Jaccard: 0.9, Group: 0},             // distance 1
		{A: 0, B: 2, Kind: Same, Jaccard: 0.9, Group: 0},             // 2
		{A: 0, B: 3, Kind: Same, Jaccard: 0.9, Group: 0},             // 8
		{A: 3, B: 4, Kind: Same, Jaccard: 1, Group: 3},               // 0
		{A: 0, B: 5, Kind: Same, Jaccard: 0.85, Group: 5},            // no fingerprint
		{A: 0, B: 1, Kind: Same, Jaccard: 0.6, Group: 0},             // revised
		{A: 1, B: 2, Kind: Different, Jaccard: 0, Group: 1},          // 1
		{A: 0, B: 1, Kind: Same, Lang: "zh", Jaccard: 0.9, Group: 0}, // another language
	}
	rows := recall(pairs, p, true)
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].Name()
	}
	if want := []string{"same near", "same revised", "different", "zh same near"}; !slices.Equal(names, want) {
		t.Fatalf("rows %q, want %q", names, want)
	}
	r := rows[0]
	if r.Pairs != 5 || r.Groups != 3 || r.Found[0] != 1 || r.Found[1] != 2 || r.Found[2] != 3 ||
		r.Found[7] != 3 || r.Found[8] != 4 {
		t.Errorf("%+v", r)
	}
	for k, want := range map[int]float64{0: 1.0 / 3, 1: (1.0/3 + 1) / 3, 2: (2.0/3 + 1) / 3, 8: 2.0 / 3} {
		if math.Abs(r.PerGroup[k]-want) > 1e-12 {
			t.Errorf("group, k = %d: %g, want %g", k, r.PerGroup[k], want)
		}
	}
	for row := range p.keys { // sketches of one shingle: 3 and 4 have the same
		s := sketch.Sketch{uint64(row)}
		s[sketch.Words-1] = 1
		if row == 4 {
			s[0] = 3
		}
		p.sketches = append(p.sketches, s)
	}
	p.verify = 0.95
	if verified := recall(pairs, p, true)[0]; verified.Found[10] != 1 {
		t.Errorf("verified: %+v", verified.Found)
	}
}

// TestByLabel checks that a reported pair with the label different is false, and a contained pair counts as neither.
func TestByLabel(t *testing.T) {
	p := &fingerprints{keys: []uint64{0, 1, 3, 0xff}, ok: []bool{true, true, true, true}}
	pairs := []Pair{
		{A: 0, B: 1, Kind: Same, Jaccard: 0.9},      // distance 1
		{A: 0, B: 2, Kind: Similar, Jaccard: 0.3},   // 2
		{A: 0, B: 3, Kind: Same, Jaccard: 0.9},      // 8
		{A: 1, B: 2, Kind: Different, Jaccard: 0.9}, // 1
		{A: 1, B: 3, Kind: Different, Jaccard: 0},   // 7
		{A: 2, B: 3, Kind: Contains, Jaccard: 0.9},  // 6
	}
	b := byLabel(pairs, p)
	if b.TruePositives[3] != 2 || b.FalsePositives[3] != 1 || b.FalseNegatives[3] != 1 || b.Precision[3] != 2./3 ||
		b.Recall[3] != 2./3 || b.F1[3] != 2./3 {
		t.Errorf("k = 3: %+v", b)
	}
	if b.TruePositives[8] != 3 || b.FalsePositives[8] != 2 || b.FalseNegatives[8] != 0 {
		t.Errorf("k = 8: %+v", b)
	}
}

// TestReported compares pairs and precision with a comparison of all pairs.
func TestReported(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var texts []string
	for i := range 300 {
		switch {
		case i%3 == 0 || i < 3:
			texts = append(texts, sentence(random, 60))
		default: // a copy with a word replaced
			words := strings.Fields(texts[i-i%3])
			words[random.IntN(len(words))] = "other"
			texts = append(texts, strings.Join(words, " "))
		}
	}
	c := newCorpus(t, texts...)
	p, err := c.fingerprint(context.Background(), &Method{Recipe: simhash.Default()}, 2)
	must.Do(t, err)
	r, err := findReported(context.Background(), c, p, c.Len())
	must.Do(t, err)
	var counts, good Counts
	for i := range texts {
		for j := i + 1; j < len(texts); j++ {
			if d := bits.OnesCount64(p.keys[i] ^ p.keys[j]); d <= MaxK {
				counts[d]++
				if c.Jaccard(i, j) >= 0.5 {
					good[d]++
				}
			}
		}
	}
	if counts != r.counts || counts[3] == 0 {
		t.Fatalf("%v, want %v", r.counts, counts)
	}
	precision := r.precision()
	all, right := 0, 0
	for k := range counts {
		all, right = all+counts[k], right+good[k]
		if all > 0 && (precision.Reported[k] != all || math.Abs(precision.Share[k]-float64(right)/float64(all)) > 1e-9) {
			t.Errorf("k = %d: %d reported, precision %g; want %d, %d right", k, precision.Reported[k], precision.Share[k],
				all, right)
		}
	}
	if _, err := findReported(must.Cancelled(t), c, p, c.Len()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSampled checks that shares stay about right if pairs are sampled.
func TestSampled(t *testing.T) {
	var r reportCount
	random := rand.New(rand.NewPCG(1, 1))
	const all = 5 * judgedMax
	for i := range all {
		if weight := r.weight(random, 2); weight > 0 {
			r.judge(2, weight, float64(i/(all/2)), true)
		}
	}
	p := r.precision()
	if p.Reported[2] != all || p.Sampled[2] > 3*judgedMax || math.Abs(p.Share[2]-0.5) > 0.01 {
		t.Errorf("%d judged of %d, share %g", p.Sampled[2], p.Reported[2], p.Share[2])
	}
}

// TestSamplePairs checks that pairs at every distance are drawn, no more than asked for, each once, with an equal
// chance.
func TestSamplePairs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var texts []string
	for range 8 {
		words := strings.Fields(sentence(random, 40))
		for range 12 {
			words[random.IntN(len(words))] = "edited"
			texts = append(texts, strings.Join(words, " "))
		}
	}
	c := newCorpus(t, texts...)
	p, err := c.fingerprint(t.Context(), &Method{Recipe: simhash.Default()}, 1)
	must.Do(t, err)
	all := Counts{}
	must.Do(t, p.nearPairs(t.Context(), c.Len(), func(_, _ uint32, distance int) { all[distance]++ }))
	times := map[SampledPair]int{}
	const count, rounds = 5, 300
	for seed := range uint64(rounds) {
		got, err := c.SamplePairs(t.Context(), simhash.Default(), count, 1, seed)
		must.Do(t, err)
		var drawn Counts
		once := map[SampledPair]bool{}
		for _, pair := range got {
			if d := p.distance(pair.A, pair.B); d != pair.Distance || once[pair] {
				t.Fatalf("%+v, whose distance is %d, comes again: %v", pair, d, once[pair])
			}
			once[pair] = true
			drawn[pair.Distance]++
			times[pair]++
		}
		for d, n := range drawn {
			if n != min(count, all[d]) {
				t.Fatalf("%d of %d pairs at distance %d", n, all[d], d)
			}
		}
	}
	for pair, n := range times {
		if want := rounds * min(1, count/float64(all[pair.Distance])); math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
			t.Errorf("%+v, one of %d, was drawn %d times, want %.0f", pair, all[pair.Distance], n, want)
		}
	}
	if got := newCorpus(t, "aé\n\tb").Beginning(0, 2); got != "a" {
		t.Errorf("%q", got)
	}
	if got := newCorpus(t, "aé\n\tb").Beginning(0, 9); got != "aé b" {
		t.Errorf("%q", got)
	}
}

// TestSpans checks that taking a text apart and joining it changes nothing.
func TestSpans(t *testing.T) {
	e, err := newEditor(nil)
	must.Do(t, err)
	for _, text := range []string{"", "  ", "Hello, big world!\n", "汉字 and words混合。", "e\u0301te\u0301 3.5%",
		"\xff\xfe a"} {
		all, tail := e.spans(text)
		if joinSpans(all, tail) != text {
			t.Errorf("%q: %q", text, joinSpans(all, tail))
		}
	}
	if all, _ := e.spans("汉字 and"); len(all) != 3 {
		t.Errorf("%d words", len(all))
	}
}

// TestEdits checks that the number of changed words of a copy has the given rate, and the same seed makes the same
// copies.
func TestEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	texts := []string{sentence(random, 400), sentence(random, 400), strings.Repeat("汉字没有空格", 80), "too short to edit"}
	make := func() (*Corpus, []Label) {
		c := newCorpus(t, texts...)
		labels, err := c.SyntheticLabels(10, 42)
		must.Do(t, err)
		return c, labels
	}
	c, labels := make()
	e, err := newEditor(nil)
	must.Do(t, err)
	again, _ := make()
	if !slices.Equal(c.texts, again.texts) {
		t.Error("the same seed gave other copies")
	}
	if want := 3 * 4; len(labels) != want { // 1 in 1,000 needs as many words
		t.Errorf("%d labels, want %d", len(labels), want)
	}
	for _, l := range labels {
		var rate int
		_, err := fmt.Sscanf(l.Kind, "edited 1 in %d", &rate)
		must.Do(t, err)
		was, _ := e.spans(c.texts[c.rows[l.A]])
		is, _ := e.spans(c.texts[c.rows[l.B]])
		n := len(was) / rate
		if extra := len(is) - len(was); extra < -n || extra > n {
			t.Errorf("%s of %d words: %d more", l.Kind, len(was), extra)
		}
		if l.A != "2" && (l.Jaccard == 1 || l.Jaccard < 1-8*float64(n)/float64(len(was))) { // 2 repeats itself
			t.Errorf("%s: Jaccard %.2f", l.Kind, l.Jaccard)
		}
	}
	if _, err := newCorpus(t, "short").SyntheticLabels(10, 1); err == nil ||
		!strings.Contains(err.Error(), "none of 1 document has 20 words") {
		t.Errorf("short texts: %v", err)
	}
}

// TestMeasure makes a complete measurement and writes it in every form.
func TestMeasure(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	var texts []string
	for range 60 {
		texts = append(texts, sentence(random, 300))
	}
	c := newCorpus(t, append(texts, "short")...)
	labels, err := c.SyntheticLabels(50, 3)
	must.Do(t, err)
	pairs, missing := c.Pairs(labels)
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	methods := []Method{{Name: "plain", Recipe: simhash.Default()}, {Name: "verified <&>", Recipe: simhash.Default(),
		Verify: 0.9}}
	r, err := Measure(context.Background(), c, pairs, methods, Options{Originals: 61})
	must.Do(t, err)
	plain, verified := r.Methods[0], r.Methods[1]
	if plain.TooShort != 1 || plain.Recall[0].PerPair[10] == 0 || plain.Candidates != verified.Candidates {
		t.Errorf("%+v", plain)
	}
	edited, err := Measure(context.Background(), c, pairs, methods, Options{}) // edited copies are documents, too
	must.Do(t, err)
	plain, verified = edited.Methods[0], edited.Methods[1]
	if verified.Precision.Share[10] != 1 || verified.Precision.Reported[10] >= plain.Precision.Reported[10] {
		t.Errorf("verified: %+v, plain: %+v", verified.Precision, plain.Precision)
	}
	if data, err := json.Marshal(Curve{math.NaN(), 0.5}); err != nil || !bytes.HasPrefix(data, []byte("[null,0.5,0")) {
		t.Errorf("JSON: %s, %v", data, err)
	}
	var text, svg bytes.Buffer
	must.Do(t, r.WriteText(&text))
	for _, want := range []string{"\n1 word in 20 edited, ", "verified <&>: ", "1 document too short"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	_, err = r.LabelChart().WriteTo(&svg)
	must.Do(t, err)
	if strings.Contains(svg.String(), "NaN") || !strings.Contains(svg.String(), ">verified &lt;&amp;&gt; recall<") {
		t.Errorf("figure 1: %s", svg.String())
	}
	for d := xml.NewDecoder(&svg); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestThresholds checks that pairs are counted by label, score and language. A pair labelled contains is positive for a
// containment alone, and a pair without a score is never found.
func TestThresholds(t *testing.T) {
	pairs := []Pair{{Kind: Same}, {Kind: Similar}, {Kind: Contains}, {Kind: Different}, {Kind: Same}, {Kind: Different, Lang: "zh"}}
	scores := []float64{1, 0.6, 0.9, 0.35, math.NaN(), 0.95}
	r := NewCorpus().MeasureThresholds(pairs, []Scoring{{Name: "spots", Threshold: 0.5, Scores: scores},
		{Name: "winnow", Scores: scores, Containment: true}})
	for i, want := range map[int]string{0: "spots", 1: "spots zh", 2: "winnow", 3: "winnow zh"} {
		if got := r.Methods[i].title(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if m := r.Methods[0]; m.Pairs != 5 || m.TooFew != 1 || len(m.Thresholds) != thresholds {
		t.Errorf("%+v", m)
	}
	for _, x := range []struct {
		method    int
		threshold float64
		want      LabelCounts
	}{
		{0, 0.05, LabelCounts{2, 1, 1}}, {0, 0.35, LabelCounts{2, 1, 1}}, {0, 0.4, LabelCounts{2, 0, 1}}, {0, 0.6, LabelCounts{2, 0, 1}},
		{0, 0.65, LabelCounts{1, 0, 2}}, {0, 1, LabelCounts{1, 0, 2}}, {1, 0.95, LabelCounts{0, 1, 0}}, {1, 1, LabelCounts{}},
		{2, 0.05, LabelCounts{3, 1, 1}}, {2, 0.9, LabelCounts{2, 0, 2}}, {2, 0.95, LabelCounts{1, 0, 3}},
	} {
		i := slices.IndexFunc(r.Methods[x.method].Thresholds, func(t ThresholdCounts) bool { return t.Threshold == x.threshold })
		if got := r.Methods[x.method].Thresholds[i]; got.LabelCounts != x.want {
			t.Errorf("method %d at %g: %+v, want %+v", x.method, x.threshold, got, x.want)
		}
	}
	data, err := json.Marshal(r)
	if want := `"precision":0.75,"recall":0.75,"f1":0.75`; err != nil || !bytes.Contains(data, []byte(want)) {
		t.Errorf("no %s in %s, %v", want, data, err)
	}
	if want := `{"threshold":1,"true_positives":0,"false_positives":0,"false_negatives":0,"precision":null,"recall":null,"f1":null}`; !bytes.Contains(data, []byte(want)) {
		t.Errorf("no %s in %s", want, data)
	}
	var text, svg bytes.Buffer
	must.Do(t, r.WriteText(&text))
	if want := "\nspots: 5 pairs, default threshold 0.5; 1 pair with too few signatures, never found\n"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	_, err = r.Charts()["winnow"].WriteTo(&svg)
	must.Do(t, err)
	for _, want := range []string{">winnow zh F1<", ">0.10<", ">winnow recall<"} {
		if !strings.Contains(svg.String(), want) || strings.Contains(svg.String(), "NaN") {
			t.Errorf("no %q in the figure", want)
		}
	}
}
