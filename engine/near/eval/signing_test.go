package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/oracle/must"
)

// wordSets is a signing by the words' numbers in a text of numbers: texts of fewer than two have
// too few.
func wordSets() *Signing {
	return &Signing{
		Worker: func() (func(string) []uint64, error) {
			return func(text string) (set []uint64) {
				var n uint64
				for _, c := range text + " " {
					if c >= '0' && c <= '9' {
						n = 10*n + uint64(c-'0')
					} else {
						set = append(set, n)
						n = 0
					}
				}
				slices.Sort(set)
				if set = slices.Compact(set); len(set) < 2 {
					return nil
				}
				return set
			}, nil
		},
		Similarity: func(a, b, shared int) float64 { return float64(shared) / float64(a+b-shared) },
	}
}

// TestSignatures holds what the lists of signatures find, and at which threshold, against all pairs
// of sets.
func TestSignatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	c := newCorpus(t)
	for i := range 300 {
		text := ""
		for range 1 + rng.IntN(8) {
			text += fmt.Sprint(rng.IntN(12), " ")
		}
		must.Do(t, c.Add(fmt.Sprint(i), text+"0"))
	}
	x, err := c.sign(t.Context(), wordSets(), 3)
	must.Do(t, err)
	got := map[[2]uint32]int{}
	if err := x.near(t.Context(), c.Len(), func(a, b uint32, level int) {
		if _, twice := got[[2]uint32{a, b}]; twice || a >= b {
			t.Errorf("pair %d, %d: twice, or in no order", a, b)
		}
		got[[2]uint32{a, b}] = level
	}); err != nil {
		t.Fatal(err)
	}
	none, pairs := 0, 0
	for b := range uint32(300) {
		if !x.has(b) {
			none++
			continue
		}
		for a := range b {
			if !x.has(a) {
				continue
			}
			shared := 0
			for _, s := range x.sets[a] {
				if slices.Contains(x.sets[b], s) {
					shared++
				}
			}
			similar := float64(shared) / float64(len(x.sets[a])+len(x.sets[b])-shared)
			want := slices.IndexFunc(Thresholds[:], func(t float64) bool { return similar >= t })
			level, ok := got[[2]uint32{a, b}]
			if ok != (want >= 0) || ok && level != want || ok && x.between(a, b) != want {
				t.Fatalf("sets %v and %v: level %d, %v, want %d", x.sets[a], x.sets[b], level, ok, want)
			}
			if ok {
				pairs++
			}
		}
	}
	if none != c.Len()-len(rowsOf(x, c.Len())) || none == 0 || pairs < 1000 {
		t.Errorf("%d texts with too few signatures; %d pairs", none, pairs)
	}
}

// TestMeasureSignatures: a method of signatures is measured like fingerprints, by thresholds
// instead of distances.
func TestMeasureSignatures(t *testing.T) {
	c := newCorpus(t, "1 2 3 4", "1 2 3 4", "1 2 3 5", "7 8 9 10")
	pairs, _ := c.Pairs([]Label{{A: "0", B: "1", Kind: Same, Jaccard: 1}, {A: "0", B: "2", Kind: Similar,
		Jaccard: 0.6}, {A: "0", B: "3", Kind: Different}})
	r, err := Measure(t.Context(), c, pairs, []Method{{Name: "sets", Signing: wordSets()}}, Options{AllBands: true})
	must.Do(t, err)
	m := &r.Methods[0]
	if header := r.table(m)[0]; header[0] != "similarity at least" || header[1] != "1" || m.Recipe != "" {
		t.Errorf("%q, %q", header, m.Recipe)
	}
	for _, row := range m.Recall {
		switch {
		case row.Kind == Same && row.PerPair[0] != 1:
			t.Errorf("equal sets: %v", row.PerPair)
		case row.Kind == Similar && (row.PerPair[5] != 0 || row.PerPair[6] != 1): // 3 of 5
			t.Errorf("0.6 alike: %v", row.PerPair)
		case row.Kind == Different && row.Found[MaxK] != 0:
			t.Errorf("different sets: %v", row.Found)
		}
	}
	if m.Candidates[MaxK] != 3 || r.SignatureChart() == nil || len(r.RecallChart().Series) != 0 {
		t.Errorf("%v", m.Candidates)
	}
}
