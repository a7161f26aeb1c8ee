package dedup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

// chained writes JSONL and returns its texts. Each line differs from the line before in one or some words, so that near
// pairs chain.
func chained(t *testing.T, path string, n int) (texts []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	word := func() string { return fmt.Sprintf("w%03d", rng.IntN(1000)) }
	var words []string
	var file strings.Builder
	for i := range n {
		if i%40 == 0 {
			words = words[:0]
			for range 150 {
				words = append(words, word())
			}
		}
		for range rng.IntN(4) {
			words[rng.IntN(len(words))] = word()
		}
		texts = append(texts, strings.Join(words, " "))
		fmt.Fprintf(&file, "{\"text\":%q,\"id\":\"d%d\",\"score\":%d}\n", texts[i], i, rng.IntN(5))
		if i%13 == 0 {
			file.WriteString("{\"no\":1}\n\n")
		}
	}
	write(t, map[string]string{path: file.String()})
	return texts
}

// grams are the shingles of a text of words and single spaces.
func grams(text string, n int) map[string]bool {
	words, s := strings.Fields(text), map[string]bool{}
	for i := range len(words) - n + 1 {
		s[strings.Join(words[i:i+n], " ")] = true
	}
	return s
}

// likenessOf is the specification of the likeness of a document to a kept one.
func likenessOf(dropped, kept string, n int) Likeness {
	x, y := grams(dropped, n), grams(kept, n)
	shared := 0
	for s := range x {
		if y[s] {
			shared++
		}
	}
	return Likeness{float32(float64(shared) / float64(len(x)+len(y)-shared)), float32(float64(shared) / float64(len(x)))}
}

// TestVerify compares with the definition: in order of preference, each document is dropped for the nearest kept one
// within k that the rule allows.
func TestVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	texts := chained(t, path, 400)
	const words = 3
	for _, policy := range long.Raced([]string{"first", "score"}, []string{"score"}) {
		keep, err := keep.Parse(policy)
		must.Do(t, err)
		temp := t.TempDir()
		c := read(t, path, ingest.Config{}, ReadOptions{Keep: keep, TempDir: temp})
		if c.Len() != len(texts) {
			t.Fatal(c.Len())
		}
		prefer, err := c.prefer()
		must.Do(t, err)
		for mode, rule := range []Rule{{{Jaccard: 0.79}}, {{Contained: 0.9}}, {{0.75, 0.9}, {Jaccard: 0.9}}} {
			o := Options{K: 5 + mode, Rule: rule, Texts: &Texts{}}
			plain := Result{corpus: c}
			near, err := cluster.Find(t.Context(), c.fingerprints.All, cluster.Options{K: o.K})
			must.Do(t, err)
			var want []string
			rejected, dropped, farther := 0, 0, 0
			for _, cl := range near.Clusters() {
				rows := slices.Clone(cl.Rows)
				if prefer != nil {
					slices.SortStableFunc(rows, func(a, b Row) int { return prefer(int(a), int(b)) })
				}
				var kept []Row
				for i, row := range rows {
					best, minimum := -1, 65
					for j, other := range kept {
						d := plain.Distance(row, other)
						if like := likenessOf(texts[row], texts[other], words); d < minimum && d <= o.K &&
							slices.ContainsFunc(rule, func(c Clause) bool {
								return like.Jaccard >= float32(c.Jaccard) && like.Contained >= float32(c.Contained)
							}) {
							best, minimum = j, d
						}
					}
					if best < 0 {
						kept = append(kept, row)
						rejected += min(i, 1)
						continue
					}
					dropped++
					if best > 0 {
						farther++
					}
					want = append(want, fmt.Sprintln(row, kept[best], plain.Distance(row, kept[best]),
						likenessOf(texts[row], texts[kept[best]], words)))
				}
			}
			slices.Sort(want)
			if dropped < 100 || rejected < 20 || farther < 20 {
				t.Fatalf("%v: %d go, %d of them not for the first, %d stay", rule, dropped, farther, rejected)
			}
			for _, memory := range long.Raced([]int64{0, 1, 10_000}, []int64{10_000}) {
				for _, threads := range []int{1, 3} {
					c.o.Threads, o.Texts.Memory, o.Texts.Meter = threads, memory, &input.Meter{}
					r := found(t, c, o)
					var got []string
					for d := range r.Dropped() {
						got = append(got, fmt.Sprintln(d.Row, d.KeptRow, d.Distance, d.Likeness))
					}
					if slices.Sort(got); !slices.Equal(got, want) {
						t.Fatalf("keep %s, %v, %d bytes, %d threads: %v, want %v", policy, rule, memory, threads, got, want)
					}
					firsts := []Row{}
					for cl := range r.Clusters() {
						firsts = append(firsts, cl.Rows[0])
					}
					if !slices.IsSorted(firsts) || r.Rejected != rejected || o.Texts.Meter.Bytes.Load() == 0 {
						t.Errorf("firsts %v, %d rejected, want %d", firsts, r.Rejected, rejected)
					}
					if remaining, err := os.ReadDir(temp); err != nil || len(remaining) > 0 {
						t.Errorf("left behind: %v %v", remaining, err)
					}
				}
			}
		}
	}
}

// TestReadable checks the errors of searches that need texts that cannot be read again.
func TestReadable(t *testing.T) {
	piped, _, err := ReadDocuments(t.Context(), []string{"-"}, ingest.Config{Stdin: strings.NewReader("words")},
		ReadOptions{})
	must.Do(t, err)
	if *piped.Recipe() != simhash.Default() {
		t.Error(piped.Recipe())
	}
	none := func(context.Context, []uint64, []sketch.Sketch) ([]Drop, error) { return nil, nil }
	for want, o := range map[string]Options{
		"needs the texts": {Rule: Rule{{Contained: 1}}},
		"known documents": {Rule: Rule{{Jaccard: 1}}, Texts: &Texts{}, Known: none},
	} {
		if _, err := Find(t.Context(), piped, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, c := range []*Corpus{piped, NewCorpus(nil, ReadOptions{})} {
		if _, err := Find(t.Context(), c, Options{Rule: Rule{{Jaccard: 1}}, Texts: &Texts{}}); !errors.Is(err, errAgain) {
			t.Error(err)
		}
	}
}

// TestLimit checks that a search fails if its memory without temporary files exceeds the budget.
func TestLimit(t *testing.T) {
	const limit = 1 << 20
	o := ReadOptions{Threads: 1, Budget: memory.NewBudget(memory.Set(limit)), TempDir: t.TempDir()}
	c := appended(t, o, Document{ID: "a document"})
	if _, err := Find(t.Context(), c, Options{}); !errors.Is(err, memory.ErrTooLarge) {
		t.Error(err)
	}
	c.Close()
	path := files.New(t, "a.bin", make([]byte, 32<<20))
	if _, err := ReadPrints(t.Context(), []string{path}, o); !errors.Is(err, memory.ErrTooLarge) ||
		!strings.Contains(err.Error(), "4194304 documents") {
		t.Error(err)
	}
	if o.Budget.Free() != limit {
		t.Errorf("%d bytes are left", o.Budget.Free())
	}
}

func TestCancel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	chained(t, path, 50)
	c := read(t, path, ingest.Config{}, ReadOptions{})
	r := found(t, c, Options{K: 3})
	ctx := must.Cancelled(t)
	if _, err := Find(ctx, c, Options{K: 3}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	half := Options{Rule: Rule{{Jaccard: 0.5}}, Texts: &Texts{}}
	if err := (&search{c: c, r: r, o: half}).settleTexts(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := r.Copy(ctx, copiesOf(t, map[string]string{}, path)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestKnown checks that known rows are left out, and that the others keep their numbers.
func TestKnown(t *testing.T) {
	var docs []Document
	for i, f := range []uint64{0, 1 << 60, 0, 1<<60 | 1, 7, 1 << 60} {
		docs = append(docs, Document{ID: string(rune('a' + i)), Fingerprint: simhashOf(f), TextBytes: i})
	}
	known := func(context.Context, []uint64, []sketch.Sketch) ([]Drop, error) {
		return []Drop{{Row: 0, Kept: "old", Distance: 1}, {Row: 2, Kept: "old", Distance: 1}}, nil
	}
	r := found(t, appended(t, ReadOptions{Keep: keep.Order{{Policy: keep.Longest}}}, docs...), Options{K: 1, Known: known})
	got := fmt.Sprint(slices.Collect(r.Dropped()), keptRows(r), slices.Collect(r.Clusters()), r.clusters.Distinct)
	want := "[{0 old -1 1 {0 0} 0} {2 old -1 1 {0 0} 0} {1 f 5 0 {0 0} 1} {3 f 5 1 {0 0} 1}] [4 5] [{1 [1 3 5] 5 [{0 0} {0 0} {0 0}]}] 3"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	all := func(_ context.Context, fingerprints []uint64, _ []sketch.Sketch) (list []Drop, err error) {
		for row := range fingerprints {
			list = append(list, Drop{Row: Row(row), Kept: "old"})
		}
		return list, nil
	}
	r = found(t, appended(t, ReadOptions{}, docs...), Options{K: 1, Known: all})
	if r.Len() > 0 || r.NumDropped() != len(docs) {
		t.Errorf("all are known: %d clusters, %d dropped", r.Len(), r.NumDropped())
	}
}
