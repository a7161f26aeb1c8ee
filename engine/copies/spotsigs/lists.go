package spotsigs

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/corpus/token"
)

// Lists are the antecedents and the stop words of a language. Every antecedent is a stop word.
type Lists struct {
	name  string
	kinds map[uint64]uint64 // stop or antecedent, by the hash of the word
}

// The kinds of words.
const (
	content = iota
	stop
	antecedent
)

// Name returns the name of the lists, or of the file that they were read from.
func (l *Lists) Name() string { return l.name }

// Hashes returns the hashes of the antecedents and of the other stop words, each ascending.
func (l *Lists) Hashes() (antecedents, stops []uint64) {
	for hash, kind := range l.kinds {
		if kind == antecedent {
			antecedents = append(antecedents, hash)
		} else {
			stops = append(stops, hash)
		}
	}
	slices.Sort(antecedents)
	slices.Sort(stops)
	return antecedents, stops
}

// FromHashes returns the lists with the words that [Lists.Hashes] returned hashes of.
func FromHashes(name string, antecedents, stops []uint64) *Lists {
	l := &Lists{name: name, kinds: map[uint64]uint64{}}
	for _, h := range stops {
		l.kinds[h] = stop
	}
	for _, h := range antecedents {
		l.kinds[h] = antecedent
	}
	return l
}

// The words of the lists. All of them are stop words.
const (
	articles = "a an the"
	verbs    = `am is are was were be been being can could will would shall should may might must
		have has had having do does did doing`
	prepositions = `of in on at by for with from to into onto upon over under about above below between among against
		through during before after until since within without across toward towards up down out off`
	conjunctions = "and or but nor so yet if then else because while although though as than whether that"
	pronouns     = `i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
		this these those who whom whose which what when where why how`
	others = `not no only also very too just both each every either neither all any some few many much more most
		other another such same own here there again once myself yourself himself herself itself ourselves
		yourselves themselves`
)

// The lists that have a name.
var (
	// Paper has the best antecedents of the paper: articles, and forms of be, can, will, have and do.
	Paper = newLists("paper", articles+" "+verbs, all)
	// Wide adds prepositions, conjunctions and pronouns. It makes three times as many signatures, which find more
	// copies of short or technical texts and of texts with many lists.
	Wide = newLists("wide", strings.Join([]string{articles, verbs, prepositions, conjunctions, pronouns}, " "), all)
)

var all = strings.Join([]string{articles, verbs, prepositions, conjunctions, pronouns, others}, " ")

func newLists(name, antecedents, stops string) *Lists {
	l, err := makeLists(name, strings.Fields(antecedents), strings.Fields(stops))
	if err != nil {
		panic(err) // a word of this file is wrong
	}
	return l
}

// makeLists returns the lists of some words. The error names a string that is not one word.
func makeLists(name string, antecedents, stops []string) (*Lists, error) {
	scanner, err := token.NewScanner(token.Options{})
	if err != nil {
		return nil, err
	}
	l := &Lists{name: name, kinds: map[uint64]uint64{}}
	add := func(word string, kind uint64) error {
		n := 0
		scanner.Scan(word, func(batch []token.Token) {
			for i := range batch {
				n++
				l.kinds[signature.Key.Hash(scanner, &batch[i])] = kind
			}
		})
		if n != 1 {
			return fmt.Errorf("%s: %q is not one word", name, word)
		}
		return nil
	}
	for i, w := range slices.Concat(stops, antecedents) { // an antecedent may be among the stop words, too
		kind := uint64(stop)
		if i >= len(stops) {
			kind = antecedent
		}
		if err := add(w, kind); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// languages have lists of stop words in package token, and spaces between words. All stop words of such a list are
// antecedents.
var languages = []string{"ar", "de", "en", "es", "fr", "ru"}

// ByName returns the lists with a name, or an error with the known names.
func ByName(name string) (*Lists, error) {
	for _, l := range []*Lists{Paper, Wide} {
		if l.name == name {
			return l, nil
		}
	}
	if slices.Contains(languages, name) {
		return makeLists(name, token.StopWords(name), nil)
	}
	return nil, fmt.Errorf("no lists are called %q; there are paper, wide, %s", name, strings.Join(languages, ", "))
}

// ReadLists reads lists from a file with one word in each line: the antecedents, an empty line, and further stop words.
// Lines that begin with # are comments. The error names a line that is not a word, or says that there is no
// antecedent.
func ReadLists(r io.Reader, name string) (*Lists, error) {
	var antecedents, stops []string
	to := &antecedents
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		switch line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")); {
		case line == "":
			to = &stops
		case !strings.HasPrefix(line, "#"):
			*to = append(*to, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(antecedents) == 0 {
		return nil, fmt.Errorf("%s: no antecedents: a word a line, then an empty line, then further stop words", name)
	}
	return makeLists(name, antecedents, stops)
}
