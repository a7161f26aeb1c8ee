package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tagBytesMax is the maximum length of a start tag whose attributes are read. The tokenizer takes up to 50 bytes of
// memory for each byte of attributes, and each later start tag clears a table of that size.
const tagBytesMax = 256 << 10

// nameBytesMax is longer than the name of each element.
const nameBytesMax = 32

// A tagReader is a tokenizer of a page that takes linear time and stops when its context ends.
type tagReader struct {
	*html.Tokenizer
	ctx    context.Context
	page   []byte
	start  int    // offset of the token in page
	head   []byte // is read before rest
	unread []byte // the part of page that was not read yet
	kind   html.TokenType
}

func newTags(ctx context.Context, page []byte) *tagReader {
	t := &tagReader{ctx: ctx, page: page, unread: page}
	t.Tokenizer = html.NewTokenizer(t)
	return t
}

// Read implements [io.Reader] for the tokenizer.
func (t *tagReader) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	n := copy(p, t.head)
	m := copy(p[n:], t.unread)
	if t.head, t.unread = t.head[n:], t.unread[m:]; n+m == 0 {
		return 0, io.EOF
	}
	return n + m, nil
}

// next reads a token.
func (t *tagReader) next() html.TokenType {
	t.start += len(t.Raw())
	unread := t.page[t.start:]
	if len(unread) > tagBytesMax && unread[0] == '<' && isASCIILetter(unread[1]) && !t.isBeforeContent() {
		t.SetMaxBuf(tagBytesMax)
		t.kind = t.Next()
		if t.SetMaxBuf(0); errors.Is(t.Err(), html.ErrBufferExceeded) {
			t.shorten(unread)
			t.kind = t.Next()
		}
		return t.kind
	}
	t.kind = t.Next()
	return t.kind
}

// shorten makes a new tokenizer for the rest of a page, which begins with a start tag that is too long. It reads the
// tag without attributes.
func (t *tagReader) shorten(unread []byte) {
	name := tagName(unread[1:])
	t.head = fmt.Appendf(nil, "<%s>", name[:min(len(name), nameBytesMax)])
	t.unread = unread[tagBytes(unread):]
	t.start = len(t.page) - len(t.unread) - len(t.head)
	t.Tokenizer = html.NewTokenizer(t)
}

// isBeforeContent reports whether the token is the start tag of an element without tags in it, such as a script. Only
// this tokenizer can read the content of such an element.
func (t *tagReader) isBeforeContent() bool {
	if t.kind != html.StartTagToken {
		return false
	}
	switch t.element() {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script, atom.Style,
		atom.Textarea, atom.Title, atom.Xmp:
		return true
	}
	return false
}

// element returns the element of the tag that was read last, 0 if it is unknown. [html.Tokenizer.TagName]
// allocates memory, which takes a third of the time of a short tag.
func (t *tagReader) element() atom.Atom {
	name := tagName(t.Raw()[1:])
	var lower [nameBytesMax]byte
	if len(name) > len(lower) {
		return 0
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	return atom.Lookup(lower[:len(name)])
}

// tagName returns the name in a tag without its first byte.
func tagName(tag []byte) []byte {
	tag = bytes.TrimPrefix(tag, []byte("/"))
	for i, c := range tag {
		switch c {
		case ' ', '\n', '\r', '\t', '\f', '/', '>':
			return tag[:i]
		}
	}
	return tag
}

// tagBytes returns the length of the tag at the start of s. The tag ends at the first > outside quotation marks, which
// follow an equals sign.
func tagBytes(s []byte) int {
	quote, last := byte(0), byte(0)
	for i, c := range s {
		switch {
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '>':
			return i + 1
		case last == '=' && (c == '"' || c == '\''):
			quote = c
		}
		if c > ' ' {
			last = c
		}
	}
	return len(s)
}
