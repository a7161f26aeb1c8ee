package mapreduce_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// A testDoc is an invented document. Equal texts have equal numbers.
type testDoc struct {
	id          string
	row         int // 0: unknown
	fingerprint uint64
	text        uint64
	sketch      *sketch.Sketch // nil: none
	bytes       int
	short       bool
}

// testDocs are documents with the fingerprints of a set. Sketches are of three templates, with up to 130 bits
// that differ: some near documents are confirmed, and others not. Some have the text of another one.
func testDocs(fingerprints []uint64, seed uint64) (docs []testDoc) {
	rng := rand.New(rand.NewPCG(seed, 3))
	var templates [3]sketch.Sketch
	for i := range templates {
		for j := range templates[i] {
			templates[i][j] = rng.Uint64()
		}
		templates[i][sketch.Words-1] |= 1 << 63
	}
	for i, f := range fingerprints {
		d := testDoc{id: fmt.Sprintf("d%06d é", i), fingerprint: f, text: uint64(i) + 1, bytes: 100 + i%7, row: i + 1}
		s := templates[rng.IntN(3)]
		for range rng.IntN(130) {
			bit := rng.IntN(sketch.Bins - 1)
			s[bit/64] ^= 1 << (bit % 64)
		}
		d.sketch = &s
		switch {
		case i > 0 && rng.IntN(5) == 0:
			other := docs[rng.IntN(i)]
			d.fingerprint, d.text, d.sketch, d.bytes, d.short = other.fingerprint, other.text, other.sketch, other.bytes, other.short
		case rng.IntN(30) == 0:
			d.short = true
		case rng.IntN(30) == 0 && i > 0:
			d.fingerprint, d.sketch = docs[i-1].fingerprint, docs[i-1].sketch // fingerprint and sketch of another text
		}
		docs = append(docs, d)
	}
	return docs
}

// line returns a document as the job fingerprint writes it.
func (d *testDoc) line() string {
	fingerprint, s := fmt.Sprintf("%016x", d.fingerprint), "-"
	if d.sketch != nil && !d.short {
		s = mapreduce.SketchField(d.sketch)
	}
	if d.short {
		fingerprint = "----------------"
	}
	line := fmt.Sprintf("%s\t%s %d %s %s", fingerprint, strings.NewReplacer(" ", `\x20`, "é", `\xc3\xa9`, "!", `\x21`).Replace(d.id),
		d.bytes, mapreduce.HashField(d.text), s)
	if d.row > 0 {
		line += " " + mapreduce.PlaceField("a file!", d.row)
	}
	return line + "\n"
}

func docLines(docs []testDoc) string {
	var b strings.Builder
	for i := range docs {
		b.WriteString(docs[i].line())
	}
	return b.String()
}

// confirmed returns the similarity of two documents by their sketches, and whether it is enough.
func confirmed(a, b *testDoc, threshold float64) (like string, ok bool) {
	if a.sketch == nil || b.sketch == nil || threshold == 0 {
		return "unverified", true
	}
	j, _ := sketch.Estimate(a.sketch, b.sketch)
	return fmt.Sprintf("%.4f", j), j >= threshold
}

// dropsOf takes the documents in order of preference. A document is dropped if it has the text of a kept one, or if a
// kept one is within k and confirmed. It is dropped for the nearest kept one, and among equally near ones for the
// preferred one.
func dropsOf(docs []testDoc, k int, by mapreduce.Keep) (rows []string) {
	order := slices.Clone(docs)
	if by != mapreduce.FirstID {
		slices.SortStableFunc(order, func(a, b testDoc) int {
			if by == mapreduce.Longest {
				return cmp.Compare(b.bytes, a.bytes)
			}
			return cmp.Compare(a.bytes, b.bytes)
		})
	}
	var keeps []testDoc
	for i := range order {
		d, best, like := &order[i], -1, ""
		distance := func(o *testDoc) int { return bits.OnesCount64(o.fingerprint ^ d.fingerprint) }
		for j := range keeps {
			o := &keeps[j]
			switch {
			case d.short || o.short:
				if d.text == o.text {
					best, like = j, "1.0000\t1.0000"
				}
			case distance(o) <= k && (best < 0 || distance(o) < distance(&keeps[best])):
				if l, ok := confirmed(d, o, 0.7); ok {
					best, like = j, l
				}
			}
		}
		if best < 0 {
			keeps = append(keeps, *d)
			continue
		}
		o, far := &keeps[best], 0
		if !d.short {
			far = distance(o)
		}
		if !d.short {
			like += "\t"
		}
		if row := fmt.Sprintf("%s\t%s\t%d\t%s", d.id, o.id, far, like); d.row > 0 {
			rows = append(rows, fmt.Sprintf("%s\ta file!\t%d\ta file!\t%d\n", row, d.row, o.row))
		} else {
			rows = append(rows, row+"\n")
		}
	}
	return rows
}

// dedup runs rounds until all documents are decided, and returns the table.
func (l *localCluster) dedup(documents string, first mapreduce.Dedup, pairs mapreduce.Pairs) (rows []string, rounds int) {
	l.t.Helper()
	l.options.Rows = mapreduce.DropRows
	documents = l.run(first, l.cut(documents))
	for rounds = 1; ; rounds++ {
		var table bytes.Buffer
		err := mapreduce.Collect(l.t.Context(), mapreduce.Options{In: strings.NewReader(documents), Out: &table, Parts: l.reduces,
			Rows: mapreduce.DropRows})
		if err == nil {
			header, body, _ := strings.Cut(table.String(), "\n")
			if want := "id\tkept_id\tdistance\tjaccard\tcontained"; !strings.HasPrefix(header, want) {
				l.t.Fatalf("header %q, want %q", header, want)
			}
			return slices.Sorted(strings.Lines(body)), rounds
		}
		if !errors.Is(err, mapreduce.ErrUnfinished) || rounds > 60 {
			l.t.Fatalf("round %d: %v", rounds, err)
		}
		documents = l.run(mapreduce.Dedup{}, l.cut(documents+l.run(pairs, l.cut(documents))))
	}
}

// TestDedup compares the dropped documents, and the documents they are dropped for, with the rule of one machine. The
// rule takes documents one by one in order of preference. Parts, the order of records and killed attempts do not
// matter.
func TestDedup(t *testing.T) {
	for _, keep := range []mapreduce.Keep{mapreduce.FirstID, mapreduce.Longest, mapreduce.Shortest} {
		for i, set := range sets.All(300, 10, 3, 7) {
			clustered := set.Name == "clustered"
			if !clustered && keep != mapreduce.FirstID && !*full {
				continue
			}
			docs := testDocs(set.Base, uint64(i))
			want := slices.Sorted(slices.Values(dropsOf(docs, 3, keep)))
			if clustered && len(want) < 60 {
				t.Fatalf("%d documents are dropped: the set shows nothing", len(want))
			}
			eachSplit(t, clustered && keep == mapreduce.FirstID, func(t *testing.T, l *localCluster) {
				lines := docLines(docs)
				got, _ := l.dedup(lines+mapreduce.EndOf(lines), mapreduce.Dedup{Keep: keep}, mapreduce.Pairs{K: 3, Threshold: 0.7, PairsMax: 1})
				requireSame(t, set.Name, got, want)
			})
		}
	}
}

// TestDedupByID checks that without rows, IDs identify documents. Without sketches, fingerprints decide, and only rows
// of short texts have a similarity.
func TestDedupByID(t *testing.T) {
	docs := testDocs(sets.ByName("clustered", 300, 10, 6, 7).Base, 1)
	for i := range docs {
		docs[i].row = 0
	}
	for i := range docs {
		docs[i].sketch = nil
	}
	var want []string
	for _, row := range dropsOf(docs, 6, mapreduce.FirstID) {
		want = append(want, strings.Replace(row, "\tunverified\t", "\t\t", 1))
	}
	slices.Sort(want)
	got, _ := newLocal(t, 3, 1).dedup(docLines(docs), mapreduce.Dedup{}, mapreduce.Pairs{K: 6, Threshold: 0.7, PairsMax: 1})
	requireSame(t, "without sketches", got, want)
}

// TestPrefilter checks that a first round without sketches has a smaller shuffle, and decides only documents that need
// no sketch.
func TestPrefilter(t *testing.T) {
	docs := testDocs(sets.ByName("clustered", 300, 10, 3, 7).Base, 1)
	l := newLocal(t, 3, 1)
	fresh := l.run(mapreduce.Dedup{}, l.cut(docLines(docs)))
	pairs := l.run(mapreduce.Pairs{K: 3, PairsMax: 1}, l.cut(fresh))
	documents := l.run(mapreduce.Dedup{}, l.cut(fresh+pairs))
	want := slices.Sorted(slices.Values(dropsOf(docs, 3, mapreduce.FirstID)))
	for range 40 {
		pairs := l.run(mapreduce.Pairs{K: 3, Threshold: 0.7, PairsMax: 1}, l.cut(documents))
		documents = l.run(mapreduce.Dedup{}, l.cut(documents+pairs))
	}
	l.options.Rows = mapreduce.DropRows
	rows := l.collect(documents, l.reduces)
	requireSame(t, "rows", slices.DeleteFunc(rows, func(s string) bool { return strings.HasPrefix(s, "id\t") }), want)
}

// TestRounds checks that an omitted round, and a repeated one, are errors.
func TestRounds(t *testing.T) {
	docs := testDocs(sets.ByName("clustered", 300, 10, 3, 7).Base, 1)
	l := newLocal(t, 1, 1)
	job := mapreduce.Pairs{K: 3, Threshold: 0.7, PairsMax: 1}
	first := l.run(mapreduce.Dedup{}, []string{docLines(docs)})
	pairs := l.run(job, []string{first})
	second := l.run(mapreduce.Dedup{}, []string{first + pairs})
	for name, input := range map[string]string{"no pairs": first, "no documents": pairs, "pairs of the round before": second + pairs,
		"two rounds": first + second + pairs, "documents again": docLines(docs) + first + pairs} {
		mapped, err := step(t, mapOf(mapreduce.Dedup{}), input, nil)
		if err == nil {
			_, err = step(t, reduceOf(mapreduce.Dedup{}), sorted(mapped), nil)
		}
		if !errors.Is(err, mapreduce.ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pairsOf returns all pairs of confirmed documents, as rows of the table.
func pairsOf(docs []testDoc, k int, threshold float64) (rows []string) {
	for i := range docs {
		for j := range docs[:i] {
			a, b := &docs[i], &docs[j]
			d := bits.OnesCount64(a.fingerprint ^ b.fingerprint)
			if like, ok := confirmed(a, b, threshold); ok && d <= k && !a.short && !b.short {
				rows = append(rows, fmt.Sprintf("%s\t%s\t%d\t%s\n", a.id, b.id, d, like))
			}
		}
	}
	slices.Sort(rows)
	return rows
}

// TestPairs compares pairs with brute force, for several divisions of the corpus. Each pair occurs once, with the
// estimated similarity of the sketches, or unverified.
func TestPairs(t *testing.T) {
	for k := 0; k <= 6; k += 3 {
		for i, set := range sets.All(200, 10, k, 6) {
			docs := testDocs(set.Base, uint64(i))
			threshold, seen := 0.7, map[string]bool{}
			if k == 6 {
				threshold = 0
			}
			docs = slices.DeleteFunc(docs, func(d testDoc) bool { // TestLargeGroup tests equal contents
				content := fmt.Sprint(d.fingerprint, *d.sketch)
				if threshold == 0 {
					content = fmt.Sprint(d.fingerprint)
				}
				defer func() { seen[content] = true }()
				return seen[content]
			})
			for i := range docs {
				docs[i].row = 0
			}
			want := pairsOf(docs, k, threshold)
			eachSplit(t, set.Name == "clustered" && k == 3, func(t *testing.T, l *localCluster) {
				l.options.Rows = mapreduce.PairRows
				job := mapreduce.Pairs{K: k, Threshold: threshold, PairsMax: 1000}
				got := l.collect(l.run(job, l.cut(docLines(docs))), l.reduces)
				requireSame(t, set.Name, slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "id\t") }), want)
			})
		}
	}
}

// TestLargeGroup checks that a group of documents that are all near each other has few pairs for the job dedup, and
// with a limit the rest is counted.
func TestLargeGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	docs := testDocs(make([]uint64, 1000), 1)
	for i := range docs {
		docs[i].fingerprint, docs[i].short, docs[i].text, docs[i].row = sets.Flip(rng, 0, rng.IntN(3)), false, uint64(i), 0
		if i%2 == 0 {
			docs[i].sketch = docs[0].sketch
		}
	}
	run := func(maximum int) (lines int, counted map[string]int64) {
		counted = map[string]int64{}
		mapped := sorted(runMap(t, mapreduce.Pairs{K: 6, Threshold: 0.7, PairsMax: maximum}, docLines(docs)))
		out, err := step(t, reduceOf(mapreduce.Pairs{K: 6, Threshold: 0.7, PairsMax: maximum}), mapped, func(o *mapreduce.Options) {
			o.Count = func(name string, n int64) { counted[name] = n }
		})
		must.Do(t, err)
		return strings.Count(out, "\n"), counted
	}
	if lines, _ := run(1); lines > 12*len(docs) {
		t.Errorf("%d lines of %d documents", lines, len(docs))
	}
	all, counted := run(1 << 30)
	if counted["pairs_left_out"] != 0 || all < 40*len(docs) {
		t.Errorf("%d lines, %v", all, counted)
	}
	if _, some := run(5); some["pairs_left_out"]+some["pairs"] != counted["pairs"] || some["pairs_left_out"] == 0 {
		t.Errorf("%v, want a sum of %d pairs", some, counted["pairs"])
	}
}

// TestOtherSketches checks that parts with and without sketches are not compared.
func TestOtherSketches(t *testing.T) {
	with := runMap(t, mapreduce.Fingerprint{Recipe: simhash.Default(), Sketches: true}, jsonLines(10))
	without := runMap(t, mapreduce.Fingerprint{Recipe: simhash.Default()}, jsonLines(10))
	_, err := step(t, mapOf(mapreduce.Pairs{K: 3}), with+without, nil)
	wantError(t, err, mapreduce.ErrRecipe, "sketches of version 1 and none")
}
