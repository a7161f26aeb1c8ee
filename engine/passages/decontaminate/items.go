package decontaminate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/passages/plain"
)

// QuestionFields and AnswerFields are the default fields of questions and answers. They are tried in this
// order; for questions, the fields of texts follow. If a field is a list of answers, its first answer counts.
var (
	QuestionFields = []string{"question", "problem", "prompt", "query"}
	AnswerFields   = []string{"answer", "solution", "canonical_solution", "target", "answers", "answers.text[]",
		"answers[]", "answer[]"}
)

// Options configures the items to find and the hits.
type Options struct {
	Question, Answer string // fields of items; "" selects the first of QuestionFields and of AnswerFields that exists

	MinWords  int     // minimum number of words; shorter items are left out; 0 means 5
	Threshold float64 // minimum score of a hit; 0 means 0.8
	Common    int     // maximum number of documents that lower the weight of an n-gram; 0 means 100

	Budget *memory.Budget // limits the memory of one document with its tokens; a larger document is an error
}

// Defaults and limits.
const (
	DefaultMinWords  = 5
	DefaultThreshold = 0.8
	DefaultCommon    = 100
	wholeWords       = 8 // items with fewer words are found only as a whole
)

// withDefaults fills in defaults and returns an error for invalid options.
func (o Options) withDefaults() (Options, error) {
	o.MinWords = cmp.Or(o.MinWords, DefaultMinWords)
	o.Threshold = cmp.Or(o.Threshold, DefaultThreshold)
	o.Common = cmp.Or(o.Common, DefaultCommon)
	if o.MinWords < 0 || o.Common < 0 || !(o.Threshold > 0 && o.Threshold <= 1) {
		return o, fmt.Errorf("at least %d words, a threshold of %g, %d documents: must be positive, the threshold at most 1",
			o.MinWords, o.Threshold, o.Common)
	}
	return o, nil
}

// seedLength returns the n of the n-grams of an item, given its number of tokens.
func seedLength(tokens int) int {
	switch {
	case tokens >= 104:
		return 13
	case tokens >= 24:
		return 8
	}
	return min(tokens, 5)
}

// An Item is one item of an evaluation.
type Item struct {
	ID, Source string
	Line       int // line as in format.Document
	Set        int // index in Sets

	from, to             uint32 // range in Items.tokens
	answerFrom, answerTo uint32 // range in Items.answers
	n                    int
	isWhole              bool // found only as a whole
}

// Tokens returns the number of tokens of the item.
func (it *Item) Tokens() int { return int(it.to - it.from) }

// HasAnswer reports whether the item has an answer.
func (it *Item) HasAnswer() bool { return it.answerTo > it.answerFrom }

// A Set is an evaluation: an input file, or a file or folder directly in an input folder.
type Set struct {
	Name   string
	Items  int // number of all items
	Short  int // items left out because they have too few words
	Shared int // items left out because each of their n-grams occurs more than 32 times in the items

	// The following fields are set in a Result.
	Phrases   int // items of fewer than 8 words that are too common to be hits
	Met       int // items with hits
	Answered  int // items with hits that have their answer near in some document
	Documents int // documents with hits
}

// Items are the items of evaluations, prepared for Find. Many goroutines may use them.
type Items struct {
	Sets []Set

	o       Options
	items   []Item
	tokens  []uint64 // tokens of all items, item after item
	answers []uint64
	sharing []uint32 // for each token, the number of items that have the rareTokens tokens from it on
	owner   []uint32 // for each token, its item
	gram    []uint32 // for each token, the n-gram that begins with it, or noGram
	table   table
}

// Answers returns the number of items with an answer.
func (x *Items) Answers() (n int) {
	for i := range x.items {
		if x.items[i].HasAnswer() {
			n++
		}
	}
	return n
}

type readItem struct {
	item           Item
	tokens, answer []uint64
	words          int
}

var key = token.NewKey([32]byte([]byte("ndd decontaminate: hashed tokens")))

// A tokeniser hashes the tokens of texts. It belongs to one goroutine.
type tokeniser struct {
	scanner *token.Scanner
	plain   *plain.Reader
	hashes  []uint64
	starts  []int // beginnings of the tokens, as byte offsets in the plain text
	ends    []int
	chars   int // number of tokens that are characters
	budget  *memory.Budget
	err     error // error of the last call of take

	textBytes int // length of the text
}

// tokenBytes is the memory for one token of a document.
const tokenBytes = 24

func newTokeniser(ctx context.Context) (*tokeniser, error) {
	scanner, err := token.NewScanner(token.Options{})
	scanner.Until(ctx)
	k := &tokeniser{scanner: scanner}
	k.plain = plain.NewReader(plain.Markup, k.room)
	return k, err
}

// room returns an error if the budget has no memory for the text and its lists. The text counts twice, because its
// plain form is also in memory.
func (k *tokeniser) room(listBytes int) error {
	return k.budget.Check("a text of "+humanize.IBytes(uint64(k.textBytes)), uint64(2*k.textBytes+listBytes))
}

// take hashes the tokens of a text.
func (k *tokeniser) take(text string) {
	k.hashes, k.starts, k.ends, k.chars, k.textBytes = k.hashes[:0], k.starts[:0], k.ends[:0], 0, len(text)
	var plain string
	if plain, k.err = k.plain.Read(text); k.err != nil {
		return
	}
	k.scanner.Scan(plain, func(tokens []token.Token) {
		if n := len(k.hashes); n+len(tokens) > cap(k.hashes) && k.err == nil {
			all := float64(n) * float64(len(text)) / float64(tokens[0].Start+1) // estimate from the tokens so far
			k.err = k.room(tokenBytes*int(all) + k.plain.JumpBytes())
		}
		if k.err != nil {
			return
		}
		for i := range tokens {
			t := &tokens[i]
			k.hashes = append(k.hashes, key.Hash(k.scanner, t))
			k.starts, k.ends = append(k.starts, t.Start), append(k.ends, t.End)
			if t.Kind == token.Char {
				k.chars++
			}
		}
	})
}

// ReadItems reads the items of evaluations. It uses the limits and threads of cfg. The report is valid even if
// there is an error.
func ReadItems(ctx context.Context, inputs []string, cfg ingest.Config, o Options) (*Items, ingest.Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, ingest.Report{}, err
	}
	// Choose the fields of questions and answers.
	cfg.Document.TextField, cfg.Document.PreferText = o.Question, QuestionFields
	cfg.Document.ValueFields, cfg.Document.FirstValue = [][]string{AnswerFields}, true
	if o.Answer != "" {
		cfg.Document.ValueFields = [][]string{{o.Answer}}
	}
	// Read the items, and hash their tokens.
	x := &Items{o: o}
	numbers := map[string]int{}
	report, err := ingest.Extract(ctx, inputs, cfg, ingest.Steps[readItem]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (readItem, error), error) {
			k, err := newTokeniser(ctx)
			return func(_ int, doc *format.Document) (readItem, error) {
				k.take(doc.Text)
				r := readItem{item: Item{ID: doc.ID, Source: doc.Source, Line: doc.Line}, words: len(k.hashes) - k.chars/2,
					tokens: append([]uint64(nil), k.hashes...)} // two characters of a script without spaces are one word
				if len(doc.Values) > 0 && doc.Values[0].Found {
					k.take(doc.Values[0].Text)
					r.answer = append(r.answer, k.hashes...)
				}
				return r, nil
			}, err
		},
		Borrows: true,
		Emit: func(r readItem) error {
			name := setName(inputs, r.item.Source)
			n, ok := numbers[name]
			if !ok {
				n = len(x.Sets)
				numbers[name], x.Sets = n, append(x.Sets, Set{Name: name})
			}
			r.item.Set = n
			return x.add(&r)
		},
	})
	if err != nil {
		return nil, report, err
	}
	// Make the tables of their n-grams.
	x.build(cfg.Threads)
	return x, report, nil
}

func (x *Items) add(r *readItem) error {
	set := &x.Sets[r.item.Set]
	set.Items++
	if r.words < max(x.o.MinWords, 1) {
		set.Short++
		return nil
	}
	it := r.item
	it.n, it.isWhole = seedLength(len(r.tokens)), r.words < wholeWords
	if uint64(len(x.tokens)+len(r.tokens)) >= noGram || uint64(len(x.answers)+len(r.answer)) >= noGram {
		return errors.New("the items have more than 4 billion tokens: take fewer evaluations at a time")
	}
	it.from, it.answerFrom = uint32(len(x.tokens)), uint32(len(x.answers))
	x.tokens, x.answers = append(x.tokens, r.tokens...), append(x.answers, r.answer...)
	it.to, it.answerTo = uint32(len(x.tokens)), uint32(len(x.answers))
	for range r.tokens {
		x.owner = append(x.owner, uint32(len(x.items)))
	}
	x.items = append(x.items, it)
	return nil
}

// setName returns the name of the set that a file belongs to. If an input is a folder that contains the file,
// this is the file or folder directly below the input. Otherwise it is the file itself.
func setName(inputs []string, source string) string {
	best := source
	for _, in := range inputs {
		in = strings.TrimRight(strings.ReplaceAll(in, `\`, "/"), "/")
		name, below := strings.CutPrefix(strings.ReplaceAll(source, `\`, "/"), in+"/")
		if !below {
			continue
		}
		top, _, _ := strings.Cut(name, "/")
		if name := source[:len(in)+1+len(top)]; len(name) < len(best) || best == source {
			best = name
		}
	}
	return best
}

// noGram is the number of an n-gram that does not exist.
const noGram = math.MaxUint32
