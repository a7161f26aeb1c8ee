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

// Fields that hold a question and its answer where the options name none, in the order in which
// they are looked for; the fields of texts follow. Of a list of answers the first one counts.
var (
	QuestionFields = []string{"question", "problem", "prompt", "query"}
	AnswerFields   = []string{"answer", "solution", "canonical_solution", "target", "answers", "answers.text[]",
		"answers[]", "answer[]"}
)

// Options configures the items looked for and the hits.
type Options struct {
	Question, Answer string // fields of items; "" is the first of QuestionFields, of AnswerFields

	MinWords  int     // items with fewer words are left out; 0 is 5
	Threshold float64 // the least score of a hit; 0 is 0.8
	Ignore    plain.Ignore
	Common    int // documents with an n-gram beyond which more do not lower its weight; 0 is 100

	Budget *memory.Budget // for one document with its tokens, which is an error if they exceed it
}

// The defaults, and limits.
const (
	DefaultMinWords  = 5
	DefaultThreshold = 0.8
	DefaultCommon    = 100
	wholeWords       = 8 // items with fewer are found only as a whole
)

// withDefaults fills in empty options and refuses invalid ones.
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

// seedLength returns n for an item with a number of tokens.
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
	Line       int // as format.Document has it
	Set        int // number of its Set

	from, to             uint32 // of Items.tokens
	answerFrom, answerTo uint32 // of Items.answers
	n                    int
	whole                bool // it is found only as a whole
}

// Tokens returns how many tokens the item has.
func (it *Item) Tokens() int { return int(it.to - it.from) }

// HasAnswer reports whether the item has an answer.
func (it *Item) HasAnswer() bool { return it.answerTo > it.answerFrom }

// A Set is an evaluation: a file, or a folder directly in one that was named.
type Set struct {
	Name   string
	Items  int // all
	Short  int // of these, left out because they have too few words
	Shared int // of these, left out because each of their n-grams stands in items more than 32 times

	// Of a Result.
	Phrases   int // items of fewer than 8 words that are too common to be hits
	Met       int // items with hits
	Answered  int // of these, those with their answer near in some document
	Documents int // with hits
}

// Items are the items of evaluations, ready to be found. They may be used by many goroutines.
type Items struct {
	Sets []Set

	o       Options
	items   []Item
	tokens  []uint64 // of the items, one behind the other
	answers []uint64
	sharing []uint32 // for each token, the items that have it before the same next ones, rareTokens together
	owner   []uint32 // for each token, its item
	gram    []uint32 // for each token, the n-gram that begins with it, or noGram
	table   table
}

// Answers returns how many of them have an answer.
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
	starts  []int // of tokens, as bytes of the plain text
	ends    []int
	chars   int // tokens that are characters
	budget  *memory.Budget
	err     error // of take
}

// tokenBytes is the memory that a token of a document takes, with what [table.windows] keeps of it.
const tokenBytes = 40

func newTokeniser(ctx context.Context, ignore plain.Ignore) (*tokeniser, error) {
	scanner, err := token.NewScanner(token.Options{})
	scanner.Until(ctx)
	return &tokeniser{scanner: scanner, plain: plain.NewReader(ignore)}, err
}

func (k *tokeniser) take(text string) {
	k.hashes, k.starts, k.ends, k.chars, k.err = k.hashes[:0], k.starts[:0], k.ends[:0], 0, nil
	k.scanner.Scan(k.plain.Read(text), func(tokens []token.Token) {
		if n := len(k.hashes); n+len(tokens) > cap(k.hashes) && k.err == nil {
			all := float64(n) * float64(len(text)) / float64(tokens[0].Start+1) // by those so far
			k.err = k.budget.Check("a text of "+humanize.IBytes(uint64(len(text))), uint64(2*len(text)+tokenBytes*int(all)))
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

// ReadItems reads the items of evaluations: of cfg it uses the limits and threads. The report is
// valid with an error, too.
func ReadItems(ctx context.Context, inputs []string, cfg ingest.Config, o Options) (*Items, ingest.Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, ingest.Report{}, err
	}
	cfg.Document.TextField, cfg.Document.PreferText = o.Question, QuestionFields
	cfg.Document.ValueFields, cfg.Document.FirstValue = [][]string{AnswerFields}, true
	if o.Answer != "" {
		cfg.Document.ValueFields = [][]string{{o.Answer}}
	}
	x := &Items{o: o}
	numbers := map[string]int{}
	report, err := ingest.Extract(ctx, inputs, cfg, ingest.Steps[readItem]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (readItem, error), error) {
			k, err := newTokeniser(ctx, o.Ignore)
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
	x.build(cfg.Threads)
	x.countRows(cfg.Threads)
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
	it.n, it.whole = seedLength(len(r.tokens)), r.words < wholeWords
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

// setName returns the name of the set that a file belongs to: the file, or the folder or file right
// below an input that is a folder.
func setName(inputs []string, source string) string {
	best := source
	for _, in := range inputs {
		in = strings.TrimRight(strings.ReplaceAll(in, `\`, "/"), "/")
		rest, below := strings.CutPrefix(strings.ReplaceAll(source, `\`, "/"), in+"/")
		if !below {
			continue
		}
		top, _, _ := strings.Cut(rest, "/")
		if name := source[:len(in)+1+len(top)]; len(name) < len(best) || best == source {
			best = name
		}
	}
	return best
}

// noGram is the number of no n-gram.
const noGram = math.MaxUint32
