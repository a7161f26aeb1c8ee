package passages

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// writeDocs writes texts as the lines of a JSONL file, and returns its path.
func writeDocs(t testing.TB, texts []string) string {
	t.Helper()
	var docs []map[string]string
	for i, text := range texts {
		docs = append(docs, map[string]string{"id": fmt.Sprint("d", i), "text": text})
	}
	return files.Lines(t, "docs.jsonl", docs)
}

func find(t testing.TB, path string, o Options) *Result {
	t.Helper()
	r, _, err := Find(context.Background(), []string{path}, ingest.Config{Threads: o.Threads}, o)
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, r.Close()) })
	return r
}

// A stand has the first occurrence of a window, and the numbers of its occurrences and documents.
type stand struct {
	row, offset, count int
	across             bool
}

// stands has the windows of a corpus by their content.
type stands map[string]*stand

func (o stands) add(window string, row, offset int) {
	s, ok := o[window]
	if !ok {
		s = &stand{row: row, offset: offset}
		o[window] = s
	}
	s.count++
	s.across = s.across || s.row != row
}

// sets returns corpora that are each difficult in one way. Fibonacci words have the maximum number of repetitions of a
// word without a period.
func sets(rng *rand.Rand, size int) map[string][]string {
	letters := func(n, count int) string {
		out := make([]byte, n)
		for i := range out {
			out[i] = 'a' + byte(rng.IntN(count))
		}
		return string(out)
	}
	var vocabulary []string
	for range 300 {
		vocabulary = append(vocabulary, letters(1+rng.IntN(9), 26))
	}
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(vocabulary[int(float64(len(vocabulary))*rng.Float64()*rng.Float64())])
			b.WriteByte(" \n."[max(0, rng.IntN(12)-9)])
		}
		return b.String()
	}
	a, b := "b", "a"
	for len(b) < size/4 {
		a, b = b, b+a
	}
	page, other := text(max(size/50, 800)), text(max(size/50, 800))
	var embedded, templates []string
	for i := range 40 {
		offset := rng.IntN(len(page))
		embedded = append(embedded, text(rng.IntN(200))+page[offset:min(len(page), offset+rng.IntN(300))]+text(50))
		templates = append(templates, fmt.Sprint(page[:200], i%7, page[200:400], rng.IntN(1000),
			page[400:min(700, len(page))]))
	}
	chinese := []rune(strings.Repeat("的一是不了人我在有他这为之大来以个中上们", 4))
	var mixed []string
	for range 30 {
		rng.Shuffle(len(chinese), func(i, j int) { chinese[i], chinese[j] = chinese[j], chinese[i] })
		mixed = append(mixed, text(20)+"天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏"+string(chinese[:rng.IntN(60)])+"é🙂")
	}
	return map[string][]string{
		"one letter":       {strings.Repeat("a", size/2), "b" + strings.Repeat("a", 300), strings.Repeat("a", 39)},
		"period 2":         {strings.Repeat("ab", size/8), strings.Repeat("ba", 200)},
		"period 7":         {strings.Repeat("abcdefg", size/30), text(100) + strings.Repeat("defgabc", 40) + "x"},
		"period 61":        {strings.Repeat(letters(61, 20), size/200), letters(61, 20)},
		"Fibonacci":        {b, a + b[:size/8]},
		"copies of a page": slices.Repeat([]string{page}, 60),
		"two pages":        slices.Repeat([]string{page, other, page + other}, 10),
		"embedded":         embedded,
		"templates":        templates,
		"words":            {text(size / 4), text(size / 4), text(size / 8)},
		"two letters":      {letters(size/8, 2), letters(size/8, 2)},
		"four letters":     {letters(size/4, 4), letters(size/4, 4)},
		"short":            {"", "a", letters(39, 2), letters(40, 2), strings.Repeat("x", 40), strings.Repeat("x", 40), ""},
		"mixed scripts":    mixed,
		"nothing twice":    {letters(size/4, 26), letters(size/4, 26)},
	}
}

// TestStrings compares the spans of strings with all windows of the texts. The windows in spans are those that occur
// twice, each with its first occurrence, and the counts are right.
func TestStrings(t *testing.T) {
	for name, texts := range sets(rand.New(rand.NewPCG(1, 2)), 16_000) {
		t.Run(name, func(t *testing.T) {
			path := writeDocs(t, texts)
			for i, length := range []int{16, 40, 100} {
				o := Options{Unit: Unit{Bytes, length}, Threads: 2, AcrossOnly: i == 1}
				checkStrings(t, texts, find(t, path, o), o)
			}
		})
	}
}

func checkStrings(t *testing.T, texts []string, r *Result, o Options) {
	t.Helper()
	all, length := stands{}, o.Unit.Length
	for row, text := range texts {
		for offset := 0; offset+length <= len(text); offset++ {
			all.add(text[offset:offset+length], row, offset)
		}
	}
	got := map[[2]int]bool{}      // windows that spans have
	for i := range r.repeatList { // before they are cut at characters, which leaves fewer windows
		p := &r.repeatList[i]
		row, first := r.spool.row(p.position()), r.spool.row(p.first())
		offset, from := int(p.position()-r.spool.docs.All[row][1]), int(p.first()-r.spool.docs.All[first][1])
		maximum := 0
		for w := range int(p.windows()) {
			s := all[texts[row][offset+w:offset+w+length]]
			if s.row != first || s.offset != from+w {
				t.Fatalf("document %d: window %d of %d bytes first occurs at %d of %d, not %d of %d", row, offset+w, length,
					s.offset, s.row, from+w, first)
			}
			if got[[2]int{row, offset + w}] {
				t.Fatalf("document %d: window %d comes twice", row, offset+w)
			}
			got[[2]int{row, offset + w}] = true
			maximum = max(maximum, s.count)
		}
		if int(p.count()) != maximum {
			t.Fatalf("document %d: windows from %d stand at %d places, not %d", row, offset, maximum, p.count())
		}
	}
	for row, text := range texts {
		for offset := 0; offset+length <= len(text); offset++ {
			s := all[text[offset:offset+length]]
			want := s.count > 1 && (s.across || !o.AcrossOnly)
			if got[[2]int{row, offset}] != want {
				t.Fatalf("document %d: window %d of %d bytes found: %v, has %d occurrences", row, offset, length, !want, s.count)
			}
		}
	}
	for d := range r.Documents() {
		checkDocument(t, texts, &d, slices.Collect(r.Spans(d.Row)), got, length)
	}
}

// checkDocument compares the spans of strings with the texts. They must cover exactly the windows that were found, each
// window once.
func checkDocument(t *testing.T, texts []string, d *Document, spans []Span, windows map[[2]int]bool, length int) {
	t.Helper()
	text := texts[d.Row]
	for _, s := range spans {
		part := text[s.From:s.To]
		if first := texts[s.First.Row][s.First.From:]; !strings.HasPrefix(first, part) {
			t.Fatalf("document %d: %d to %d differs from its first occurrence at %v", d.Row, s.From, s.To, s.First)
		}
		if !strings.HasPrefix(text, string([]rune(text)[:s.FromChar])+part) || len([]rune(part)) != s.ToChar-s.FromChar {
			t.Fatalf("document %d: %d to %d are not characters %d to %d", d.Row, s.From, s.To, s.FromChar, s.ToChar)
		}
	}
	if len(text) != len([]rune(text)) {
		return // spans have whole characters only
	}
	n := 0
	for _, s := range spans {
		for offset := s.From; offset+length <= s.To; offset++ {
			if n++; !windows[[2]int{d.Row, offset}] {
				t.Fatalf("document %d: the span %d to %d has a window at %d that occurs nowhere else", d.Row, s.From, s.To, offset)
			}
		}
	}
	for offset := range len(text) {
		if windows[[2]int{d.Row, offset}] {
			n--
		}
	}
	if n != 0 {
		t.Fatalf("document %d: %d windows too many in spans", d.Row, n)
	}
}

// TestCollision checks that windows with equal rolling hashes and different bytes are no repeats. From 2,048 letters
// on, Thue-Morse words and their complements have the same hash modulo 2^64.
func TestCollision(t *testing.T) {
	a, b := "a", "b"
	for len(a) < 2048 {
		a, b = a+b, b+a
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for range 1000 {
		head := make([]byte, 1500)
		for i := range head {
			head[i] = byte('c' + rng.IntN(20))
		}
		one, other := string(head)+a, string(head)+b
		m := newMarker(len(one))
		if marks := m.marks(one); len(marks) != 1 || marks[0] != m.marks(other)[0] {
			continue // the mark must be in the common part
		}
		roller := newRoller(len(one))
		if roller.hash(one) != roller.hash(other) {
			t.Fatal("no collision")
		}
		if r := find(t, writeDocs(t, []string{one, other, other}), Options{Unit: Unit{Bytes, len(one)}}); len(r.repeatList) != 2 {
			t.Errorf("%d repeats", len(r.repeatList))
		}
		return
	}
	t.Fatal("no head has the mark")
}

// TestRuns checks that a periodic text has two spans, the first occurrence and its repetition.
func TestRuns(t *testing.T) {
	for _, period := range []string{"a", "ab", "abcdefg"} {
		text := strings.Repeat(period, 40_000/len(period)) // more equal marks than one piece of work can have
		r := find(t, writeDocs(t, []string{text, "-" + text}), Options{Unit: Unit{Bytes, 40}})
		d, spans := r.Document(0), slices.Collect(r.Spans(0))
		first := 40 + len(period) - 1
		if len(spans) != 2 || spans[0].To != first || spans[1].From != len(period) || spans[1].To != len(text) ||
			spans[1].First.From != 0 || len(d.Cuts) != 1 || d.Cuts[0] != (Cut{first, len(text)}) {
			t.Errorf("%s: %+v", period, d)
		}
		d, spans = r.Document(1), slices.Collect(r.Spans(1))
		if len(spans) != 1 || spans[0].From != 1 || len(d.Cuts) != 1 ||
			d.Cuts[0] != (Cut{1, len(text) + 1}) {
			t.Errorf("%s: %+v", period, d)
		}
	}
}

// TestWords compares spans of words with all windows of the words of the texts.
func TestWords(t *testing.T) {
	scanner, err := token.NewScanner(token.Options{})
	must.Do(t, err)
	corpora := sets(rand.New(rand.NewPCG(9, 10)), 20_000)
	corpora["case"] = []string{"One two, THREE four! ﬁve six", "x one TWO three - four (five six) seven",
		"五一二三四五六七、一二三四。五六七八"}
	for name, texts := range corpora {
		path := writeDocs(t, texts)
		for _, length := range []int{3, 12} {
			o := Options{Unit: Unit{Words, length}, AcrossOnly: length == 12}
			r := find(t, path, o)
			all := stands{}
			words, begins := make([][]string, len(texts)), make([][]int, len(texts))
			for row, text := range texts {
				scanner.Scan(text, func(tokens []token.Token) {
					for i := range tokens {
						words[row] = append(words[row], string(scanner.AppendText(nil, &tokens[i])))
						begins[row] = append(begins[row], tokens[i].Start)
					}
				})
				for offset := 0; offset+length <= len(words[row]); offset++ {
					all.add(strings.Join(words[row][offset:offset+length], " "), row, offset)
				}
			}
			for row, text := range texts {
				n := map[int]bool{}
				for s := range r.Spans(row) {
					from, first := slices.Index(begins[row], s.From), slices.Index(begins[s.First.Row], s.First.From)
					to := slices.Index(append(slices.Clone(begins[row]), len(text)), s.To)
					if from < 0 || first < 0 || to < from+length || utf8.RuneCountInString(text[:s.From]) != s.FromChar {
						t.Fatalf("%s: document %d: no span of words: %+v", name, row, s)
					}
					w := all[strings.Join(words[row][from:from+length], " ")]
					if w.row != s.First.Row || w.offset != first ||
						!slices.Equal(words[row][from:to], words[w.row][first:first+to-from]) {
						t.Fatalf("%s: document %d: %+v, first occurs at word %d of %d", name, row, s, w.offset, w.row)
					}
					for ; from+length <= to; from++ {
						n[from] = true
					}
				}
				for offset := 0; offset+length <= len(words[row]); offset++ {
					w := all[strings.Join(words[row][offset:offset+length], " ")]
					if want := w.count > 1 && (w.across || !o.AcrossOnly); n[offset] != want {
						t.Fatalf("%s: document %d: %d words from word %d: found %v, want %v", name, row, length, offset, n[offset], want)
					}
				}
			}
		}
	}
}

// simpleNormal is the definition of a normal form.
func simpleNormal(i Ignore, text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	if i&IgnoreSpace != 0 {
		text = strings.Join(strings.Fields(text), " ")
	}
	if i&IgnoreCase != 0 {
		text = strings.Map(unicode.ToLower, text)
	}
	if i&IgnoreDigits != 0 {
		text = strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return '0'
			}
			return r
		}, text)
	}
	return text
}

// TestNormal compares the fast paths of normal forms with the plain definition, at every position of eight bytes.
func TestNormal(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"a", "Z", "7", " ", "  ", "\t", "\u00a0", "\u3000", "中", "文字", "é", "Ü", "٣", "Ａ", "\u0130", "😀",
		"\x7f", "word", "eight by"}
	for n := range 20_000 {
		text, i := "", Ignore(rng.IntN(8))
		for range rng.IntN(12) {
			text += pieces[rng.IntN(len(pieces))]
		}
		if n < 64 { // one piece among ASCII
			text, i = strings.Repeat("x", n%16+1)+pieces[n/16+3]+"eight bytes", IgnoreSpace
		}
		got, _ := normal([]byte("used"), i, text)
		if want := simpleNormal(i, text); got != want {
			t.Fatalf("%q, ignoring %d: %q, want %q", text, i, got, want)
		}
		if got, want := countChars(text), utf8.RuneCountInString(text); got != want {
			t.Fatalf("%q: %d characters, want %d", text, got, want)
		}
	}
}

// TestUnits compares the spans of units with a table of all units.
func TestUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	corpora := sets(rng, 12_000)
	corpora["normalised"] = []string{"A  b 12\nc\r\n\n\nA B 34\n\n x", " a b 99\nC \n\nü Ü\n",
		"Ü ü\n\n\nend. A b 12. Ü ü! c"}
	for name, texts := range corpora {
		t.Run(name, func(t *testing.T) {
			path := writeDocs(t, texts)
			for i, unit := range []Unit{{Lines, 1}, {Paragraphs, 1}, {Sentences, 3}, {Sentences, 1}} {
				o := Options{Unit: unit, Ignore: Ignore(i*3) % 8, MinChars: i * 5, AcrossOnly: i == 3, Threads: 1 + i%2}
				checkUnits(t, texts, find(t, path, o), o)
			}
		})
	}
}

func checkUnits(t *testing.T, texts []string, r *Result, o Options) {
	t.Helper()
	type window struct {
		row, from, to int
		key           string
	}
	var windows []window
	all := stands{}
	for row, text := range texts {
		var parts []string
		from := []int{0}
		for offset := 0; offset < len(text); {
			end := offset + atomEnd(o.Unit.Kind, text[offset:])
			parts, from, offset = append(parts, simpleNormal(o.Ignore, text[offset:end])), append(from, end), end
		}
		for i := 0; i+o.Unit.Length <= len(parts); i++ {
			key := parts[i : i+o.Unit.Length]
			if n := len([]rune(strings.Join(key, ""))); n >= max(o.MinChars, 1) {
				w := window{row, from[i], from[i+o.Unit.Length], strings.Join(key, "\x00")}
				windows = append(windows, w)
				all.add(w.key, row, w.from)
			}
		}
	}
	type span struct{ row, from, count, firstRow, firstFrom int }
	var got, want []span
	for i := range r.repeatList {
		p := &r.repeatList[i]
		place := func(atom uint64) (int, int) {
			row := r.spool.row(atom)
			h := r.spool.readHead(row)
			return row, int(r.spool.point(&h, int(atom-h.atom))[0])
		}
		s := span{count: int(p.count())}
		s.row, s.from = place(p.position())
		s.firstRow, s.firstFrom = place(p.first())
		got = append(got, s)
	}
	for _, w := range windows {
		if s := all[w.key]; s.count > 1 && (s.across || !o.AcrossOnly) {
			want = append(want, span{w.row, w.from, s.count, s.row, s.offset})
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%v:\ngot  %v\nwant %v", o.Unit, got, want)
	}
}

// TestSame demands one result for any number of threads and any memory.
func TestSame(t *testing.T) {
	for name, texts := range sets(rand.New(rand.NewPCG(5, 6)), 20_000) {
		path := writeDocs(t, texts)
		for _, unit := range []Unit{{Lines, 1}, {Sentences, 2}, {Bytes, 50}} {
			all := func(o Options) (all []any) {
				r := find(t, path, o)
				for d := range r.Documents() {
					all = append(all, d, slices.Collect(r.Spans(d.Row)))
				}
				return all
			}
			want := all(Options{Unit: unit, Threads: 1})
			for _, o := range []Options{{Threads: 4}, {Threads: 1, MemoryBytes: 1}, {Threads: 3, MemoryBytes: 1}} {
				o.Unit = unit
				if got := all(o); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %v: %+v differs", name, unit, o)
				}
			}
		}
	}
}

// TestRoom checks that the lists of one document are no larger than the budget, which is an error that names both.
func TestRoom(t *testing.T) {
	path := writeDocs(t, []string{strings.Repeat("a\n", 50_000)})
	for unit, taken := range map[Unit]int{{Lines, 1}: 40 * 50_000, {Words, 5}: 24 * 50_000} {
		for extra, want := range map[int]error{-1 << 17: memory.ErrTooLarge, 1 << 18: nil} {
			budget := memory.NewBudget(memory.Limit{Bytes: uint64(taken + extra)})
			r, _, err := Find(t.Context(), []string{path}, ingest.Config{Threads: 1}, Options{Unit: unit, MemoryBytes: 1, Budget: budget})
			if !errors.Is(err, want) {
				t.Errorf("%v with %d bytes: %v", unit, taken+extra, err)
			}
			if err == nil {
				must.Do(t, r.Close())
			}
		}
	}
}

// TestAtoms cuts texts where a reader would.
func TestAtoms(t *testing.T) {
	for _, test := range []struct {
		kind Kind
		want string // expected atoms, with | between them
	}{
		{Lines, "a\n|\n|b\r\n|c"},
		{Paragraphs, "a\nb\n\n \n|c\n"},
		{Paragraphs, "\n\na\n\n|b"},
		{Sentences, "One. |Two!  |Is it 3.5? |\"Yes.\" |no"},
		{Sentences, "Heading\n|A sentence that\n|breaks."},
		{Sentences, "天气好。|他说：“走吧！”|好？？|对；|end"},
		{Sentences, "これは本です。|はい！　|次"},
		{Sentences, "Wait… |what...x is... |this"},
		{Sentences, "  ... a. |b"},
	} {
		var got []string
		for text := strings.ReplaceAll(test.want, "|", ""); text != ""; {
			n := atomEnd(test.kind, text)
			got = append(got, text[:n])
			text = text[n:]
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%v: %q, want %q", test.kind, got, test.want)
		}
	}
}
