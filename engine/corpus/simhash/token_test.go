package simhash

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"pgregory.net/rapid"
)

// token is what the specification of the tokeniser yields.
type token struct {
	text string
	kind kind
}

// tokensBySpecification says in the plainest way what the tokeniser has to give: normalise everything at
// once, take characters of continuous scripts alone, and leave the rest to UAX #29.
func tokensBySpecification(text string) (tokens []token) {
	text = string(newNormaliser().normalForm(nil, strings.ToValidUTF8(text, "\ufffd")))
	flush := func(s string) {
		for w := words.FromString(s); w.Next(); {
			if isWord([]byte(w.Value())) {
				tokens = append(tokens, token{w.Value(), kindWord})
			}
		}
	}
	start := 0
	for i, r := range text {
		if continuousScript(r) {
			flush(text[start:i])
			start = i + utf8.RuneLen(r)
			tokens = append(tokens, token{text[i:start], kindChar})
		}
	}
	flush(text[start:])
	return tokens
}

// featuresBySpecification makes the features of those tokens with the real shingler.
func featuresBySpecification(r Recipe, text string) *[2]counter {
	f, err := New(r)
	if err != nil {
		panic(err)
	}
	f.count("")
	for _, t := range tokensBySpecification(text) {
		f.shingles.push(f.memo.long([]byte(t.text)), t.kind)
	}
	f.shingles.endRun()
	return &f.counts
}

// checkTokens compares the features of the fast path with those of the specification.
func checkTokens(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	for _, n := range [][2]int{{1, 1}, {2, 2}, {1, 2}} {
		r := Default()
		r.WordShingle, r.CharShingle, r.MinFeatures = n[0], n[1], 1
		f, err := New(r)
		if err != nil {
			t.Fatalf("%v", err)
		}
		f.count(text)
		want := featuresBySpecification(r, text)
		for k, c := range f.counts {
			if !slices.Equal(c.hashes, want[k].hashes) || !slices.Equal(c.times, want[k].times) {
				t.Fatalf("n=%v: %q: %d features of kind %d, %d by the specification, whose tokens are %q",
					n, text, len(c.hashes), k, len(want[k].hashes), tokensBySpecification(text))
			}
		}
	}
}

var tokenTexts = []string{
	"", " ", "a", "The quick (\"brown\") fox can't jump 32.3 feet, right?",
	"e.g. example.com, 3,456.789 a.1 1.a a_b _ __ _1 foo_ a:b a;b 1;2 1:2 it's' 'tis x' .a ..a a..b",
	"don’t l’été naïve — “Ärger” STRASSE Straße ΣΊΣΥΦΟΣ ﬁn ①② ½ ǆ İstanbul",
	"e\u0301te\u0301 vs \u00e9t\u00e9; \u1112\u1161\u11ab\u1100\u1173\u11af 한글",
	"\u304b\u3099 が ｶﾞ ﾊﾟﾊﾟ ﾃｽﾄ", "使用 Vue 3.4 的组件，在2024年！ＡＢＣ　１２３", "東京タワーは高い。コーヒー々〆",
	"สวัสดีชาวโลก กำ ก\u0e48\u0e33", "ພາສາລາວ ខ្មែរ မြန်မာ", "שלום \"א\"ב\" ע'ב", "co\u00adoperate a\u200bb 中\u200b文 \ufefftext x\ufe0f",
	"a\xffb \xe4\xb8 中\x80文", "𠀀𪜶丽 𝔘𝔫𝔦 😀👍🏽",
	"a word.é and a word,é and a word:é, word;é; word'é word\"é word_é word1é, all with enough behind them",
	"word 中 word 文 word 中 word 文 words", "a\xe0\x83\xa9b \xe0\x80\x80 \xed\xa0\x80 中\xe4\xb8",
	"sixteenletterwrd seventeenletterwd eightletters.x SIXTEENLETTERWRD",
	"<\u0338 =\u0338 é\u0338x", "\u0300a a\u0300\u0301\u0323b 1\u20e31",
}

func TestTokensAgainstSpecification(t *testing.T) {
	for _, text := range tokenTexts {
		checkTokens(t, text)
	}
	alphabet := []rune("aB1_.,:;'\"- \n’é中文がか\u3099ｶﾞก็ำ가\u11a8\u0301\u0323\u200d\u00ad，Ａ½ß\ufffdאᾳ\u0345😀")
	rapid.Check(t, func(t *rapid.T) {
		checkTokens(t, string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 40).Draw(t, "text")))
	})
	rapid.Check(t, func(t *rapid.T) { checkTokens(t, rapid.String().Draw(t, "text")) })
}

// checkNormal compares the piecewise normal form with that of everything at once.
func checkNormal(t interface{ Fatalf(string, ...any) }, n *normaliser, text string) {
	got := string(n.chunk([]byte(text)))
	want := string(n.normalForm(nil, string([]rune(text)))) // U+FFFD for each invalid byte
	if got != want {
		t.Fatalf("%q: %q piece by piece, %q at once", text, got, want)
	}
}

func TestNormaliser(t *testing.T) {
	n := newNormaliser()
	for _, text := range tokenTexts {
		checkNormal(t, n, text)
	}
	rapid.Check(t, func(t *rapid.T) { checkNormal(t, n, rapid.String().Draw(t, "text")) })
	rapid.Check(t, func(t *rapid.T) { checkNormal(t, n, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))) })
	for r := rune(0); r < 0xe0200; r++ {
		// The ideographs and syllables are alike, and little is assigned beyond them: every 97th will do.
		if r >= 0x3400 && r < 0xa000 || r >= 0xac00 && r < 0xf900 || r >= 0x20000 {
			r += 96
		}
		checkNormal(t, n, "e"+string(r)+"a\u0301"+string(r)+"\u3099")
	}
}

func FuzzTokens(f *testing.F) {
	for _, text := range tokenTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkNormal(t, newNormaliser(), text)
		checkTokens(t, text)
	})
}
