package token

import (
	"fmt"
	"slices"
	"strings"
)

// Drop says what is taken out of a text before it is cut into tokens: parts that change from copy to copy while the text stays.
type Drop uint8

// What can be dropped.
const (
	DropURLs    Drop = 1 << iota // http://..., www....
	DropMarkup                   // <tags>, &entities;, targets of links in Markdown, fences of code
	DropNumbers                  // numbers that stand alone: 12, 3.5, 1,000
	DropDates                    // 2024-01-31, 31.12.2024, January 31, 2024, 2024年1月31日, and times of the day
)

var dropNames = []string{"urls", "markup", "numbers", "dates"}

// ParseDrop reads a list such as "urls,dates"; "" is nothing. [Drop.String] returns it in its one form.
func ParseDrop(list string) (d Drop, err error) {
	if list == "" {
		return 0, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(dropNames, strings.TrimSpace(name))
		if i < 0 {
			return 0, fmt.Errorf("%q: must be of %s", name, strings.Join(dropNames, ", "))
		}
		d |= 1 << i
	}
	return d, nil
}

// String returns the list that [ParseDrop] reads.
func (d Drop) String() string {
	var names []string
	for i, name := range dropNames {
		if d>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Append appends the text to dst with a space in place of what is dropped. Its time goes by the length of the text, whatever that
// is: about 20 ns a byte.
func (d Drop) Append(dst []byte, text string) []byte {
	p := parts{Drop: d, text: text}
	from := 0 // of what is not copied yet
	for i := 0; i < len(text); {
		n := p.match(i)
		if n == 0 {
			i++
			continue
		}
		dst = append(append(dst, text[from:i]...), ' ')
		i += n
		from = i
	}
	return append(dst, text[from:]...)
}

// parts finds what is dropped of a text. It remembers what was looked for far ahead and not found, so that it is not looked for
// again from the next place on.
type parts struct {
	Drop
	text      string
	noComment bool // ends from here on
	noNumber  int  // up to this byte: digits, points and commas that a letter follows
}

// match returns the length of what is dropped that begins at text[i], 0 if nothing does. i only grows from call to call.
func (p *parts) match(i int) (n int) {
	d, text := p.Drop, p.text
	c := text[i]
	switch {
	case d&DropMarkup != 0 && strings.HasPrefix(text[i:], "<!--"):
		return p.comment(text[i:])
	case d&DropMarkup != 0 && (c == '<' || c == '&' || c == ']' || c == '`'):
		return markup(text[i:])
	case !isWordByte(c) || i > 0 && isWordByte(text[i-1]):
		return 0
	case c >= '0' && c <= '9':
		if d&DropDates != 0 {
			n = date(text[i:])
		}
		if n == 0 && d&DropNumbers != 0 && i >= p.noNumber {
			n = p.numeral(i)
		}
	default:
		first := c | 0x20
		if d&DropURLs != 0 && (first == 'h' || first == 'w' || first == 'f') {
			n = url(text[i:])
		}
		if n == 0 && d&DropDates != 0 && strings.IndexByte("jfmasond", first) >= 0 {
			n = monthDate(text[i:])
		}
	}
	return n
}

// isWordByte tells ASCII letters and digits: what is dropped begins and ends at the border of a word.
func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// The longest pieces of markup that are looked for, in bytes.
const (
	tagBytesMax    = 4 << 10
	entityBytesMax = 10
)

// comment returns the length of the comment that s begins with, 0 if it does not end.
func (p *parts) comment(s string) int {
	if p.noComment {
		return 0
	}
	end := strings.Index(s, "-->")
	if p.noComment = end < 0; p.noComment {
		return 0
	}
	return end + len("-->")
}

// markup returns the length of a tag, entity, target of a link or fence at the start of s.
func markup(s string) int {
	switch s[0] {
	case '<':
		if len(s) < 3 || !(isLetter(s[1]) || s[1] == '!' || s[1] == '/' && isLetter(s[2])) {
			return 0
		}
		return until(s, '>', tagBytesMax)
	case '&':
		n := until(s, ';', entityBytesMax)
		for i := 1; i < n-1; i++ {
			if !isWordByte(s[i]) && (i > 1 || s[i] != '#') {
				return 0
			}
		}
		if n < 4 {
			return 0
		}
		return n
	case ']':
		if len(s) > 1 && s[1] == '(' {
			return until(s, ')', tagBytesMax)
		}
	case '`':
		n := len(s) - len(strings.TrimLeft(s, "`"))
		if n < 3 {
			return 0
		}
		for n < len(s) && isWordByte(s[n]) { // the language
			n++
		}
		return n
	}
	return 0
}

// until returns the length of s up to and with an end, 0 if that is not within so many bytes.
func until(s string, end byte, most int) int {
	return 1 + strings.IndexByte(s[:min(len(s), most)], end)
}

// url returns the length of an address at the start of s. It ends at white space, quotes, brackets and what is not ASCII.
func url(s string) int {
	known := false
	for _, start := range []string{"http://", "https://", "ftp://", "www."} {
		known = known || len(s) > len(start) && s[len(start)-1] == start[len(start)-1] && strings.EqualFold(s[:len(start)], start)
	}
	if !known {
		return 0
	}
	n := 0
	for n < len(s) && s[n] > ' ' && s[n] <= '~' && strings.IndexByte("\"'<>()[]{}|\\^`", s[n]) < 0 {
		n++
	}
	return len(strings.TrimRight(s[:n], ".,;:!?"))
}

// numeral returns the length of a number at text[i] that stands alone, with its points and commas.
func (p *parts) numeral(i int) int {
	s := p.text[i:]
	n := digits(s)
	for n+1 < len(s) && (s[n] == '.' || s[n] == ',') && isDigit(s[n+1]) {
		n += 1 + digits(s[n+1:])
	}
	if n < len(s) && isWordByte(s[n]) {
		p.noNumber = i + n // nor does one begin behind a point or comma of it
		return 0
	}
	return n
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// digits returns how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}
