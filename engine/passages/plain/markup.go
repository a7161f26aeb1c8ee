package plain

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Maximum bytes of markup.
const (
	tagMax       = 1024
	referenceMax = 32
	linkMax      = 1024
	fenceMax     = 32
)

// inline has the tags that do not end a word.
var inline = map[string]bool{"a": true, "abbr": true, "b": true, "bdi": true, "bdo": true, "big": true, "cite": true, "code": true,
	"del": true, "dfn": true, "em": true, "font": true, "i": true, "ins": true, "kbd": true, "label": true, "mark": true,
	"q": true, "s": true, "samp": true, "small": true, "span": true, "strike": true, "strong": true, "sub": true,
	"sup": true, "tt": true, "u": true, "var": true, "wbr": true}

// tag implements leave for '<'.
func (r *Reader) tag(offset int) (size int, replacement string) {
	// Find out once for each text whether it has tags.
	if r.tagged == 0 {
		r.tagged = -1
		for _, sign := range []string{"</", "<br", "<p>"} {
			if strings.Contains(r.text, sign) {
				r.tagged = 1
			}
		}
	}
	text := r.text[offset:]
	if r.tagged < 0 {
		return 0, ""
	}
	// A comment ends at its own mark.
	if strings.HasPrefix(text, "<!--") {
		if end := r.find(offset, "-->"); end >= 0 {
			return end + 3 - offset, ""
		}
		return 0, ""
	}
	// A tag becomes white space, unless it is inside a sentence.
	name := tagName(text)
	size = tagSize(text)
	if name == "" || size == 0 {
		return 0, ""
	}
	switch {
	case name == "script" || name == "style":
		if end := r.find(offset, "</"+name); end > 0 {
			size = end - offset + tagSize(r.text[end:])
		}
	case inline[name], name == "br" && size < len(text) && text[size] <= ' ':
		return size, ""
	case name == "br":
		return size, " "
	}
	return size, "\n"
}

// find returns the offset of a string after a mark, or -1. It searches text without the string only once.
func (r *Reader) find(offset int, s string) int {
	if from, ok := r.absent[s]; ok && offset >= from {
		return -1
	}
	if i := strings.Index(r.text[offset:], s); i >= 0 {
		return offset + i
	}
	r.absent[s] = offset
	return -1
}

// tagName returns the name of the tag at the beginning of a text, in lower case, or "".
func tagName(text string) string {
	text = strings.TrimPrefix(strings.TrimPrefix(text[1:min(len(text), 40)], "/"), "!")
	n := strings.IndexFunc(text, func(r rune) bool { return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '-' })
	if n <= 0 || text[0]|0x20 < 'a' || !strings.ContainsRune(" \t\r\n/>", rune(text[n])) {
		return ""
	}
	return strings.ToLower(text[:n])
}

// tagSize returns the length of the tag at the beginning of a text, or 0.
func tagSize(text string) int {
	text = text[:min(len(text), tagMax)]
	quote := byte(0)
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && text[i-1] == '=':
			quote = c
		case c == '>':
			return i + 1
		case c == '<':
			return 0
		}
	}
	return 0
}

// reference implements leave for '&'.
func reference(text string) (size int, replacement string) {
	end := strings.IndexByte(text[:min(len(text), referenceMax)], ';')
	if end < 0 {
		return 0, ""
	}
	if replacement = html.UnescapeString(text[:end+1]); replacement == text[:end+1] {
		return 0, ""
	}
	return end + 1, replacement
}

// linkBegin returns 1 if the bracket at an offset begins a link, and otherwise 0.
func (r *Reader) linkBegin(offset int) int {
	text := r.text[offset:min(len(r.text), offset+linkMax)]
	if end := strings.IndexByte(text, ']'); end > 0 && linkEnd(r.text[offset+end:]) > 0 {
		return 1
	}
	return 0
}

// linkEnd returns the length of the end of a link at the beginning of a text: "](", an address, and ")". It returns 0
// if there is no address, because an index in a program is no link.
func linkEnd(text string) int {
	text = text[:min(len(text), linkMax)]
	if !strings.HasPrefix(text, "](") {
		return 0
	}
	end := strings.IndexByte(text, ')')
	if end < 0 || !strings.ContainsAny(text[2:end], "/.#:") || strings.ContainsAny(text[2:end], "\n(") {
		return 0
	}
	if address, title, _ := strings.Cut(text[2:end], " "); address == "" || title != "" && title[0] != '"' {
		return 0
	}
	return end + 1
}

// emphasis returns the length of the marks at an offset that are left out.
func (r *Reader) emphasis(offset int) int {
	c, end := r.text[offset], offset
	if offset > 0 && r.text[offset-1] == c {
		return 0 // the run was looked at from its beginning
	}
	for end < len(r.text) && r.text[end] == c {
		end++
	}
	// Look at the characters before and after the run of marks.
	n := end - offset
	before, _ := utf8.DecodeLastRuneInString(r.text[:offset])
	after, _ := utf8.DecodeRuneInString(r.text[end:])
	edge := func(r rune, place bool) bool { return place || unicode.IsSpace(r) }
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	atBegin, atEnd := edge(before, offset == 0), edge(after, end == len(r.text))
	// Decide by the mark, its number and its neighbours.
	switch {
	case c == '`' && n >= 3:
		line, _, _ := strings.Cut(r.text[end:min(len(r.text), end+fenceMax)], "\n")
		if strings.TrimFunc(line, func(r rune) bool { return word(r) || r == '\r' || r == '-' || r == '+' }) == "" && atBegin {
			return n + len(line)
		}
		return n
	case c == '`':
		return n
	case c == '*' && r.ignore&Lines == 0 && !(word(before) && word(after)):
		return 0
	case n > 3 || c == '~' && n != 2 || atBegin && atEnd:
		return 0
	case word(before) && word(after) && (c == '_' || unicode.IsNumber(before) || unicode.IsNumber(after)):
		return 0
	}
	return n
}

// isItem reports whether a line begins as a list item.
func isItem(line string) bool {
	n := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if n > 0 && n < 4 {
		return strings.HasPrefix(line[n:], ". ") || strings.HasPrefix(line[n:], ") ")
	}
	r, size := utf8.DecodeRuneInString(line)
	return strings.ContainsRune("-*+•#", r) && (strings.HasPrefix(line[size:], " ") || r == '#')
}

// lineMarks returns the offset after the marks of a heading, a list item or a quotation at the beginning of a line.
func (r *Reader) lineMarks(offset int) int {
	text := r.text[offset:]
	trimmed := strings.TrimLeft(text, " \t")
	marks := strings.TrimLeft(trimmed, ">")
	if strings.HasPrefix(trimmed, "#") {
		marks = strings.TrimLeft(trimmed, "#")
	} else if trimmed != "" && strings.IndexByte("-*+", trimmed[0]) >= 0 {
		marks = trimmed[1:]
	}
	if n := len(trimmed) - len(marks); n == 0 || n > 6 || marks == "" || marks[0] != ' ' {
		return offset
	}
	return offset + len(text) - len(strings.TrimLeft(marks, " "))
}
