package plain

import (
	"errors"
	"strings"
	"testing"
)

// TestRead compares the plain form of texts, and the parts of the texts that its words are from.
func TestRead(t *testing.T) {
	all := Markup | Wrap | Lines
	for _, c := range []struct {
		ignore     Ignore
		text, want string
		word, part string // a part of the plain text, and the same in the text
	}{
		{all, "plain text, 2 < 3 & 4*5 of snake_case", "plain text, 2 < 3 & 4*5 of snake_case", "snake", "snake"},
		{Markup, "<p>One <b>bold</b> word<br/>here</p>", "\nOne bold word here\n", "bold word", "bold</b> word"},
		{Markup, `<a href="x>y" class='b'>a</a> <!-- no --><script>x("<")</script>z`, "a \nz", "z", "z"},
		{Markup, "List<String> and <stdio.h>", "List<String> and <stdio.h>", "and", "and"},
		{Markup, "List<String> in &lt;b&gt; &eacute;t&eacute;", "List<String> in <b> été", "été", "&eacute;t&eacute;"},
		{Markup, "a **bold** _word_ un*believ*able", "a **bold** word unbelievable", "word un", "word_ un"},
		{Markup | Lines, "a **bold** _word_ un*believ*able __init__ `x` ~~no~~ 2*3 * 4", "a bold word unbelievable init x no 2*3 * 4",
			"word un", "word_ un"},
		{Markup | Lines, "see [the page](https://example.org/a_b \"T\") and a[i](x)", "see the page and a[i](x)", "page and",
			"page](https://example.org/a_b \"T\") and"},
		{Markup | Lines, "```python\nx = 1\n```", "\nx = 1\n", "x = 1", "x = 1"},
		{all, "# Head\n\n> quoted text\n> goes on\n\n- item one\n- item two", "Head\n\nquoted text goes on\n\nitem one\nitem two",
			"text goes", "text\n> goes"},
		{Wrap, "one two three\nfour five six\nseven\n\nnext\n", "one two three four five six seven\n\nnext\n", "three four",
			"three\nfour"},
		{Wrap, "Heading\nA long line that follows the heading at once\n- item\n1. item", "Heading\nA long line that follows the heading " +
			"at once\n- item\n1. item", "Heading", "Heading"},
		{Wrap, "汉字汉字汉\n字汉字汉字", "汉字汉字汉字汉字汉字", "汉字汉字汉字", "汉字汉字汉\n字"},
		{Wrap, "a well-\nknown thing", "a well-known thing", "well-known", "well-\nknown"},
	} {
		r := NewReader(c.ignore, nil)
		for range 2 { // memory is used again
			got, _ := r.Read(c.text)
			offset := strings.Index(got, c.word)
			if got != c.want || offset < 0 {
				t.Errorf("%q: %q, want %q", c.text, got, c.want)
				break
			}
			if part := c.text[r.Start(offset):r.End(offset+len(c.word))]; part != c.part {
				t.Errorf("%q: %q is from %q, want %q", c.text, c.word, part, c.part)
			}
		}
	}
}

// TestRoom checks that the memory of the jumps is asked for before it is taken, and an error ends the reading.
func TestRoom(t *testing.T) {
	full, asked := errors.New("full"), 0
	r := NewReader(Markup, func(bytes int) error {
		if asked = bytes; bytes > 1<<13 {
			return full
		}
		return nil
	})
	if _, err := r.Read("</p>"); err != nil || r.JumpBytes() == 0 || r.JumpBytes() > asked {
		t.Errorf("%v, %d bytes, asked for %d", err, r.JumpBytes(), asked)
	}
	if _, err := r.Read(strings.Repeat("&amp;", 1000)); err != full || r.JumpBytes() > 1<<13 {
		t.Errorf("%v, %d bytes", err, r.JumpBytes())
	}
}

// FuzzRead checks that each place of a plain text is one of the text, in order.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"<b>a</b>&amp;\n> b **c** [d](e.f)\n\n`g`", "</<!--<p\n\n-\n* \n#", "[](.)[](", "```\n<script>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := NewReader(Markup|Wrap|Lines, nil)
		plain, _ := r.Read(text)
		last := 0
		for i := range len(plain) + 1 {
			if offset := r.Start(i); offset < last || offset > len(text)+8 || r.End(i) < 0 {
				t.Fatalf("%q to %q: %d is at %d after %d", text, plain, i, offset, last)
			} else {
				last = offset
			}
		}
	})
}
