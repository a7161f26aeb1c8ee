package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/shingle"
)

// chained writes JSONL whose lines change a word or some from one to the next,
// so that near pairs chain, and returns the texts.
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
			file.WriteString("{\"text\":\"short\"}\n{\"no\":1}\n\n")
		}
	}
	if err := os.WriteFile(path, []byte(file.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return texts
}

// similarity is the specification, for texts of words and single spaces.
func similarity(a, b string, n int) float32 {
	set := func(text string) map[string]bool {
		words, s := strings.Fields(text), map[string]bool{}
		for i := range len(words) - n + 1 {
			s[strings.Join(words[i:i+n], " ")] = true
		}
		return s
	}
	x, y := set(a), set(b)
	both := 0
	for s := range x {
		if y[s] {
			both++
		}
	}
	return float32(float64(both) / float64(len(x)+len(y)-both))
}

// TestVerify splits clusters by the definition: the most preferred document
// takes what is similar enough, and again of what is left.
func TestVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	texts := chained(t, path, 400)
	const least, words = 0.85, 2
	for _, policy := range []string{"first", "score"} {
		keep, err := ParseKeep(policy, "")
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := ReadDocuments(t.Context(), []string{path}, ingest.Config{}, ReadOptions{Keep: keep})
		if err != nil || c.Len() != len(texts) {
			t.Fatal(c.Len(), err)
		}
		prefer, err := c.prefer()
		if err != nil {
			t.Fatal(err)
		}
		plain, err := Find(t.Context(), c, Options{K: 8})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		rejected := 0
		for cl := range plain.Clusters() {
			rows := slices.Clone(cl.Rows)
			if prefer != nil {
				slices.SortStableFunc(rows, func(a, b uint32) int { return prefer(int(a), int(b)) })
			}
			if rows[0] != cl.Kept {
				t.Fatalf("%s: row %d is kept, not %d", policy, cl.Kept, rows[0])
			}
			rejected += len(rows) - 1
			for len(rows) > 0 {
				var members []string
				var others []uint32
				for _, row := range rows {
					if s := similarity(texts[row], texts[rows[0]], words); s >= least {
						members = append(members, fmt.Sprintf("%4d %.4f", row, s))
					} else {
						others = append(others, row)
					}
				}
				slices.Sort(members)
				if len(members) > 1 {
					rejected -= len(members) - 1
					want = append(want, fmt.Sprint(members, " keeps ", rows[0]))
				}
				rows = others
			}
		}
		slices.Sort(want)
		if len(want) < plain.Len()+5 {
			t.Fatalf("%d of %d: no chains to split", len(want), plain.Len())
		}
		for _, memory := range []int64{0, 1, 10_000} {
			for _, threads := range []int{1, 3} {
				v := &Verify{Jaccard: least, Shingles: shingle.Options{Words: words}, Memory: memory, TempDir: t.TempDir(), Meter: &document.Meter{}}
				r, err := Find(t.Context(), c, Options{K: 8, Verify: v, Threads: threads})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				firsts := []uint32{}
				for cl := range r.Clusters() {
					var members []string
					for i, row := range cl.Rows {
						members = append(members, fmt.Sprintf("%4d %.4f", row, cl.Similarities[i]))
					}
					got = append(got, fmt.Sprint(members, " keeps ", cl.Kept))
					firsts = append(firsts, cl.Rows[0])
				}
				if !slices.IsSorted(firsts) || r.Rejected != rejected || v.Meter.Bytes.Load() == 0 {
					t.Errorf("firsts %v, %d rejected, want %d", firsts, r.Rejected, rejected)
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Fatalf("keep %s, %d bytes, %d threads: %v, want %v", policy, memory, threads, got, want)
				}
				for d := range r.Dropped() {
					if d.Similarity < least {
						t.Errorf("%+v", d)
					}
				}
				if left, err := os.ReadDir(v.TempDir); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v %v", left, err)
				}
			}
		}
	}
}

// TestChanged reads documents again that are no longer what they were.
func TestChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	chained(t, path, 50)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, after := range map[string][]byte{
		"a line more":    append([]byte("{\"text\":\"more\"}\n"), before...),
		"a line less":    before[slices.Index(before, '\n')+1:],
		"another id":     []byte(strings.ReplaceAll(string(before), `"id":"d1`, `"id":"e1`)),
		"another length": []byte(strings.ReplaceAll(string(before), `"text":"w`, `"text":"ww`)),
		"broken lines":   []byte(strings.ReplaceAll(string(before), `"id":`, `id":`)),
		"nothing":        nil,
	} {
		if err := os.WriteFile(path, before, 0o644); err != nil {
			t.Fatal(err)
		}
		c, _, err := ReadDocuments(t.Context(), []string{path}, ingest.Config{}, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Find(t.Context(), c, Options{K: 8})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, after, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(t.Context(), c, Options{K: 8, Verify: &Verify{Jaccard: 0.5}}); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: verify: %v", name, err)
		}
		names, err := NewCopies(t.Context(), []string{path}, t.TempDir()+"/new")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := copyAll(t.Context(), r, names); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: copy: %v", name, err)
		}
	}
}

func TestParseVerify(t *testing.T) {
	if x, err := ParseVerify("jaccard >= 0.8"); x != 0.8 || err != nil {
		t.Error(x, err)
	}
	for _, bad := range []string{"", "jaccard", "jaccard>=", "jaccard>=0", "jaccard>=1.1", "jaccard>=NaN", "jaccard>0.5", "cosine>=0.5"} {
		if x, err := ParseVerify(bad); err == nil {
			t.Errorf("%q: %v", bad, x)
		}
	}
}

// TestReadable has documents that cannot be read again.
func TestReadable(t *testing.T) {
	piped, _, err := ReadDocuments(t.Context(), []string{"-"}, ingest.Config{Stdin: strings.NewReader("words")}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *piped.Recipe() != simhash.Default() {
		t.Error(piped.Recipe())
	}
	for _, c := range []*Corpus{piped, NewCorpus(nil, ReadOptions{})} {
		if _, err := Find(t.Context(), c, Options{Verify: &Verify{Jaccard: 1}}); !errors.Is(err, errAgain) {
			t.Error(err)
		}
	}
}

// TestLimit refuses what will not fit, in the middle of the documents.
func TestLimit(t *testing.T) {
	said := 0
	o := ReadOptions{Budget: memory.NewBudget(memory.Set(64 << 20)), Say: func(int, uint64) { said++ }}
	c := NewCorpus(nil, o)
	var err error
	for err == nil {
		if err = c.Append(Document{ID: "a document with a name of some length"}); c.Len() > 1<<21 {
			t.Fatal("nothing was refused")
		}
	}
	if !errors.Is(err, memory.ErrTooLarge) || o.Budget.Left() == 64<<20 {
		t.Error(err, o.Budget.Left())
	}
	c.Close()
	path := filepath.Join(t.TempDir(), "a.bin")
	if err := os.WriteFile(path, make([]byte, 16<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPrints(t.Context(), []string{path}, o); !errors.Is(err, memory.ErrTooLarge) || said != 1 || !strings.Contains(err.Error(), "2097152 documents") {
		t.Error(err, said)
	}
	if o.Budget.Left() != 64<<20 {
		t.Errorf("%d bytes are left", o.Budget.Left())
	}
}

func TestCancel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	chained(t, path, 50)
	c, _, err := ReadDocuments(t.Context(), []string{path}, ingest.Config{}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Find(t.Context(), c, Options{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, c, Options{K: 3}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := r.verify(ctx, &Verify{Jaccard: 0.5}, 2, splitter{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	names, err := NewCopies(t.Context(), []string{path}, t.TempDir()+"/new")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := copyAll(ctx, r, names); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestKnown takes rows out that are known, and keeps the numbers of the others.
func TestKnown(t *testing.T) {
	c := NewCorpus(nil, ReadOptions{Keep: Keep{Policy: Longest}})
	for i, f := range []uint64{0, 1 << 60, 0, 1<<60 | 1, 7, 1 << 60} {
		if err := c.Append(Document{ID: string(rune('a' + i)), Fingerprint: simhashOf(f), TextBytes: i}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Find(t.Context(), c, Options{K: 1, Known: func(_ context.Context, prints []uint64, _ []uint32, found func(int, string, int) error) error {
		for row, f := range prints {
			if f == 0 {
				if err := found(row, "old", 1); err != nil {
					return err
				}
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(slices.Collect(r.Dropped()), slices.Collect(r.Kept()), slices.Collect(r.Clusters()), r.Distinct)
	want := "[{0 old -1 1 0} {2 old -1 1 0} {1 f 5 0 0} {3 f 5 1 0}] [4 5] [{1 [1 3 5] 5 []}] 3"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSplitterOrder(t *testing.T) {
	g := group{rows: []uint32{5, 1, 3}, shares: []float32{.5, .1, .3}}
	if g.sort(); cmp.Compare(fmt.Sprint(g.rows, g.shares), "[1 3 5] [0.1 0.3 0.5]") != 0 {
		t.Error(g)
	}
}

// TestVerifyKnown: a document that is near a known one goes only if its text is like that one's, by definition;
// else it is compared with the others. Where the texts cannot be had, it says so.
func TestVerifyKnown(t *testing.T) {
	const least, words, k = 0.96, 2, 10
	dir := t.TempDir()
	path := filepath.Join(dir, "all.jsonl")
	texts := chained(t, path, 400)
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(all), "\n")
	var halves [2]strings.Builder // every other line that is a document
	documents := 0
	for _, line := range lines {
		if strings.Contains(line, `"id"`) {
			halves[documents%2].WriteString(line)
			documents++
		}
	}
	old, fresh := filepath.Join(dir, "old.jsonl"), filepath.Join(dir, "new.jsonl")
	for name, half := range map[string]*strings.Builder{old: &halves[0], fresh: &halves[1]} {
		if err := os.WriteFile(name, []byte(half.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) *Corpus {
		c, _, err := ReadDocuments(t.Context(), []string{path}, ingest.Config{}, ReadOptions{})
		if err != nil || c.Len() != len(texts)/2 {
			t.Fatal(c.Len(), err)
		}
		return c
	}
	was, c := read(old), read(fresh)
	known := func(_ context.Context, prints []uint64, _ []uint32, found func(int, string, int) error) error {
		for row, f := range prints {
			best, least := 0, k+1
			for i, o := range was.prints {
				if d := bits.OnesCount64(f ^ o); d < least {
					best, least = i, d
				}
			}
			if least <= k {
				if err := found(row, was.ID(uint32(best)), least); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var want []Known
	rejected := map[uint32]bool{}
	err = known(t.Context(), c.prints, nil, func(row int, id string, distance int) error {
		var number int
		if _, err := fmt.Sscanf(id, "d%d", &number); err != nil {
			return err
		}
		if s := similarity(texts[number], texts[2*row+1], words); s >= least {
			want = append(want, Known{uint32(row), id, distance, s})
		} else {
			rejected[uint32(row)] = true
		}
		return nil
	})
	if err != nil || len(want) < 20 || len(rejected) < 20 {
		t.Fatal(len(want), len(rejected), err)
	}
	o := Options{K: k, Known: known, Verify: &Verify{Jaccard: least, Shingles: shingle.Options{Words: words, Chars: 5}, Known: []string{old}}}
	for _, o.Threads = range []int{1, 3} {
		for _, o.Verify.Memory = range []int64{0, 1} {
			r, err := Find(t.Context(), c, o)
			if err != nil {
				t.Fatal(err)
			}
			stay := 0
			if !slices.Equal(r.Known, want) {
				t.Errorf("%d threads: %d are known, want %d", o.Threads, len(r.Known), len(want))
			}
			rows := 0
			for range r.Dropped() {
				rows++
			}
			for row := range r.Kept() {
				if rows++; rejected[row] {
					stay++
				}
			}
			if rows != c.Len() || r.Rejected < stay {
				t.Errorf("%d documents of %d, %d rejected, %d of them stay", rows, c.Len(), r.Rejected, stay)
			}
		}
	}
	o.Verify.Known = []string{fresh}
	if _, err := Find(t.Context(), c, o); err == nil || !strings.Contains(err.Error(), "without texts, such as d") {
		t.Error(err)
	}
	o.Verify.Known = nil
	if _, err := Find(t.Context(), c, o); !errors.Is(err, errNoTexts) {
		t.Error(err)
	}
}
