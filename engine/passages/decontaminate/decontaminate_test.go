package decontaminate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/corpus/work"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

// hits returns the hits of documents: the line of the document, the line of the item, and the text.
func hits(r *Result, texts []map[string]string) (all []string) {
	for d := range r.Documents() {
		for _, h := range d.Hits {
			all = append(all, d.ID+" "+h.Item.ID+" "+texts[d.Line-1]["text"][h.From:h.To])
		}
	}
	return all
}

func texts(all ...string) (lines []map[string]string) {
	for i, text := range all {
		lines = append(lines, map[string]string{"id": string(rune('a' + i)), "text": text})
	}
	return lines
}

// TestChanged checks that for every length of an item, one changed word in 15 leaves a seed, wherever it is.
func TestChanged(t *testing.T) {
	p := newPlanter(3)
	for tokens := 10; tokens < 300; tokens += 1 + tokens/20 {
		for first := range 15 {
			n, longest, run := seedLength(tokens), 0, 0
			for i := range tokens {
				if run++; i%15 == first {
					run = 0
				}
				longest = max(longest, run)
			}
			if longest < n {
				t.Errorf("%d tokens, changed from %d on: a run of %d is the longest", tokens, first, longest)
			}
		}
	}
	question := p.text(40)
	words := strings.Fields(question)
	scattered := slices.Clone(words)
	for i := 24; i < len(words); i++ {
		if i%3 > 0 {
			scattered[i] = "x"
		}
	}
	for _, c := range []struct {
		text string
		want float64 // least share
		hit  bool
	}{
		{question, 1, true},
		{strings.Join(words[3:], " "), 0.9, true},
		{strings.Join(append(slices.Clone(words[:20]), words[22:]...), " "), 0.95, true},
		{strings.Join(words[:20], " ") + " x y z " + strings.Join(words[20:], " "), 1, true},
		{strings.Join(words[:20], " ") + p.text(10) + strings.Join(words[30:], " "), 0, false},
		{strings.Join(words[:24], " "), 0, false},
		{strings.Join(scattered, " "), 0, false},
	} {
		found := slices.Collect(look(t, texts(question), texts("before "+c.text+" behind"), Options{}).Documents())
		if len(found) > 0 != c.hit || c.hit && found[0].Hits[0].Covered < c.want {
			t.Errorf("%q of %q: %+v", c.text, question, found)
		}
	}
}

// TestWhole checks that items of few words are found as a whole or not at all, also after parts of them.
func TestWhole(t *testing.T) {
	docs := texts("Well: who wrote the red book? He did.", "Who wrote the red letter? She did.", "The answer is no.",
		"So who wrote the red tree, or wrote the red book there? "+
			strings.Repeat("Nobody. ", 70)+"So who wrote the red book there?")
	items := texts("Who wrote the red book?", "The answer", "the", "So who wrote the red book there?")
	r := look(t, items, docs, Options{MinWords: 2})
	want := []string{"a a who wrote the red book", "c b The answer", "d a who wrote the red book",
		"d d So who wrote the red book there"}
	if got := hits(r, docs); !slices.Equal(got, want) || r.Sets[0].Short != 1 || r.Sets[0].Items != 4 {
		t.Errorf("%q, want %q; %+v", got, want, r.Sets)
	}
	if r = look(t, items, append(docs[:3], docs[0]), Options{Common: 1}); r.Met > 0 || r.Sets[0].Phrases != 1 {
		t.Errorf("%d documents; %+v", r.Met, r.Sets)
	}
}

// TestLaw checks that a document with the same law and another question is no hit. This holds for a law of up to 70
// words if no other item has it, and of up to 300 words if another one has it.
func TestLaw(t *testing.T) {
	for n, words := range []int{70, 300} {
		p := newPlanter(8)
		law, question := p.text(words)+". ", p.text(20)
		docs := texts(law+p.text(20), law, law+question)
		if r := look(t, texts(law+question), docs[:n+1], Options{}); r.Met > 0 {
			t.Errorf("%d words: found %q", words, hits(r, docs))
		}
		if got := hits(look(t, texts(law+question), docs, Options{}), docs); len(got) != 1 || got[0][:1] != "c" {
			t.Errorf("%d words: found %q", words, got)
		}
	}
}

// TestShared checks that an item without words of its own is counted as left out. Others with the same words are found.
func TestShared(t *testing.T) {
	p := newPlanter(4)
	instruction := p.text(30) + " "
	var items []string
	for range sharedMax + 1 {
		items = append(items, instruction)
	}
	last := instruction + p.text(10)
	docs := texts(last, instruction)
	r := look(t, texts(append(items, last)...), docs, Options{})
	if got := hits(r, docs); len(got) != 1 || !strings.HasSuffix(got[0], last) || r.Sets[0].Shared != sharedMax+1 {
		t.Errorf("%q; %+v", got, r.Sets)
	}
}

// TestTemplate checks items that differ only in their numbers. A passage is listed for the item with its numbers, or
// for the nearest item if none has them. It is also listed for all items whose words it contains.
func TestTemplate(t *testing.T) {
	question := func(apples, pears int) string {
		return fmt.Sprintf("A farmer sells %d apples and %d pears on the market of the town, and each of them costs a coin: "+
			"how many coins does the farmer take home in the evening?", apples, pears)
	}
	var items []string
	for n := range 20 {
		items = append(items, question(10+n, 50+3*n))
	}
	items = append(items, question(10, 50), "How many coins does the farmer take home in the evening?")
	docs := texts("Notes. "+question(13, 59)+" Nobody knows.", question(14, 99), question(13, 59)+strings.Repeat(" more", 80)+
		question(15, 65), question(10, 50))
	r := look(t, texts(items...), docs, Options{})
	var got []string
	for d := range r.Documents() {
		for _, h := range d.Hits {
			got = append(got, d.ID+" "+h.Item.ID)
		}
	}
	want := []string{"a d", "a v", "b e", "b v", "c d", "c f", "c v", "d a", "d v"}
	if !slices.Equal(got, want) || r.Sets[0].Met != 5 || r.Sets[0].Documents != 4 {
		t.Errorf("%q, want %q; %+v", got, want, r.Sets)
	}
}

// TestThreads checks that the result does not depend on the number of threads or the order of documents. Copies have
// the documents without hits.
func TestThreads(t *testing.T) {
	items, docs := newPlanter(5).plant(10)
	evals, corpus := files.Lines(t, "items.jsonl", items), files.Lines(t, "docs.jsonl", docs)
	r := find(t, evals, corpus, Options{}, 1)
	want, dropped := slices.Collect(r.Documents()), map[int]bool{}
	for _, d := range want {
		dropped[d.Line] = true
	}
	other := find(t, evals, corpus, Options{}, 4)
	if !reflect.DeepEqual(want, slices.Collect(other.Documents())) || !slices.Equal(r.Sets, other.Sets) {
		t.Error("another result of other threads")
	}
	to, err := rewrite.NewTarget(context.Background(), []string{corpus})
	must.Do(t, err)
	copies := map[string]string{}
	to.Create = files.Into(copies)
	_, err = r.Copy(context.Background(), to)
	must.Do(t, err)
	all, err := os.ReadFile(corpus)
	must.Do(t, err)
	var kept []byte
	for i, line := range bytes.SplitAfter(all, []byte("\n")) {
		if !dropped[i+1] {
			kept = append(kept, line...)
		}
	}
	if copied := copies["docs.jsonl"]; len(dropped) == 0 || copied != string(kept) {
		t.Errorf("the copy has %d bytes, want the remaining %d", len(copied), len(kept))
	}
	changed := bytes.Replace(all, []byte(docs[want[0].Line-1].Text[:20]), []byte("x"), 1)
	must.Do(t, os.WriteFile(corpus, changed, 0o600))
	if _, err := r.Copy(context.Background(), to); err == nil {
		t.Error("a changed document was copied")
	}
}

// TestWork checks that stored results of a file give the same result after another file has changed, even though the
// n-grams were common in all files before.
func TestWork(t *testing.T) {
	p := newPlanter(9)
	law, question := p.text(300)+". ", p.text(20)
	evals, dir := files.Lines(t, "items.jsonl", texts(law+question)), t.TempDir()
	common := files.Lines(t, "common.jsonl", texts(slices.Repeat([]string{law}, 500)...)) // more documents than are read ahead
	corpus := files.Lines(t, "docs.jsonl", texts(law, law+p.text(20), law+question))
	x, _, err := ReadItems(t.Context(), []string{evals}, ingest.Config{}, Options{Common: 2})
	must.Do(t, err)
	for run := range 3 {
		taken := work.Taken{}
		w, err := work.Open(t.Context(), nil, dir, 1, func(t work.Taken) { taken = t }, func(msg string) { t.Error(msg) })
		must.Do(t, err)
		r, _, err := Find(t.Context(), []string{common, corpus}, ingest.Config{Threads: 1, Work: w}, x, nil)
		must.Do(t, err)
		found := slices.Collect(r.Documents())
		if len(found) != 1 || found[0].ID != "c" || found[0].Hits[0].Score != 1 || taken.Stored != min(run, 1) {
			t.Errorf("run %d: %+v, %+v", run, found, taken)
		}
		must.Do(t, errors.Join(r.Close(), w.Close()))
		must.Do(t, os.WriteFile(common, []byte(`{"text":"`+strings.Repeat("other ", run)+`words"}`), 0o600))
	}
}

// TestRoom checks that the tokens of one document are no larger than the budget, which is an error that names both.
func TestRoom(t *testing.T) {
	for bytes, want := range map[uint64]error{1 << 20: memory.ErrTooLarge, 4 << 20: nil} {
		k, err := newTokeniser(t.Context())
		must.Do(t, err)
		k.budget = memory.NewBudget(memory.Limit{Bytes: bytes})
		k.take(strings.Repeat("a ", 50_000))
		if !errors.Is(k.err, want) || want != nil && len(k.hashes) == 50_000 {
			t.Errorf("%d bytes: %v, %d tokens", bytes, k.err, len(k.hashes))
		}
	}
}

// TestTable checks that each n-gram is found at its positions, and nothing else.
func TestTable(t *testing.T) {
	items, _ := newPlanter(6).plant(10)
	evals := []string{files.Lines(t, "items.jsonl", items)}
	x, _, err := ReadItems(context.Background(), evals, ingest.Config{Threads: 1}, Options{})
	must.Do(t, err)
	for i := range x.items {
		it := &x.items[i]
		tokens := x.tokens[it.from:it.to]
		for start, h := range grams(tokens, it.n) {
			g := x.table.find(h)
			place := it.from + uint32(start)
			if g == noGram || !slices.Contains(x.table.placesOf(g), place) || int(x.owner[place]) != i {
				t.Fatalf("item %d: its n-gram at %d is not found", i, start)
			}
		}
		if x.table.find(rand.Uint64()) != noGram {
			t.Fatal("an n-gram that is not there is found")
		}
	}
}

// TestSetName checks which set a file belongs to.
func TestSetName(t *testing.T) {
	for _, c := range [][3]string{
		{"evals", "evals/a/test.jsonl", "evals/a"}, {"evals/", "evals/b.csv", "evals/b.csv"}, {"x.csv", "x.csv", "x.csv"},
		{"s3://b/evals", "s3://b/evals/mmlu/x/test.parquet", "s3://b/evals/mmlu"}, {"ev", "evals/a.csv", "evals/a.csv"},
	} {
		if got := setName([]string{c[0]}, c[1]); got != c[2] {
			t.Errorf("%s in %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}
