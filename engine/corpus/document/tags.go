package document

import (
	"bytes"

	"golang.org/x/net/html"
)

// A tokenizer takes a page apart, as [html.Tokenizer] does.
type tokenizer interface {
	Next() html.TokenType
	Text() []byte
	TagName() (name []byte, hasAttributes bool)
	TagAttr() (key, value []byte, more bool)
}

// tags takes a page apart that is written as pages nearly always are, in a fraction of the time that html.Tokenizer takes, and to the same
// tokens. At anything else it gives up: broken tags, odd comments, scripts with comments, zero bytes.
type tags struct {
	page   []byte
	at     int
	gaveUp bool

	raw  string // element whose content is next, as text
	text []byte
	name []byte // of the last tag, in lower case
	more []byte // its attributes that are to come, and its end
	room [maxTagName]byte
}

const maxTagName = 32

// rawElements are those whose content is text up to their end tag, and whether entities are in it.
var rawElements = map[string]bool{"iframe": false, "noembed": false, "noframes": false, "noscript": false, "script": false, "style": false, "xmp": false,
	"textarea": true, "title": true}

// reset begins a page.
func (t *tags) reset(page []byte) {
	*t = tags{page: page, gaveUp: bytes.IndexByte(page, 0) >= 0}
}

// giveUp ends the tokens: another tokenizer has to begin again.
func (t *tags) giveUp() html.TokenType {
	t.gaveUp = true
	return html.ErrorToken
}

// Next returns the kind of the next token; html.ErrorToken at the end, or where it gives up.
func (t *tags) Next() html.TokenType {
	for !t.gaveUp {
		if t.raw != "" {
			if kind := t.rawText(); kind != 0 {
				return kind
			}
			continue
		}
		rest := t.page[t.at:]
		if len(rest) == 0 {
			return html.ErrorToken
		}
		if n := textEnd(rest); n > 0 {
			t.at += n
			t.text = plainText(rest[:n], true)
			return html.TextToken
		}
		switch c := rest[1]; {
		case isASCIILetter(c):
			return t.tag(1, html.StartTagToken)
		case c == '/':
			if len(rest) < 3 || !isASCIILetter(rest[2]) {
				return t.giveUp()
			}
			return t.tag(2, html.EndTagToken)
		default:
			if !t.declaration(rest) {
				return t.giveUp()
			}
		}
	}
	return html.ErrorToken
}

// textEnd returns how many bytes of text come before the next tag, comment or declaration.
func textEnd(b []byte) int {
	for at := 0; ; at++ {
		n := bytes.IndexByte(b[at:], '<')
		if n < 0 || at+n+1 == len(b) {
			return len(b)
		}
		at += n
		if c := b[at+1]; isASCIILetter(c) || c == '/' || c == '!' || c == '?' {
			return at
		}
	}
}

// plainText returns a text with entities and line ends replaced.
func plainText(b []byte, entities bool) []byte {
	if bytes.IndexByte(b, '\r') >= 0 {
		b = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	if entities && bytes.IndexByte(b, '&') >= 0 {
		b = []byte(html.UnescapeString(string(b)))
	}
	return b
}

// declaration passes over a comment, a document type or an instruction.
func (t *tags) declaration(b []byte) bool {
	end := -1
	switch {
	case bytes.HasPrefix(b, []byte("<!--")):
		if end = bytes.Index(b[4:], []byte("--")); end >= 0 {
			end += 4 + 2
			if end == 6 || b[4] == '>' || b[4] == '-' || end >= len(b) || b[end] != '>' {
				return false
			}
		}
	case b[1] == '?', isASCIILetter(b[min(2, len(b)-1)]):
		end = bytes.IndexByte(b, '>')
	}
	if end < 0 {
		return false
	}
	t.at += end + 1
	return true
}

// rawText returns the text up to an element's end tag, or 0 if there is none.
func (t *tags) rawText() html.TokenType {
	rest, name := t.page[t.at:], t.raw
	for at := 0; ; at++ {
		n := bytes.Index(rest[at:], []byte("</"))
		if n < 0 {
			return t.giveUp()
		}
		at += n
		after := at + 2 + len(name)
		if after >= len(rest) || !bytes.EqualFold(rest[at+2:after], []byte(name)) || !endsName(rest[after]) {
			continue
		}
		if name == "script" && bytes.Contains(rest[:at], []byte("<!--")) {
			return t.giveUp()
		}
		t.raw = ""
		t.at += at
		if at == 0 {
			return 0
		}
		t.text = plainText(rest[:at], rawElements[name])
		return html.TextToken
	}
}

// endsName says whether a name ends before a byte.
func endsName(c byte) bool { return c == '>' || c == '/' || isMarkupSpace(c) }

func isMarkupSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// tag takes a tag whose name begins at a byte.
func (t *tags) tag(from int, kind html.TokenType) html.TokenType {
	rest := t.page[t.at:]
	at := from
	for at < len(rest) && !endsName(rest[at]) {
		c := rest[at]
		if at-from == maxTagName || c >= 0x80 || c == '<' {
			return t.giveUp()
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		t.room[at-from] = c
		at++
	}
	t.name = t.room[:at-from]
	begin := at
	for {
		for at < len(rest) && isMarkupSpace(rest[at]) {
			at++
		}
		if at == len(rest) {
			return t.giveUp()
		}
		if rest[at] == '>' {
			break
		}
		if rest[at] == '/' {
			if at+1 == len(rest) || rest[at+1] != '>' {
				return t.giveUp()
			}
			if kind == html.StartTagToken {
				kind = html.SelfClosingTagToken
			}
			at++
			break
		}
		_, _, n := attribute(rest[at:])
		if n == 0 {
			return t.giveUp()
		}
		at += n
	}
	t.more = rest[begin : at+1]
	t.at += at + 1
	return t.opened(kind)
}

// opened notes an element whose content is raw.
func (t *tags) opened(kind html.TokenType) html.TokenType {
	if kind == html.EndTagToken {
		return kind
	}
	name := string(t.name)
	if _, raw := rawElements[name]; raw {
		t.raw = name
	}
	if name == "plaintext" {
		return t.giveUp()
	}
	return kind
}

// attribute takes an attribute and returns how many bytes it has, 0 where it is not written as attributes are.
func attribute(b []byte) (key, value []byte, n int) {
	for n < len(b) && !endsName(b[n]) && b[n] != '=' {
		if b[n] == '"' || b[n] == '\'' || b[n] == '<' {
			return nil, nil, 0
		}
		n++
	}
	key = b[:n]
	at := n
	for at < len(b) && isMarkupSpace(b[at]) {
		at++
	}
	if len(key) == 0 || at == len(b) {
		return nil, nil, 0
	}
	if b[at] != '=' {
		return key, nil, n
	}
	for at++; at < len(b) && isMarkupSpace(b[at]); at++ {
	}
	if at == len(b) {
		return nil, nil, 0
	}
	if quote := b[at]; quote == '"' || quote == '\'' {
		end := bytes.IndexByte(b[at+1:], quote)
		if end < 0 {
			return nil, nil, 0
		}
		return key, b[at+1 : at+1+end], at + end + 2
	}
	from := at
	for at < len(b) && !isMarkupSpace(b[at]) && b[at] != '>' {
		at++
	}
	if at == from || at == len(b) || b[at-1] == '/' {
		return nil, nil, 0
	}
	return key, b[from:at], at
}

// Text returns the text of the last token.
func (t *tags) Text() []byte { return t.text }

// TagName returns the name of the last tag.
func (t *tags) TagName() (name []byte, hasAttributes bool) {
	return t.name, t.next()
}

// TagAttr returns the next attribute of the last tag.
func (t *tags) TagAttr() (key, value []byte, more bool) {
	key, value, n := attribute(t.more)
	t.more = t.more[n:]
	if bytes.IndexByte(value, '&') >= 0 {
		t.gaveUp = true
	}
	return bytes.ToLower(key), plainText(value, false), n > 0 && t.next()
}

// next goes on to the next attribute and says whether there is one.
func (t *tags) next() bool {
	t.more = bytes.TrimLeft(t.more, " \n\t\r\f")
	return len(t.more) > 0 && t.more[0] != '/' && t.more[0] != '>'
}
