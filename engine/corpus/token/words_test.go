package token

import (
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestWordsOfOptions has test vectors of a lexicon and stemmers.
func TestWordsOfOptions(t *testing.T) {
	lexicon := func(stops string, words ...string) *Lexicon {
		l := NewLexicon()
		for w := range strings.FieldsSeq(stops) {
			must.Do(t, l.AddStopWord(w))
		}
		for _, w := range words {
			must.Do(t, l.AddWord(w))
		}
		return l
	}
	for name, c := range map[string]struct {
		o          Options
		text, want string
	}{
		"stem en":    {Options{Stem: "en"}, "The runners were running, generously.", "the runner were run generous"},
		"stem de":    {Options{Stem: "de"}, "Die Häuser der Städte", "die haus der stadt"},
		"stem ru":    {Options{Stem: "ru"}, "книгами книги", "книг книг"},
		"stem ar":    {Options{Stem: "ar"}, "الكتاب كتابان", "كتاب كتاب"},
		"stem fr":    {Options{Stem: "fr"}, "continuellement continué", "continuel continu"},
		"stem es":    {Options{Stem: "es"}, "niños niña", "niñ niñ"},
		"long words": {Options{Stem: "en"}, strings.Repeat("running", 10), strings.Repeat("running", 10)},
		"row of marks": {Options{}, "E\u0301" + strings.Repeat("\u0323\u0302", 9) + "x x" + strings.Repeat("\u0301", 9),
			"ẹ" + strings.Repeat("\u0323", 3) + "\u0301" + strings.Repeat("\u0302", 3) + "x x" + strings.Repeat("\u0301", 8)},
		"row of jamo":  {Options{}, "\u1100" + strings.Repeat("\u1161", 99) + "\u1100", "가" + strings.Repeat("\u1161", 7) + "\u1100"},
		"invisible":    {Options{}, "e" + strings.Repeat("\u00ad", 8) + "\u0301 e" + strings.Repeat("\u00ad", 7) + "\u0301", "e é"},
		"no stop word": {Options{Stem: "en", Lexicon: lexicon("being")}, "being beings", "[being] be"},
		"dictionary": {Options{Lexicon: lexicon("", "北京", "北京大学", "大学生", "T恤", "的")},
			"北京大学生在北京，大\n学的T恤Ｔ恤", "北京大学 生 在 北京 大 学 的 t恤 t恤"},
		"normal forms":   {Options{Lexicon: lexicon("", "ｶﾞｽ")}, "ガスが", "ガス が"},
		"stop sequences": {Options{Lexicon: lexicon("我们 的", "我们家")}, "我们的书，我们家", "[我们] [的] 书 我们家"},
		"long stop":      {Options{Lexicon: lexicon("разговаривающий")}, "Разговаривающий кот", "[разговаривающий] кот"},
		"waiting":        {Options{Lexicon: lexicon("", "甲乙丙")}, strings.Repeat("x ", 254) + "甲乙丙甲乙", strings.Repeat("x ", 254) + "甲乙丙 甲 乙"},
		"waiting long": {Options{Lexicon: lexicon("", "一二三四五六七八九十")}, strings.Repeat("x ", 250) + "一二三四五六七八九十",
			strings.Repeat("x ", 250) + "一二三四五六七八九十"},
	} {
		tokens, places, stops := scan(t, c.o, c.text)
		var got []string
		for i, k := range tokens {
			if stops[i] {
				k.text = "[" + k.text + "]"
			}
			got = append(got, k.text)
			if places[i][0] >= places[i][1] || i > 0 && places[i][0] < places[i-1][1] {
				t.Errorf("%s: token %q is at %d", name, k.text, places[i])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if _, err := NewScanner(Options{Stem: "zh"}); err == nil || !strings.HasPrefix(err.Error(),
		`stem is "zh", must be absent or one of ar, da, de, en,`) {
		t.Error(err)
	}
}

func TestLexiconRefuses(t *testing.T) {
	l := NewLexicon()
	for word, want := range map[string]string{
		"...":                         `"..." has no letter or digit`,
		"in front":                    `"in front" is 2 words, must be one`,
		"北京 大学":                       `"北京 大学" is 4 words, must be one`,
		strings.Repeat("字", 33):       "has 33 characters, must have 32 at most",
		"x" + strings.Repeat("字", 40): "has 41 characters",
	} {
		if err := l.AddWord(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", word, err, want)
		}
	}
}

// FuzzStem checks that no word of any script makes a stemmer fail.
func FuzzStem(f *testing.F) {
	for _, text := range tokenTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for language := range snowball {
			scan(t, Options{Stem: language}, text)
		}
	})
}
