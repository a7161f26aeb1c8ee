package token

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/minio/highwayhash"
	"pgregory.net/rapid"

	"example.org/ndd/engine/oracle/must"
)

// found is a token without its place.
type found struct {
	text string
	kind Kind
}

// specification is the simplest implementation of the tokens of a Scanner. It normalises the whole text, takes
// characters of continuous scripts alone, and leaves the rest to UAX #29.
func specification(text string) (tokens []found) {
	n := newNormaliser()
	text = string(n.normalForm(nil, bounded(text)))
	flush := func(s string) {
		for w := words.FromString(s); w.Next(); {
			if isWord([]byte(w.Value())) {
				tokens = append(tokens, found{w.Value(), Word})
			}
		}
	}
	start := 0
	for i, r := range text {
		if continuousScript(r) {
			flush(text[start:i])
			start = i + utf8.RuneLen(r)
			tokens = append(tokens, found{text[i:start], Char})
		}
	}
	flush(text[start:])
	return tokens
}

// bounded returns a text with at most eight characters in a row that cannot begin a chunk.
func bounded(text string) (kept []byte) {
	row := 0
	for _, r := range text {
		if row++; r < utf8.RuneSelf || r == utf8.RuneError || runes().isStart(r) {
			row = 0
		}
		if row <= 8 {
			kept = utf8.AppendRune(kept, r)
		}
	}
	return kept
}

// scan returns the tokens of a text, with their places apart.
func scan(t rapid.TB, o Options, text string) (tokens []found, places [][2]int, stops []bool) {
	s, err := NewScanner(o)
	must.Do(t, err)
	s.Scan(text, func(batch []Token) {
		for i := range batch {
			b := &batch[i]
			tokens = append(tokens, found{string(s.AppendText(nil, b)), b.Kind})
			places, stops = append(places, [2]int{b.Start, b.End}), append(stops, b.Stop)
		}
	})
	return tokens, places, stops
}

// checkTokens compares the normal form and a Scanner's tokens with the specification. The positions must ascend, and
// the normal form of the text at a position must be the token.
func checkTokens(t rapid.TB, text string) {
	t.Helper()
	n := newNormaliser()
	checkNormal(t, &n, text)
	want := specification(text)
	got, places, _ := scan(t, Options{}, text)
	if !slices.Equal(got, want) {
		t.Fatalf("%q: tokens %v, by the specification %v", text, got, want)
	}
	checkPlaces(t, text, got, places)
}

func checkPlaces(t rapid.TB, text string, tokens []found, places [][2]int) {
	t.Helper()
	n := newNormaliser()
	end := 0
	for i, p := range places {
		if p[0] < 0 || p[1] <= p[0] || p[1] > len(text) || i > 0 && p[0] < places[i-1][0] || p[1] < end {
			t.Fatalf("%q: places %d of %v", text, places, tokens)
		}
		end = p[1]
		covered := string(n.normalForm(nil, bounded(text[p[0]:p[1]])))
		if !strings.Contains(covered, tokens[i].text) {
			t.Fatalf("%q: token %q is said to come from %q", text, tokens[i].text, text[p[0]:p[1]])
		}
	}
}

var tokenTexts = []string{
	"", " ", "a", "The quick (\"brown\") fox can't jump 32.3 feet, right?",
	"e.g. example.com, 3,456.789 a.1 1.a a_b _ __ _1 foo_ a:b a;b 1;2 1:2 it's' 'tis x' .a ..a a..b",
	"don’t l’été naïve — “Ärger” STRASSE Straße ΣΊΣΥΦΟΣ ﬁn ①② ½ ǆ İstanbul",
	"e\u0301te\u0301 vs \u00e9t\u00e9; \u1112\u1161\u11ab\u1100\u1173\u11af 한글",
	"\u304b\u3099 が ｶﾞ ﾊﾟﾊﾟ ﾃｽﾄ", "使用 Vue 3.4 的组件，在2024年！ＡＢＣ　１２３",
	"東京タワーは高い。コーヒー々〆",
	"สวัสดีชาวโลก กำ ก\u0e48\u0e33", "ພາສາລາວ ខ្មែរ မြန်မာ", "שלום \"א\"ב\" ע'ב aש’ x",
	"co\u00adoperate a\u200bb 中\u200b文 \ufefftext x\ufe0f",
	"a\xffb \xe4\xb8 中\x80文", "𠀀𪜶丽 𝔘𝔫𝔦 😀👍🏽",
	"a word.é and a word,é and a word:é, word;é; word'é word\"é word_é word1é, all with enough behind them",
	"word 中 word 文 word 中 word 文 words", "a\xe0\x83\xa9b \xe0\x80\x80 \xed\xa0\x80 中\xe4\xb8",
	"sixteenletterwrd seventeenletterwd eightletters.x SIXTEENLETTERWRD",
	"　　“他说：‘走吧！’”——《书》，又、再＿x 一，1，000：a：b。é“ab”、\u0301一\u20dd二（三）abc，\u20dd",
	"<\u0338 =\u0338 é\u0338x", "\u0300a a\u0300\u0301\u0323b 1\u20e31",
}

func TestTokensAgainstSpecification(t *testing.T) {
	alphabet := []rune("aB1_.,:;'\"- " +
		"\n’é中文がか\u3099ｶﾞก็ำ가\u11a8\u0301\u0323\u200d\u00ad，Ａ½ß\ufffdאᾳ\u0345😀“”‘＿\u3000。：、—《》\u20dd")
	rapid.Check(t, func(t *rapid.T) {
		checkTokens(t, string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 40).Draw(t, "text")))
	})
	rapid.Check(t, func(t *rapid.T) { checkTokens(t, rapid.String().Draw(t, "text")) })
}

// TestClasses checks that each character joins words as UAX #29 has it, or is left to its rules.
func TestClasses(t *testing.T) {
	count := func(text string) (n int) {
		for w := words.FromString(text); w.Next(); {
			n++
		}
		return n
	}
	table := runes()
	for r := rune(utf8.RuneSelf); r < classified; r++ {
		if r >= 0xac02 && r < 0xd7a0 || r >= 0x3402 && r < 0x9ff0 || r >= 0x17002 && r < 0x18ce0 {
			r += 40 // the characters of a block behave alike
		}
		if continuousScript(r) || !utf8.ValidRune(r) {
			continue
		}
		c := string(r)
		ok := true
		switch table.classOf(r) {
		case classLetter:
			ok = count("a"+c+"1") == 1 && count("1"+c+"_"+c+"a") == 1 && count(" "+c) == 2 && count("\u05d0"+c+"\u05d0") == 1
		case classMark:
			ok = count("a"+c) == 1 && count("1"+c+"a") == 1 && count(" "+c+"."+c+"a") == 3
		case classGap:
			ok = count("a"+c+"a") == 3 && count("1"+c+"1") == 3 && count("_"+c+"_") == 3 && count("\u05d0"+c+"\u05d0"+c) == 4 &&
				count(c+c+"a") > 1
		}
		if !ok {
			t.Errorf("%U %s is not of class %d", r, c, table.classOf(r))
		}
	}
}

// TestSequences checks that texts of characters that the normaliser handles as sequences have the tokens of the
// specification. It tests short sequences, and longer ones than the limit of combining marks.
func TestSequences(t *testing.T) {
	alphabet := []string{"a", "É", "ᾳ", "中", "가", "\u0301", "\u0323", "\u0327", "\u0344", "\u0345", "\u034f", "\u0e33", "ก",
		"\u1100", "\u1161", "\u11a8", "\u3133", "\uffc2", "\ufdfa", "\u3300", "\u200d", "\ufe0f", "\u00ad", "½", "ﬃ", "ΐ",
		"’", "😀", "👍🏽", "🇩🇪", "𝔘", "\U0001d15e", "\U0001d165", "\U000e0041", "丽", "ｶ", "ﾞ", "\u05b0", "ש", "\u093c", " ", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 12).Draw(t, "parts") {
			part := rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 4).Draw(t, "part")
			text.WriteString(strings.Repeat(strings.Join(part, ""), rapid.SampledFrom([]int{1, 1, 2, 20, 70}).Draw(t, "times")))
		}
		checkTokens(t, text.String())
	})
}

// checkNormal compares the piecewise normal form with the normal form of the whole text.
func checkNormal(t rapid.TB, n *normaliser, text string) {
	t.Helper()
	got := string(n.chunk([]byte(text)))
	want := string(n.normalForm(nil, bounded(text))) // U+FFFD for each invalid byte
	if got != want {
		t.Fatalf("%q: %q piece by piece, %q at once", text, got, want)
	}
}

func TestNormaliser(t *testing.T) {
	normaliser := newNormaliser()
	n := &normaliser
	rapid.Check(t, func(t *rapid.T) { checkNormal(t, n, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))) })
	for r := rune(0); r < 0xe0200; r++ {
		// The ideographs and syllables behave alike, and few characters are assigned beyond them: every 97th is enough.
		if r >= 0x3400 && r < 0xa000 || r >= 0xac00 && r < 0xf900 || r >= 0x20000 {
			r += 96
		}
		checkNormal(t, n, "e"+string(r)+"a\u0301"+string(r)+"\u3099")
	}
	marks := rapid.OneOf(rapid.RuneFrom(nil, unicode.Mn), rapid.Int32Range(0x300, 0x36f), rapid.Int32Range(0x1100, 0x11ff),
		rapid.RuneFrom([]rune("aAoǘΐ=<ιüạが’")))
	rapid.Check(t, func(t *rapid.T) { checkNormal(t, n, string(rapid.SliceOfN(marks, 1, 30).Draw(t, "marks"))) })
	for pair := range runes().pairs {
		checkNormal(t, n, string(pair[:]))
	}
	for r := rune(0x300); r < 0x370; r++ { // more sequences of one length than there are forms
		for letter := 'a'; letter <= 'z'; letter++ {
			checkNormal(t, n, string([]rune{letter, r}))
		}
		checkNormal(t, n, strings.Repeat(string(r), 64))
	}
}

// FuzzTokens begins with the texts above, in each run of the tests.
func FuzzTokens(f *testing.F) {
	for _, text := range tokenTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTokens(t, text) })
}

// TestExample shows the tokens of a text: source ranges, kinds and stop words.
func TestExample(t *testing.T) {
	const text = "The ﬁne Straße isn't “here”. 使用 Ｖｕｅ３．４ 的组件。"
	var got strings.Builder
	tokens, places, stops := scan(t, Options{Lexicon: stopLexicon(t, "en")}, text)
	for i, k := range tokens {
		fmt.Fprintf(&got, "%s|%s|%s", text[places[i][0]:places[i][1]], k.text, []string{Word: "word", Char: "char"}[k.kind])
		if stops[i] {
			got.WriteString("|stop")
		}
		got.WriteByte('\n')
	}
	want := strings.TrimLeft(`
The|the|word|stop
ﬁne|fine|word
Straße|strasse|word
isn't|isn't|word|stop
here|here|word|stop
使|使|char
用|用|char
Ｖｕｅ３．４|vue3.4|word
的|的|char
组|组|char
件|件|char
`, "\n")
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// TestPlacesOfWhatIsJoined checks that if characters combine, the range covers all characters that the token was made
// from, and only characters that were normalised together with them.
func TestPlacesOfWhatIsJoined(t *testing.T) {
	for _, c := range []struct {
		text string
		want [][2]int
	}{
		{"nai\u0308ve x", [][2]int{{0, 7}, {8, 9}}},
		{"é e\u0301 é", [][2]int{{0, 2}, {3, 6}, {7, 9}}},
		{"中ｶﾞ文", [][2]int{{0, 3}, {3, 9}, {9, 12}}},
		{"Ａ\u00adＢ Ｃ", [][2]int{{0, 8}, {9, 12}}},
		{"a\xffb \xe4\xb8 中", [][2]int{{0, 1}, {2, 3}, {7, 10}}},
	} {
		if _, places, _ := scan(t, Options{}, c.text); !slices.Equal(places, c.want) {
			t.Errorf("%q: %d, want %d", c.text, places, c.want)
		}
	}
}

// TestLongTokens checks that tokens around the maximum packed length, more than one batch of them, keep their bytes and
// positions.
func TestLongTokens(t *testing.T) {
	for _, unit := range []string{"a", "é", "q1"} {
		var text strings.Builder
		var want []string
		for i := range 3 * batchTokens {
			want = append(want, strings.Repeat(unit, i%40+1))
			text.WriteString(want[i] + " ")
		}
		tokens, places, _ := scan(t, Options{}, text.String())
		for i, w := range want {
			if i >= len(tokens) || tokens[i].text != w || text.String()[places[i][0]:places[i][1]] != w {
				t.Fatalf("token %d of %d: want %q", i, len(tokens), w)
			}
		}
		if len(tokens) != len(want) {
			t.Fatalf("%d tokens, want %d", len(tokens), len(want))
		}
	}
}

// TestLongChunks checks that the tokens of a text without ASCII do not depend on the division into chunks if characters
// are tokens by themselves or separate tokens. No text takes much memory.
func TestLongChunks(t *testing.T) {
	for _, unit := range []string{"’e\u0301à中", "ทำ\u0e33", "한글\u1100\u1161\u3000", "ﷺ\u00a0", "１！２"} {
		long := strings.Repeat(unit, 5*chunkBytes/len(unit))
		tokens, _, _ := scan(t, Options{}, "\u0301"+long)
		if want := specification("\u0301" + long); !slices.Equal(tokens, want) {
			t.Errorf("%q: %d tokens, want %d", unit, len(tokens), len(want))
		}
	}
	for _, unit := range []string{"\ufdfa", "a\u0301", "\u0301", "\u0e33", "\u200d", "\u1161", "\u1100\u1161", "\xff", "a’",
		"\u0344", "\U0001f1e9", "\u00ad", "\u0390", "\ufb03", "é", "a中\u0301"} {
		text := strings.Repeat(unit, 1<<18/len(unit))
		s, err := NewScanner(Options{})
		must.Do(t, err)
		s.Scan(text, func([]Token) {})
		n := &s.normal
		if held := cap(n.dst) + cap(n.a) + cap(n.b) + 24*cap(n.pieces); held > 100*chunkBytesMax {
			t.Errorf("%q: %d bytes held for 256 KiB of text", unit, held)
		}
		if unit != "é" && cap(s.long) > 40*chunkBytesMax {
			t.Errorf("%q: %d bytes of tokens held", unit, cap(s.long))
		}
	}
}

// TestUntil checks that a Scanner ends within any text when its context is done.
func TestUntil(t *testing.T) {
	for _, unit := range []string{"some words ", "中", "a\u0301", "\u200d", "é ", "a"} {
		s, err := NewScanner(Options{})
		must.Do(t, err)
		ctx := &endingContext{Context: t.Context(), callsLeft: 3}
		s.Until(ctx)
		tokens := 0
		s.Scan(strings.Repeat(unit, 4<<20/len(unit)), func(batch []Token) { tokens += len(batch) })
		if asked := 3 - ctx.callsLeft; asked < 4 && unit != "a" || tokens > 5*16*batchTokens {
			t.Errorf("%q: asked %d times, %d tokens", unit, asked, tokens)
		}
		s.Until(t.Context())
		s.Scan("whole again", func(batch []Token) { tokens = len(batch) })
		if tokens != 2 {
			t.Errorf("%q: %d tokens of the next text", unit, tokens)
		}
	}
}

// endingContext ends when it has been asked a number of times.
type endingContext struct {
	context.Context
	callsLeft int
}

func (c *endingContext) Err() error {
	if c.callsLeft--; c.callsLeft < 0 {
		return context.Canceled
	}
	return nil
}

// TestStopWords checks that each word of the list is marked, in any case, and nothing else.
func TestStopWords(t *testing.T) {
	for language, list := range stopWords {
		l := stopLexicon(t, language)
		stop := map[string]bool{}
		for _, w := range strings.Fields(list) {
			stop[l.Normal(w)] = true
		}
		text := strings.ToUpper(list) + " thee ours' upona shouldn'tshouldn'tshouldn't lighthouse 7 犬"
		tokens, _, stops := scan(t, Options{Lexicon: l}, text)
		for i, k := range tokens {
			if stops[i] != stop[k.text] {
				t.Errorf("%s: %q marked: %v", language, k.text, stops[i])
			}
		}
	}
	if err := CheckStopWords("xx"); err == nil || err.Error() !=
		`stop_words is "xx", must be empty or one of ar, de, en, es, fr, ja, ru, zh` {
		t.Errorf("%v", err)
	}
}

func stopLexicon(t *testing.T, language string) *Lexicon {
	l := NewLexicon()
	must.Do(t, l.AddLanguage(language))
	return l
}

// TestHasher checks that the hash of a token is the same if it is stored, was evicted, or is too long for a slot.
func TestHasher(t *testing.T) {
	s, err := NewScanner(Options{})
	must.Do(t, err)
	key := [32]byte{1, 2, 3}
	h := NewHasher(s, key)
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}|[a-z]{15,18}|[中-丿]`), 0, 50).Draw(t, "tokens")
		s.Scan(strings.Join(list, " "), func(batch []Token) {
			for i := range batch {
				token := s.AppendText(nil, &batch[i])
				if got, want := h.Hash(&batch[i]), max(highwayhash.Sum64(token, key[:]), 1); got != want {
					t.Fatalf("%q: hash %x, want %x", token, got, want)
				}
			}
		})
	})
}
