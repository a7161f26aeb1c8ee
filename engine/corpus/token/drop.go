package token

import (
	"fmt"
	"slices"
	"strings"
)

// Drop is the set of parts that are removed from a text before it is split. These parts differ between copies of the
// same text.
type Drop uint8

// The parts that can be dropped.
const (
	DropURLs    Drop = 1 << iota // http://..., www....
	DropMarkup                   // <tags>, &entities;, targets of links in Markdown, fences of code
	DropNumbers                  // numbers that are not part of a word: 12, 3.5, 1,000
	DropDates                    // 2024-01-31, 31.12.2024, January 31, 2024, 2024年1月31日, and times of the day
)

var dropNames = []string{"urls", "markup", "numbers", "dates"}

// ParseDrop reads a list such as "urls,dates". The empty list is "". [Drop.String] returns the list in canonical
// form.
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

// Append appends the text to dst with a space in place of each dropped part. It takes about 20 ns a byte for any
// text.
func (d Drop) Append(dst []byte, text string) []byte {
	p := parts{Drop: d, text: text}
	from := 0 // start of the text that is not yet copied
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

// parts finds the dropped parts of a text. It remembers failed searches that read far ahead, so that they are not
// repeated at the next byte.
type parts struct {
	Drop
	text      string
	noComment bool // no comment ends from here on
	noNumber  int  // no number starts before this byte: digits, points and commas that a letter follows
}

// match returns the length of the dropped part that begins at text[i], or 0. From call to call, i must increase.
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

// isWordByte reports whether c is an ASCII letter or digit. A dropped part begins and ends at the boundary of a word.
func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// Maximum lengths of markup, in bytes. Longer pieces are not recognised.
const (
	tagBytesMax    = 4 << 10
	entityBytesMax = 10
)

// comment returns the length of the comment at the start of s, or 0 if the comment does not end.
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

// markup returns the length of the tag, entity, link target or code fence at the start of s, or 0 if there is none.
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
		for n < len(s) && isWordByte(s[n]) { // the language of the code
			n++
		}
		return n
	}
	return 0
}

// until returns the length of s up to and including end, or 0 if the first most bytes do not contain end.
func until(s string, end byte, limit int) int {
	return 1 + strings.IndexByte(s[:min(len(s), limit)], end)
}

// url returns the length of the address at the start of s. The address ends at white space, quotes, brackets and
// bytes beyond ASCII.
func url(s string) int {
	known := false
	for _, start := range []string{"http://", "https://", "ftp://", "www."} {
		n := len(start)
		known = known || len(s) > n && s[n-1] == start[n-1] && strings.EqualFold(s[:n], start)
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

// numeral returns the length of the number at text[i], with its points and commas, or 0 if it is part of a word.
func (p *parts) numeral(i int) int {
	s := p.text[i:]
	n := digits(s)
	for n+1 < len(s) && (s[n] == '.' || s[n] == ',') && isDigit(s[n+1]) {
		n += 1 + digits(s[n+1:])
	}
	if n < len(s) && isWordByte(s[n]) {
		p.noNumber = i + n // no number begins after one of its points or commas either
		return 0
	}
	return n
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// digits returns the number of digits at the start of s.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// date returns the length of a date or a time of day at the start of s, or 0 if there is none. s begins with a digit.
//
//	2024-01-31   2024/1/31   31.12.2024   12/31/24   2024年1月31日   1月31日   31 January 2024   12:30:59
func date(s string) int {
	a := digits(s)
	if a > 4 || a == len(s) {
		return 0
	}
	rest := s[a:]
	switch {
	case a <= 2 && rest[0] == ':':
		return timeOfDay(s)
	case rest[0] == '-' || rest[0] == '/' || rest[0] == '.':
		b := digits(rest[1:])
		if b < 1 || b > 2 || len(rest) < b+3 || rest[1+b] != rest[0] {
			return 0
		}
		c := digits(rest[b+2:])
		n := a + b + c + 2
		if !(a == 4 && (c == 1 || c == 2) || a <= 2 && (c == 2 || c == 4)) || n < len(s) && isLetter(s[n]) && s[n] != 'T' {
			return 0
		}
		if n+1 < len(s) && s[n] == 'T' {
			n += 1 + timeOfDay(s[n+1:])
		}
		return n
	case a == 4 && strings.HasPrefix(rest, "年"):
		return a + len("年") + chineseDay(rest[len("年"):])
	case a <= 2:
		if n := chineseDay(s); n > 0 {
			return n
		}
		return dayMonth(s, a)
	}
	return 0
}

// chineseDay returns the length of a month with an optional day, such as 1月31日.
func chineseDay(s string) int {
	m := digits(s)
	if m < 1 || m > 2 || !strings.HasPrefix(s[m:], "月") {
		return 0
	}
	n := m + len("月")
	if d := digits(s[n:]); d >= 1 && d <= 2 && strings.HasPrefix(s[n+d:], "日") {
		return n + d + len("日")
	}
	return n
}

// timeOfDay returns the length of 12:30 or 12:30:59, with the optional fraction and time zone of RFC 3339.
func timeOfDay(s string) int {
	h := digits(s)
	if h < 1 || h > 2 || h+3 > len(s) || s[h] != ':' || digits(s[h+1:]) != 2 {
		return 0
	}
	n := h + 3
	if n+3 <= len(s) && s[n] == ':' && digits(s[n+1:]) == 2 {
		n += 3
		if n+1 < len(s) && s[n] == '.' {
			n += 1 + digits(s[n+1:])
		}
	}
	if n < len(s) && s[n] == 'Z' {
		n++
	} else if n+6 <= len(s) && (s[n] == '+' || s[n] == '-') && digits(s[n+1:]) == 2 && s[n+3] == ':' &&
		digits(s[n+4:]) == 2 {
		n += 6
	}
	return n
}

var months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
	"october", "november", "december"}

// month returns the length of the name of a month at the start of s. The name may be whole or abbreviated to its
// first three letters, with an optional point.
func month(s string) int {
	n := 0
	for n < len(s) && n <= len("september") && isLetter(s[n]) {
		n++
	}
	if n < 3 {
		return 0
	}
	for _, name := range months {
		if strings.EqualFold(s[:n], name) || n == 3 && strings.EqualFold(s[:n], name[:3]) || n == 4 &&
			strings.EqualFold(s[:n], "sept") {
			if n < len(name) && n < len(s) && s[n] == '.' {
				n++
			}
			return n
		}
	}
	return 0
}

// monthDate returns the length of a date such as January 31, 2024, or Jan 31, or January 2024.
func monthDate(s string) int {
	m := month(s)
	if m == 0 || m == len(s) || s[m] != ' ' {
		return 0
	}
	d := digits(s[m+1:])
	if d == 4 {
		return m + 5
	}
	if d < 1 || d > 2 {
		return 0
	}
	n := m + 1 + d + ordinal(s[m+1+d:])
	return n + year(s[n:])
}

// dayMonth returns the length of a date such as 31 January 2024 or 31st January; day is the number of its first
// digits.
func dayMonth(s string, day int) int {
	n := day + ordinal(s[day:])
	if n == len(s) || s[n] != ' ' {
		return 0
	}
	m := month(s[n+1:])
	if m == 0 {
		return 0
	}
	n += 1 + m
	return n + year(s[n:])
}

// ordinal returns the length of st, nd, rd or th at the start of s, or 0.
func ordinal(s string) int {
	if len(s) >= 2 && (len(s) == 2 || !isWordByte(s[2])) {
		switch s[:2] {
		case "st", "nd", "rd", "th":
			return 2
		}
	}
	return 0
}

// year returns the length of a year that follows a day and month, including the comma and space before it.
func year(s string) int {
	n := 0
	if n < len(s) && s[n] == ',' {
		n++
	}
	if n < len(s) && s[n] == ' ' && digits(s[n+1:]) == 4 {
		return n + 5
	}
	return 0
}
