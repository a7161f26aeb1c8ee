package token

import (
	"cmp"
	"fmt"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// snowball holds the stemmers of the Snowball project, by language.
var snowball = map[string]func(*snowballstem.Env) bool{
	"ar": arabic.Stem, "da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fi": finnish.Stem,
	"fr": french.Stem, "ga": irish.Stem, "hu": hungarian.Stem, "it": italian.Stem, "nl": dutch.Stem, "no": norwegian.Stem,
	"pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem, "sv": swedish.Stem, "ta": tamil.Stem,
	"tr": turkish.Stem,
}

// CheckStem returns an error that lists the languages with a stemmer, unless language is one of them or empty.
func CheckStem(language string) error {
	if _, ok := snowball[language]; ok || language == "" {
		return nil
	}
	return fmt.Errorf("stem is %.64q, must be absent or one of %s", language, languagesOf(snowball))
}

const (
	stemBytes = 64      // longer words are not stemmed: stemmers copy them for each step
	stemWords = 1 << 15 // words whose stems are remembered: stemming takes a microsecond
)

// A stemmer replaces words by their stems.
type stemmer struct {
	stem  func(*snowballstem.Env) bool
	env   *snowballstem.Env
	stems map[string]string
}

func newStemmer(language string) *stemmer {
	if language == "" {
		return nil
	}
	return &stemmer{stem: snowball[language], env: snowballstem.NewEnv(""), stems: map[string]string{}}
}

// apply replaces the words among tokens, which belong to a scanner, by their stems. It skips stop words.
func (m *stemmer) apply(s *Scanner, tokens []Token) {
	for i := range tokens {
		t := &tokens[i]
		if s.word = s.AppendText(s.word[:0], t); t.Stop || t.Kind != Word || len(s.word) > stemBytes {
			continue
		}
		stem, known := m.stems[string(s.word)]
		if !known {
			word := string(s.word)
			m.env.SetCurrent(word)
			m.stem(m.env)
			stem = cmp.Or(m.env.Current(), word)
			if len(m.stems) == stemWords {
				clear(m.stems)
			}
			m.stems[word] = stem
		}
		s.replace(t, append(s.word[:0], stem...))
	}
}
