package passages

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/passages/plain"
	"example.org/ndd/engine/storage/disk"
)

// A Kind is what atoms are.
type Kind int

// The kinds.
const (
	Lines Kind = iota + 1
	Paragraphs
	Sentences
	Bytes
	Words // of package token, in normal form
)

var kindNames = [...]string{Lines: "line", Paragraphs: "paragraph", Sentences: "sentence", Bytes: "byte", Words: "word"}

// String returns the word for one atom.
func (k Kind) String() string { return kindNames[k] }

// A Unit is the kind of passages compared: windows of a number of atoms.
type Unit struct {
	Kind   Kind
	Length int
}

// Limits of lengths.
const (
	sentencesMax = 100
	BytesMin     = 16
	BytesMax     = 1 << 20
	WordsMin     = 3
	WordsMax     = BytesMax / wordBytes
)

// ParseUnit reads line, paragraph, sentences=3 and the like.
func ParseUnit(s string) (u Unit, err error) {
	name, number, given := strings.Cut(s, "=")
	u.Length = 1
	switch name {
	case "line":
		u.Kind = Lines
	case "paragraph":
		u.Kind = Paragraphs
	case "sentences":
		u = Unit{Sentences, 3}
		if given {
			if u.Length, err = strconv.Atoi(number); err != nil || u.Length < 1 || u.Length > sentencesMax {
				return u, fmt.Errorf("%q: must be sentences=1 to sentences=%d", s, sentencesMax)
			}
		}
		return u, nil
	}
	if u.Kind == 0 || given {
		return u, fmt.Errorf("%q: must be line, paragraph, or sentences=3 for three sentences in a row", s)
	}
	return u, nil
}

// wordBytes is how many bytes of a spool's text a word is: its hash.
const wordBytes = 8

// width returns how many bytes of the spool's text an atom is; 1 for units, of which it has no text.
func (u Unit) width() int {
	if u.Kind == Words {
		return wordBytes
	}
	return 1
}

// isString reports whether windows are found as strings.
func (u Unit) isString() bool { return u.Kind == Bytes || u.Kind == Words }

// String returns what ParseUnit reads, bytes=N or words=N.
func (u Unit) String() string {
	if u.Kind == Lines || u.Kind == Paragraphs {
		return u.Kind.String()
	}
	return fmt.Sprintf("%ss=%d", u.Kind, u.Length)
}

// Ignore is the set of differences that do not matter when units are compared.
type Ignore uint8

// The differences.
const (
	IgnoreSpace  Ignore = 1 << iota // how much white space there is, and which, and any at the ends
	IgnoreCase                      // upper and lower case: each character is taken to lower case by itself
	IgnoreDigits                    // which decimal digit it is: each is 0
	IgnoreWrap                      // the line ends inside a paragraph
	IgnoreMarkup                    // tags, marks of emphasis, addresses of links

	ignoreChars = IgnoreSpace | IgnoreCase | IgnoreDigits // of units only
)

// Plain returns what the plain form of a text leaves out; the marks at the beginnings of lines, too, unless words are
// compared.
func (i Ignore) Plain(words bool) (p plain.Ignore) {
	if i&IgnoreWrap != 0 && !words { // line ends are no part of words
		p |= plain.Wrap
	}
	if i&IgnoreMarkup != 0 {
		if p |= plain.Markup; !words {
			p |= plain.Lines
		}
	}
	return p
}

// DefaultIgnore returns what is ignored by default.
func (u Unit) DefaultIgnore() Ignore {
	switch {
	case u.isString():
		return 0
	case u.Kind == Sentences:
		return IgnoreSpace | IgnoreWrap
	}
	return IgnoreSpace
}

var ignoreNames = map[string]Ignore{"space": IgnoreSpace, "case": IgnoreCase, "digits": IgnoreDigits,
	"wrap": IgnoreWrap, "markup": IgnoreMarkup, "none": 0}

// ParseIgnore reads a list such as "case,space"; "none" is nothing.
func ParseIgnore(list string) (i Ignore, err error) {
	for name := range strings.SplitSeq(list, ",") {
		one, ok := ignoreNames[strings.TrimSpace(name)]
		if !ok {
			return 0, fmt.Errorf("%q: must be none, or some of case, space, digits, wrap and markup with commas between", list)
		}
		i |= one
	}
	return i, nil
}

// Options configures Find.
type Options struct {
	Unit   Unit
	Ignore Ignore // of strings IgnoreWrap and IgnoreMarkup only

	MinChars   int  // units with fewer characters, normalised, are left alone
	MinCount   int  // what stands at fewer places is left alone; at least 2
	AcrossOnly bool // what stands in one document only is left alone, and so is the first document's

	StrikeAll bool    // the first place goes, too
	MaxShare  float64 // of a document's text that may go; 0 is no limit
	Drop      bool    // a document of which more would go goes as a whole; else it stays as a whole
	CutWords  bool    // spans of strings begin and end with whole words, not only whole characters

	Threads     int
	MemoryBytes int64          // for marks; 0 is 256 MiB
	Budget      *memory.Budget // for one document with its lists, which is an error if they exceed it
	Disk        *disk.Disk
	Dir         string // for temporary files; "" is the system's
}

// check sets defaults and returns the first wrong option.
func (o *Options) check() error {
	u := o.Unit
	switch {
	case u.Kind == Bytes && (u.Length < BytesMin || u.Length > BytesMax):
		return fmt.Errorf("strings of %d bytes: must be %d to %d", u.Length, BytesMin, BytesMax)
	case u.Kind == Words && (u.Length < WordsMin || u.Length > WordsMax):
		return fmt.Errorf("strings of %d words: must be %d to %d", u.Length, WordsMin, WordsMax)
	case u.Kind < Lines || u.Kind > Words || u.Length < 1:
		return fmt.Errorf("no unit is given")
	case u.isString() && o.Ignore&ignoreChars != 0:
		return fmt.Errorf("of strings, only wrap and markup can be ignored")
	case o.MinCount == 1 || o.MinCount < 0 || uint64(o.MinCount) > countMax:
		return fmt.Errorf("a count of %d places: must be at least 2", o.MinCount)
	case !(o.MaxShare >= 0 && o.MaxShare <= 1):
		return fmt.Errorf("a share of %g: must be 0 to 1", o.MaxShare)
	}
	o.MinCount = max(o.MinCount, 2)
	o.MaxShare = cmp.Or(o.MaxShare, math.Inf(1))
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = 256 << 20
	}
	return nil
}
