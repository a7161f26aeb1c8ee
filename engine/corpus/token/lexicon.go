package token

import "fmt"

// A Lexicon holds the words that a [Scanner] handles specially: stop words, and words of scripts without spaces. The
// Scanner turns the longest such word at each position into one token of kind Word. All words are compared in normal
// form. Several scanners may use a Lexicon after its last word was added.
type Lexicon struct {
	plain   *Scanner
	stops   map[string]bool // stop words in normal form
	entries map[string]bool // token sequences that are a word; false for the beginning of a word
}

// rowTokens is the maximum number of tokens of a word in a [Lexicon].
const rowTokens = 32

// NewLexicon returns an empty Lexicon.
func NewLexicon() *Lexicon {
	plain, _ := NewScanner(Options{}) // fails only for an unknown stemmer
	return &Lexicon{plain: plain, stops: map[string]bool{}, entries: map[string]bool{}}
}

// AddLanguage adds the stop words of a language. The language "" has none.
func (l *Lexicon) AddLanguage(language string) error {
	if err := CheckStopWords(language); err != nil {
		return err
	}
	for _, w := range StopWords(language) {
		if err := l.AddStopWord(w); err != nil {
			return err
		}
	}
	return nil
}

// AddStopWord adds a stop word. The error says why word is not a single word.
func (l *Lexicon) AddStopWord(word string) error {
	normal, err := l.add(word)
	if err == nil {
		l.stops[normal] = true
	}
	return err
}

// AddWord adds a word that becomes one token. The error says why word is not a single word.
func (l *Lexicon) AddWord(word string) error {
	_, err := l.add(word)
	return err
}

// add adds a word as a sequence of tokens and returns its normal form.
func (l *Lexicon) add(word string) (normal string, err error) {
	var text []byte
	var ends []int // ends of the tokens in text
	end, gap, chars := 0, false, false
	l.plain.Scan(word, func(tokens []Token) {
		for i := range tokens {
			t := &tokens[i]
			gap = gap || len(ends) > 0 && t.Start > end
			chars, end = chars || t.Kind == Char, t.End
			text = l.plain.AppendText(text, t)
			ends = append(ends, len(text))
		}
	})
	switch {
	case len(ends) == 0:
		return "", fmt.Errorf("%.64q has no letter or digit", word)
	case gap || len(ends) > 1 && !chars:
		return "", fmt.Errorf("%.64q is %d words, must be one", word, len(ends))
	case len(ends) > rowTokens:
		return "", fmt.Errorf("%.64q has %d characters, must have %d at most", word, len(ends), rowTokens)
	}
	normal = string(text)
	if chars {
		for _, end := range ends[:len(ends)-1] {
			if _, ok := l.entries[normal[:end]]; !ok {
				l.entries[normal[:end]] = false
			}
		}
		l.entries[normal] = true
	}
	return normal, nil
}

// Normal returns the normal form of the tokens in a text, without everything between them.
func (l *Lexicon) Normal(text string) string {
	var normal []byte
	l.plain.Scan(text, func(tokens []Token) {
		for i := range tokens {
			normal = l.plain.AppendText(normal, &tokens[i])
		}
	})
	return string(normal)
}

// mark sets Stop in each token that is a stop word. The tokens belong to scanner s.
func (l *Lexicon) mark(s *Scanner, tokens []Token) {
	for i := range tokens {
		s.word = s.AppendText(s.word[:0], &tokens[i])
		tokens[i].Stop = l.stops[string(s.word)]
	}
}

// join replaces each longest sequence of tokens that is a word of the lexicon by one token. done is the number of
// tokens of the batch that are final. waiting is the number of tokens at the end that must wait for the next ones; it
// is 0 if last is true.
func (s *Scanner) join(last bool) (done, waiting int) {
	for i := 0; i < s.n; {
		end, open := s.match(i)
		if open && !last {
			return done, s.n - i
		}
		t := s.batch[i]
		if end > i {
			t.End, t.Kind = s.batch[end-1].End, Word
			s.replace(&t, s.word)
		}
		s.batch[done] = t
		done, i = done+1, max(end, i+1)
	}
	return done, 0
}

// match finds the longest word of the lexicon that begins with token i of the batch, and stores its text in s.word.
// end is the end of its tokens in the batch, or 0 if there is no such word. open is true if the batch ends before the
// result is certain.
func (s *Scanner) match(i int) (end int, open bool) {
	var row [rowTokens * packedMax]byte
	text := row[:0]
	for j := i; ; j++ {
		if j == s.n {
			return end, true
		}
		t := &s.batch[j]
		if t.packed == 0 || j > i && t.Start > s.batch[j-1].End {
			return end, false
		}
		text = s.AppendText(text, t)
		whole, known := s.opts.Lexicon.entries[string(text)]
		if !known {
			return end, false
		}
		if whole {
			end = j + 1
			s.word = append(s.word[:0], text...)
		}
	}
}
