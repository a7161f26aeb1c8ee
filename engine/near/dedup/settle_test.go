package dedup

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"ndd/engine/near/shingle"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
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

// TestJudge: figures by hand, and that the size of the smaller set is a bound for them.
func TestJudge(t *testing.T) {
	a, b := []uint64{1, 2, 3, 4}, []uint64{2, 3, 4, 5, 6, 7, 8, 9}
	for _, c := range []struct {
		rule Rule
		ab   bool // whether a may go for b
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

// TestSettle looks at all choices of what to keep of clusters of up to 12 documents. Exactly one of
// them lets every document go for a kept one that is near, preferred and allowed, and keeps no two of
// which one may go for the other; it is the one that is made, whatever the number of goroutines, and
// with lists of rare shingles, too, that begin anew all the time.
func TestSettle(t *testing.T) {
	const k = 3
	rng := rand.New(rand.NewPCG(29, 3))
	kept, fewest := 0, 0
	for trial := range 400 {
		n := 2 + trial%11
		prints, texts, rank := make([]uint64, n), make([][]uint64, n), rng.Perm(n)
		rule := Rule{{Contained: 0.1 + 0.8*rng.Float64()}, {Jaccard: 0.5, Contained: 0.1}}
		for i := range prints {
			prints[i] = sets.Near(rng, 0, rng.IntN(5))
			for x := range uint64(12) {
				if rng.IntN(3) > 0 {
					texts[i] = append(texts[i], x)
				}
			}
		}
		goes := func(a, b int) bool { // a may go for b
			_, ok := rule.Judge(texts[a], texts[b])
			return ok && rank[b] < rank[a] && bits.OnesCount64(prints[a]^prints[b]) <= k
		}
		var solutions []uint
		least := n
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
				least = min(least, bits.OnesCount(choice))
				if independent {
					solutions = append(solutions, choice)
				}
			}
		}
		rows := make([]Row, n)
		for i := range rows {
			rows[i] = Row(i)
		}
		for variant := range 4 {
			r := &Result{corpus: ofPrints(prints)}
			s := newSettler(r.corpus, Options{K: k, Verify: &Verify{Rule: rule}}, 1+variant%2*2,
				func(a, b int) int { return rank[a] - rank[b] }, func(row Row, _ *[]uint64) []uint64 { return texts[row] })
			if variant > 1 {
				s.part, s.patience, s.rareFrom = 1, 0, 0
			}
			groups, err := s.settle(t.Context(), rows)
			must.Do(t, err)
			got := uint(1)<<n - 1
			for _, g := range groups {
				for _, m := range g.members {
					if m.row != g.kept {
						got &^= 1 << m.row
						if !goes(int(m.row), int(g.kept)) {
							t.Errorf("trial %d: %d went for %d", trial, m.row, g.kept)
						}
					}
				}
			}
			if len(solutions) != 1 || got != solutions[0] {
				t.Fatalf("trial %d: kept %b, want one of %b", trial, got, solutions)
			}
		}
		kept, fewest = kept+bits.OnesCount(solutions[0]), fewest+least
	}
	t.Logf("%d kept; %d if two may be kept of which one may go for the other", kept, fewest)
}

// TestRare: with lists of rare shingles, full or not, documents of templates go for the same ones as
// without, whatever the rule, and few are compared.
func TestRare(t *testing.T) {
	const n = 900
	rng := rand.New(rand.NewPCG(29, 4))
	texts, rows, prints := make([][]uint64, n), make([]Row, n), make([]uint64, n)
	for i := range texts {
		set := map[uint64]bool{}
		for x := range uint64(60 + 3*rng.IntN(4)) {
			set[x*0x9e3779b97f4a7c15] = true
		}
		for range rng.IntN(40) {
			set[rng.Uint64()] = true
		}
		texts[i] = slices.Sorted(maps.Keys(set))
		if i%9 == 8 { // a copy of an earlier one, without some shingles
			texts[i] = slices.Clone(texts[rng.IntN(i)])
			cut := rng.IntN(20)
			texts[i] = slices.Delete(texts[i], cut, cut+rng.IntN(8))
		}
		rows[i], prints[i] = Row(i), sets.Near(rng, 0, rng.IntN(3))
	}
	texts[300], texts[800] = nil, nil
	for _, rule := range []Rule{{{Contained: 1}}, {{Contained: 0.9}}, {{Jaccard: 0.9}}, {{Jaccard: 0.7}},
		{{Jaccard: 0.95}, {Contained: 1}}} {
		for _, chains := range []bool{false, true} {
			want := ""
			var plain int64
			for variant := range 4 {
				r := &Result{corpus: ofPrints(prints)}
				s := newSettler(r.corpus, Options{K: 3, Chains: chains, Verify: &Verify{Rule: rule}}, 1+variant%2, nil,
					func(row Row, _ *[]uint64) []uint64 { return texts[row] })
				s.patience, s.rareFrom = 0, []int{n, n, 0, 700}[variant]
				groups, err := s.settle(t.Context(), rows)
				must.Do(t, err)
				t.Logf("%v, chains %v, variant %d: %d compared", rule, chains, variant, s.compared.Load())
				switch got := fmt.Sprint(groups); {
				case want == "":
					want, plain = got, s.compared.Load()
				case got != want:
					t.Fatalf("%v, chains %v, variant %d: other groups", rule, chains, variant)
				case rule[0].Contained == 1 && variant == 3 && s.compared.Load() > plain/2:
					t.Errorf("%v: %d comparisons, without lists %d", rule, s.compared.Load(), plain)
				}
			}
		}
	}
}

// TestClasses: sizes of a class differ by less than a sixteenth, and its smallest is in it.
func TestClasses(t *testing.T) {
	for size := range 1 << 12 {
		class := classOf(size)
		if least := leastOf(class); classOf(least) != class || least > size || size-least > least/16 ||
			classOf(size+1) < class {
			t.Fatalf("size %d: class %d from %d on", size, class, least)
		}
	}
}

// TestSketches: sketches never say that a document stays that may go by its set.
func TestSketches(t *testing.T) {
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
	for _, n := range []int{1, 2, 8} {
		var s sketches
		s.resize(n, len(sets))
		own, all := make([]uint64, n+1), []uint64{}
		s.all = s.all[:0]
		for i, set := range sets {
			sketch(own, set)
			s.add(own)
			all = append(all, uint64(i))
		}
		for _, rule := range []Rule{{{Jaccard: 0.7}}, {{Contained: 1}}, {{Jaccard: 0.9}, {Contained: 0.8}}} {
			for i, a := range sets {
				likely := s.likely(rule, s.of(i), slices.Clone(all), uint64(i))
				told += i - len(likely)
				for j := range i {
					_, ok := rule.judge(shingle.Shared(a, sets[j]), len(a), len(sets[j]))
					if ok && !slices.Contains(likely, uint64(j)) {
						t.Fatalf("%d words, %v: %d and %d", n, rule, i, j)
					}
				}
			}
		}
	}
	if told < 100_000 {
		t.Errorf("sketches told only %d pairs apart", told)
	}
}

// TestHopelessLists: forms with a few values for each field all stay, though none has a shingle of its own.
// Lists of rare shingles are given up, and no pair is compared twice or by its sets.
func TestHopelessLists(t *testing.T) {
	const n, fields, values = 3000, 60, 12
	rng := rand.New(rand.NewPCG(29, 5))
	texts, rows, prints := make([][]uint64, n), make([]Row, n), make([]uint64, n)
	var shingles [fields][1 + values]uint64
	for i := range shingles {
		for j := range shingles[i] {
			shingles[i][j] = rng.Uint64()
		}
	}
	for i := range texts {
		for _, of := range shingles {
			texts[i] = append(texts[i], of[0], of[1+rng.IntN(values)])
		}
		slices.Sort(texts[i])
		rows[i], prints[i] = Row(i), sets.Near(rng, 0, rng.IntN(3))
	}
	var read, searches atomic.Int64
	var s *settler
	r := &Result{corpus: ofPrints(prints)}
	s = newSettler(r.corpus, Options{K: 6, Verify: &Verify{Rule: Rule{{Jaccard: 0.7}}}}, 2, nil,
		func(row Row, _ *[]uint64) []uint64 {
			if read.Add(1); s.rare != nil {
				searches.Store(s.rare.tried.Load())
			}
			return texts[row]
		})
	s.patience = 1
	groups, err := s.settle(t.Context(), rows)
	must.Do(t, err)
	if len(groups) > 0 || s.compared.Load() > n*n/2 || read.Load() > 8*n || searches.Load() > 2*rareTries {
		t.Errorf("%d groups, %d pairs, %d sets read, %d searches", len(groups), s.compared.Load(), read.Load(), searches.Load())
	}
}
