package passages

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/passages/plain"
	"example.org/ndd/engine/storage/disk"
)

// A Kind is the kind of the atoms.
type Kind int

// The kinds.
const (
	Lines Kind = iota + 1
	Paragraphs
	Sentences
	Bytes
	Words // words of package token, in normal form
)

var kindNames = [...]string{Lines: "line", Paragraphs: "paragraph", Sentences: "sentence", Bytes: "byte", Words: "word"}

// String returns the name of one atom.
func (k Kind) String() string { return kindNames[k] }

// A Unit is the kind of passages to compare: windows of Length atoms.
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

// ParseUnit parses line, paragraph or sentences=3.
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

// wordBytes is the number of bytes of a word in the spool's text: it is stored as its hash.
const wordBytes = 8

// width returns the number of bytes of an atom in the spool's text. It is 1 for units, which have no text
// there.
func (u Unit) width() int {
	if u.Kind == Words {
		return wordBytes
	}
	return 1
}

// isString reports whether the windows are strings, of bytes or of words.
func (u Unit) isString() bool { return u.Kind == Bytes || u.Kind == Words }

// String returns the form that ParseUnit reads, or bytes=N or words=N.
func (u Unit) String() string {
	if u.Kind == Lines || u.Kind == Paragraphs {
		return u.Kind.String()
	}
	return fmt.Sprintf("%ss=%d", u.Kind, u.Length)
}

// Ignore is the set of differences to ignore when units are compared.
type Ignore uint8

// The differences.
const (
	IgnoreSpace  Ignore = 1 << iota // amount and kind of white space, and all white space at the ends
	IgnoreCase                      // upper and lower case; each character is converted to lower case by itself
	IgnoreDigits                    // values of decimal digits; each digit becomes 0
	IgnoreWrap                      // line ends inside a paragraph
	IgnoreMarkup                    // tags, marks of emphasis, link addresses

	ignoreChars = IgnoreSpace | IgnoreCase | IgnoreDigits // differences of characters
)

// Ignorable returns the differences that can be ignored between units of a kind.
func (k Kind) Ignorable() Ignore {
	switch k {
	case Bytes:
		return 0
	case Words:
		return IgnoreMarkup
	}
	return ignoreChars | IgnoreWrap | IgnoreMarkup
}

// plain returns the parts of a text that its plain form leaves out. For units it also leaves out the marks at the
// beginning of lines, which are no part of words.
func (o *Options) plain() (p plain.Ignore) {
	if o.Ignore&IgnoreWrap != 0 {
		p |= plain.Wrap
	}
	if o.Ignore&IgnoreMarkup != 0 {
		if p |= plain.Markup; !o.Unit.isString() {
			p |= plain.Lines
		}
	}
	return p
}

// DefaultIgnore returns the default set of differences to ignore.
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

// ParseIgnore parses a list such as "case,space". The name "none" adds nothing.
func ParseIgnore(list string) (i Ignore, err error) {
	for name := range strings.SplitSeq(list, ",") {
		ignore, ok := ignoreNames[strings.TrimSpace(name)]
		if !ok {
			return 0, fmt.Errorf("%q: must be none, or some of case, space, digits, wrap and markup with commas between", list)
		}
		i |= ignore
	}
	return i, nil
}

// String returns the form that ParseIgnore reads.
func (i Ignore) String() string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(ignoreNames)), func(name string) bool { return i&ignoreNames[name] == 0 })
	return cmp.Or(strings.Join(names, ","), "none")
}

// Options configures Find.
type Options struct {
	Unit   Unit
	Ignore Ignore // differences that [Kind.Ignorable] allows

	MinChars   int  // minimum number of characters of a unit, after normalisation; shorter units are ignored
	MinCount   int  // minimum number of occurrences of a passage; at least 2
	AcrossOnly bool // ignore passages of a single document, and keep all occurrences in the first document

	StrikeAll bool    // remove the first occurrence, too
	MaxShare  float64 // maximum share of a document's text to remove; 0 means no limit
	Drop      bool    // beyond MaxShare, drop the document instead of keeping all its text
	CutWords  bool    // spans of strings have whole words, not only whole characters

	Threads     int
	MemoryBytes int64          // memory for marks; 0 means 256 MiB
	Budget      *memory.Budget // limits the memory of one document with its lists; a larger document is an error
	Disk        *disk.Disk     // disk of the temporary files
}

// check sets defaults and returns an error for the first invalid option.
func (o *Options) check() error {
	u := o.Unit
	switch {
	case u.Kind == Bytes && (u.Length < BytesMin || u.Length > BytesMax):
		return fmt.Errorf("strings of %d bytes: must be %d to %d", u.Length, BytesMin, BytesMax)
	case u.Kind == Words && (u.Length < WordsMin || u.Length > WordsMax):
		return fmt.Errorf("strings of %d words: must be %d to %d", u.Length, WordsMin, WordsMax)
	case u.Kind < Lines || u.Kind > Words || u.Length < 1:
		return fmt.Errorf("no unit is given")
	case o.Ignore&^u.Kind.Ignorable() != 0:
		return fmt.Errorf("differences that cannot be ignored between %ss", u.Kind)
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
