package decontaminate

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

var plantedSeed = flag.Uint64("planted.seed", 1, "seed of the planted items")

// A planter invents items, and documents that hold them.
type planter struct {
	*rand.Rand
	words []string
}

func newPlanter(seed uint64) *planter {
	p := &planter{Rand: rand.New(rand.NewPCG(seed, 31))}
	for range 8000 {
		var b strings.Builder
		for range 1 + p.IntN(4) {
			b.WriteByte("bcdfghklmnprstvw"[p.IntN(16)])
			b.WriteByte("aeiou"[p.IntN(5)])
		}
		p.words = append(p.words, b.String())
	}
	return p
}

// word returns a word. The first words are as frequent as the most frequent words of a language.
func (p *planter) word() string {
	return p.words[int(float64(len(p.words))*p.Float64()*p.Float64()*p.Float64()*p.Float64())]
}

// text returns sentences with the given number of words.
func (p *planter) text(words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". ", " "}[p.IntN(8)])
		}
		b.WriteString(p.word())
	}
	return b.String()
}

// chinese returns a text with the given number of characters.
func (p *planter) chinese(characters int) string {
	var b strings.Builder
	for i := range characters {
		if i%17 == 11 {
			b.WriteString("，")
		}
		b.WriteRune(rune(0x4e00 + int(1500*p.Float64()*p.Float64())))
	}
	return b.String()
}

// questions are phrases that questions begin with.
var questions = []string{"What is the", "Which of the following statements about the", "How many of the",
	"Who was the first to", "If it takes three", "Write a function that returns the", "Explain why the"}

// question returns a question with at least the given number of words.
func (p *planter) question(words int) string {
	return questions[p.IntN(len(questions))] + " " + p.text(words) + "?"
}

// changed returns a text with one of each 15 words changed: removed, replaced, or followed by another word.
func (p *planter) changed(text string) string {
	fields, parts := strings.Fields(text), []rune(text)
	if len(fields) == 1 { // Chinese
		for from := 0; from < len(parts); from += 15 {
			parts[min(from+p.IntN(15), len(parts)-1)] = '龍'
		}
		return string(parts)
	}
	for from := 0; from < len(fields); from += 15 {
		i := min(from+p.IntN(15), len(fields)-1)
		fields[i] = []string{"", p.word(), fields[i] + " " + p.word()}[p.IntN(3)]
	}
	return strings.Join(fields, " ")
}

// lines returns a text in short lines, as a quotation.
func (p *planter) lines(text string) string {
	if !strings.Contains(text, " ") {
		return strings.ReplaceAll(text, "，", "，\n> ")
	}
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		if i%5 == 4 {
			b.WriteString("\n> ")
		}
		b.WriteString(word + " ")
	}
	return b.String()
}

// translated is punctuation as another language has it.
var translated = strings.NewReplacer(", ", "，", ". ", " 。", "?", "？", "，", ", ")

// A plantedDoc is a document with the number of the item in it, or -1.
type plantedDoc struct {
	family string
	Text   string `json:"text"`
	item   int
}

// plant returns items and documents: plain questions in English and Chinese, questions that share their instructions
// with many others, and groups of 1 to 3 questions about the same law or licence. Each is planted in 5 ways. For each
// question with a shared beginning, a document has the same beginning and another question. Each law occurs in 3 more
// documents.
func (p *planter) plant(each int) (items []map[string]string, docs []plantedDoc) {
	add := func(family string, item int, text string) { docs = append(docs, plantedDoc{family, text, item}) }
	item := func(beginning, question, answer string, around func(int) string) {
		n, text := len(items), beginning+question
		items = append(items, map[string]string{"question": text, "answer": answer})
		add("whole", n, text)
		add("embedded", n, around(200)+" "+text+" "+answer+". "+around(200))
		add("short lines", n, around(30)+"\n> "+p.lines(text)+"\n"+around(30))
		add("changed", n, around(100)+". "+p.changed(text)+" "+around(100))
		add("punctuation", n, around(100)+". "+strings.ToUpper(translated.Replace(text))+" "+around(100))
	}
	lengths := []int{8, 12, 20, 40, 80, 160}
	instruction := "Answer the following question with one word and give no explanation of your answer at all. " +
		p.text(20) + ". "
	for range each {
		item("", p.question(lengths[p.IntN(6)]), p.text(2), p.text)
		item("", p.chinese(20+p.IntN(80))+"？", p.chinese(6), p.chinese)
		item(instruction, p.question(lengths[p.IntN(6)]), p.text(2), p.text)
		add("hard: instruction", -1, p.text(50)+". "+instruction+p.question(20)+" "+p.text(50))
	}
	for _, law := range []int{50, 100, 150, 200, 300, 400} {
		for count := range 3 {
			beginning := p.text(law) + ". "
			for range count + 1 {
				item(beginning, p.question(lengths[p.IntN(4)]), p.text(2), p.text)
				add("hard: law", -1, p.text(50)+". "+beginning+p.question(20)+" "+p.text(50))
			}
			for range 3 {
				add("hard: law alone", -1, p.text(50)+". "+beginning+p.text(50))
			}
		}
	}
	for range 3 * each {
		add("background", -1, p.question(10)+" "+p.text(300))
		add("background", -1, p.chinese(300))
	}
	p.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	return items, docs
}

// find looks for the items of a file in another.
func find(t testing.TB, items, corpus string, o Options, threads int) *Result {
	t.Helper()
	ctx, cfg := context.Background(), ingest.Config{Threads: threads}
	x, _, err := ReadItems(ctx, []string{items}, cfg, o)
	must.Do(t, err)
	r, _, err := Find(ctx, []string{corpus}, cfg, x, nil)
	must.Do(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// look looks for the items of some records in others, on one thread.
func look[I, D any](t *testing.T, items []I, docs []D, o Options) *Result {
	t.Helper()
	return find(t, files.Lines(t, "items.jsonl", items), files.Lines(t, "docs.jsonl", docs), o, 1)
}

// TestPlanted holds recall and precision of planted items, by family.
func TestPlanted(t *testing.T) {
	p := newPlanter(*plantedSeed)
	items, docs := p.plant(60)
	r := look(t, items, docs, Options{})
	found := make([]bool, len(docs))
	wrong := map[string]int{}
	right, all := 0, 0
	for d := range r.Documents() {
		for _, h := range d.Hits {
			of := docs[d.Line-1]
			from, to := utf8.RuneCountInString(of.Text[:h.From]), utf8.RuneCountInString(of.Text[:h.To])
			if from != h.FromChar || to != h.ToChar {
				t.Fatalf("document %d: characters %d to %d, want %d to %d", d.Line, h.FromChar, h.ToChar, from, to)
			}
			if all++; h.Item.Line-1 == of.item {
				right++
				found[d.Line-1] = true
				if of.family == "embedded" && !h.Answer {
					t.Errorf("document %d: the answer is not found", d.Line)
				}
			} else {
				wrong[of.family]++
				t.Logf("wrong: %s: score %.2f: %.200q", of.family, h.Score, of.Text[h.From:h.To])
			}
		}
	}
	met, planted := map[string]int{}, map[string]int{}
	for i, d := range docs {
		if d.item < 0 {
			continue
		}
		if planted[d.family]++; found[i] {
			met[d.family]++
		} else {
			t.Logf("missed: %s: %.300q", d.family, items[d.item]["question"])
		}
	}
	var text []string
	recalled, count := 0, 0
	for f, n := range planted {
		recalled, count = recalled+met[f], count+n
		text = append(text, fmt.Sprintf("%s %d of %d", f, met[f], n))
		if float64(met[f]) < 0.97*float64(n) {
			t.Errorf("%s: found %d of %d", f, met[f], n)
		}
	}
	recall, precision := float64(recalled)/float64(count), float64(right)/float64(all)
	t.Logf("seed %d: recall %.4f, precision %.4f; %s; wrong %v", *plantedSeed, recall, precision,
		strings.Join(text, ", "), wrong)
	if precision < 0.99 {
		t.Errorf("precision %.4f", precision)
	}
}

// BenchmarkFind compares a corpus with 100,000 items on one thread. One document of 100 has an item.
func BenchmarkFind(b *testing.B) {
	p := newPlanter(9)
	var items, docs []map[string]string
	for range 100_000 {
		items = append(items, map[string]string{"question": p.question(8 + p.IntN(60)), "answer": p.text(3)})
	}
	size := 0
	for i := 0; size < 32<<20; i++ {
		text := p.text(500)
		if i%100 == 0 {
			text += " " + items[p.IntN(len(items))]["question"]
		}
		docs = append(docs, map[string]string{"text": text})
		size += len(text)
	}
	cfg := ingest.Config{Threads: 1}
	x, _, err := ReadItems(b.Context(), []string{files.Lines(b, "items.jsonl", items)}, cfg, Options{})
	must.Do(b, err)
	corpus := files.Lines(b, "docs.jsonl", docs)
	b.SetBytes(int64(size))
	for b.Loop() {
		r, _, err := Find(b.Context(), []string{corpus}, cfg, x, nil)
		if err != nil || r.Met < len(docs)/200 {
			b.Fatal(r, err)
		}
		must.Do(b, r.Close())
	}
}
