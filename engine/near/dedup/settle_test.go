package dedup

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

func TestParseRule(t *testing.T) {
	for text, want := range map[string]string{
		"jaccard >= 0.8":                   "jaccard>=0.8",
		"contained>=1":                     "contained>=1",
		"jaccard>=0.7 or contained>=0.9":   "jaccard>=0.7 or contained>=0.9",
		" jaccard>=.5 and contained >=.9 ": "jaccard>=0.5 and contained>=0.9",
		"contained>=1 or jaccard>=0.9 and contained>=0.5 and jaccard>=0.8": "contained>=1 or jaccard>=0.9 and contained>=0.5",
	} {
		if r, err := ParseRule(text); err != nil || r.String() != want {
			t.Errorf("%q: %v %v, want %s", text, r, err, want)
		}
	}
	for _, bad := range []string{"", "jaccard", "jaccard>=", "jaccard>=0", "jaccard>=1.1", "jaccard>=NaN", "jaccard>0.5",
		"cosine>=0.5", "jaccard>=0.5 or", "and contained>=1", "jaccard>=0.5 contained>=1", "jaccard>=0.5 OR contained>=1",
		"(jaccard>=0.5)"} {
		if r, err := ParseRule(bad); err == nil {
			t.Errorf("%q: %v", bad, r)
		}
	}
}

// TestJudge compares with figures computed by hand, and checks that the size of the smaller set is a bound for them.
func TestJudge(t *testing.T) {
	a, b := []uint64{1, 2, 3, 4}, []uint64{2, 3, 4, 5, 6, 7, 8, 9}
	for _, c := range []struct {
		rule Rule
		ab   bool // whether a may be dropped for b
		ba   bool
	}{
		{Rule{{Jaccard: 3.0 / 9}}, true, true}, {Rule{{Jaccard: 0.34}}, false, false},
		{Rule{{Contained: 0.75}}, true, false}, {Rule{{Contained: 0.76}}, false, false},
		{Rule{{Contained: 0.3}}, true, true}, {Rule{{0.3, 0.76}}, false, false},
		{Rule{{0.3, 0.5}}, true, false}, {Rule{{0.3, 0.76}, {0, 0.7}}, true, false}, {nil, true, true},
	} {
		ab, ok := c.rule.Judge(a, b)
		ba, back := c.rule.Judge(b, a)
		if ok != c.ab || back != c.ba || ok && ab != (Likeness{3.0 / 9, 0.75}) || back && ba != (Likeness{3.0 / 9, 0.375}) {
			t.Errorf("%v: %v %v, %v %v", c.rule, ab, ok, ba, back)
		}
	}
	if like, ok := (Rule{{1, 1}}).Judge(nil, nil); !ok || like != same {
		t.Error(like, ok)
	}
}

// TestSettle compares with all possible choices of kept documents in clusters of up to 12 documents. Exactly one choice
// has both properties of a settler: each dropped document has a kept one that is near, preferred and allowed, and no
// kept document may be dropped for another one. The result is that choice, for any number of goroutines.
func TestSettle(t *testing.T) {
	const k = 3
	rng := rand.New(rand.NewPCG(29, 3))
	kept, fewest := 0, 0
	for trial := range 400 {
		n := 2 + trial%11
		fingerprints, texts, rank := make([]uint64, n), make([][]uint64, n), rng.Perm(n)
		rule := Rule{{Contained: 0.1 + 0.8*rng.Float64()}, {Jaccard: 0.5, Contained: 0.1}}
		for i := range fingerprints {
			fingerprints[i] = sets.Flip(rng, 0, rng.IntN(5))
			for x := range uint64(12) {
				if rng.IntN(3) > 0 {
					texts[i] = append(texts[i], x)
				}
			}
		}
		goes := func(a, b int) bool { // a may go for b
			_, ok := rule.Judge(texts[a], texts[b])
			return ok && rank[b] < rank[a] && bits.OnesCount64(fingerprints[a]^fingerprints[b]) <= k
		}
		var solutions []uint
		minimum := n
		for choice := range uint(1) << n {
			dominated, independent := true, true
			for a := range n {
				better := -1
				for b := range n {
					if choice>>b&1 == 1 && goes(a, b) {
						better = b
					}
				}
				if choice>>a&1 == 1 {
					independent = independent && better < 0
				} else {
					dominated = dominated && better >= 0
				}
			}
			if dominated {
				minimum = min(minimum, bits.OnesCount(choice))
				if independent {
					solutions = append(solutions, choice)
				}
			}
		}
		rows := make([]Row, n)
		for i := range rows {
			rows[i] = Row(i)
		}
		set := setOf(func(row Row, _ *[]uint64) []uint64 { return texts[row] })
		for variant := range 4 {
			s := &settler{corpus: ofPrints(fingerprints), o: Options{K: k, Rule: rule}, judge: set.judge(rule), set: set, threads: 1 + variant%2*2,
				part: []int{1, settlePart}[variant/2], prefer: func(a, b int) int { return rank[a] - rank[b] }}
			groups, err := s.settle(t.Context(), rows)
			must.Do(t, err)
			got := uint(1)<<n - 1
			for _, g := range groups {
				for _, m := range g.members {
					if m.row != g.kept {
						got &^= 1 << m.row
						if !goes(int(m.row), int(g.kept)) {
							t.Errorf("trial %d: %d was dropped for %d", trial, m.row, g.kept)
						}
					}
				}
			}
			if len(solutions) != 1 || got != solutions[0] {
				t.Fatalf("trial %d: kept %b, want one of %b", trial, got, solutions)
			}
		}
		kept, fewest = kept+bits.OnesCount(solutions[0]), fewest+minimum
	}
	t.Logf("%d kept; %d if one of two kept documents may be dropped for the other", kept, fewest)
}

// TestParities checks that parities never rule out a drop that the sets allow, and rule out most others.
func TestParities(t *testing.T) {
	var sets [][]uint64
	for i := range 300 {
		set := []uint64{}
		for x := range uint64(2 + i%97) {
			set = append(set, (x+uint64(i%7))*0x9e3779b97f4a7c15)
		}
		slices.Sort(set)
		sets = append(sets, set)
	}
	told := 0
	for _, size := range []int{1, 97, 1 << 20} {
		var p parities
		var room parityRoom
		p.reset(size)
		var all []uint64
		for i, set := range sets {
			p.keep(set)
			all = append(all, uint64(i))
		}
		for _, rule := range []Rule{{{Jaccard: 0.7}}, {{Contained: 1}}, {{Jaccard: 0.9}, {Contained: 0.8}}} {
			for i, a := range sets {
				likely := p.likely(rule, a, slices.Clone(all[:i]), &room)
				told += i - len(likely)
				for j := range i {
					if _, ok := rule.Judge(a, sets[j]); ok && !slices.Contains(likely, uint64(j)) {
						t.Fatalf("%d words, %v: %d and %d", p.words, rule, i, j)
					}
				}
			}
		}
	}
	if told < 200_000 {
		t.Errorf("only %d pairs are told apart", told)
	}
}
