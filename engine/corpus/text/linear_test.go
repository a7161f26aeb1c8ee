package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.org/ndd/engine/oracle/must"
)

// repeated returns a form of repeated text.
func repeated(text string) func(size int) string {
	return func(size int) string { return strings.Repeat(text, size/len(text)) }
}

// attributeNames returns different names of attributes.
func attributeNames(size int) string {
	var b strings.Builder
	for i := int64(0); b.Len() < size; i++ {
		b.WriteString(strconv.FormatInt(i, 36) + " ")
	}
	return b.String()
}

// TestLinear checks that no page and no text takes more than linear time.
func TestLinear(t *testing.T) {
	forms := map[string]func(int) string{
		"attributes": func(size int) string { return "<a " + attributeNames(size) + ">" },
		"attributes, then tags with one": func(size int) string {
			return "<a " + attributeNames(size/2) + ">" + repeated("<a b>")(size/2)
		},
		"regions, then ends of others": func(size int) string {
			return repeated("<main><div class=nav>")(size/2) + repeated("</nav></ul>")(size/2)
		},
		"regions, then links": func(size int) string { return repeated("<nav>")(size/2) + repeated("<a>x</a>y")(size/2) },
		"nested":              func(size int) string { return repeated("<article>x")(size/2) + repeated("</article>")(size/2) },
		"name":                func(size int) string { return "<" + repeated("a")(size) },
		"word":                func(size int) string { return "<p>&" + repeated("a")(size) },
	}
	for _, text := range []string{"<main>", "<article>x", "<nav>x", "<menu>x</menu>y", "<div role=main>x", "<p class=toc>",
		"<main>x</nav>y", "<table><tr><td class=menu>x", "<select><option>x", "<b><i>x</b></i>", "<svg><p>x", "<object>x",
		"<object><audio><video><canvas>x", "<script>", "<script><!--", "<title></", "<a <a ", "<a b='", "<!--", "<!", "<?",
		"</", "<", "]]>", "&", "&#", "&amp", "&CounterClockwise", "\r", "\x00", "\xff", "é\xff", "\x81", "\xa4\xa2 a"} {
		forms[text] = repeated(text)
	}
	for name, form := range forms {
		must.Linear(t, form, func(page string) {
			decoded(t, page, Declaration{Kind: Page, Extraction: ExtractAuto})
			decoded(t, page, Declaration{})
		})
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestLongTags checks that a start tag that is too long, as one of many attributes, changes nothing around it.
func TestLongTags(t *testing.T) {
	many, long := attributeNames(1000), attributeNames(2*tagBytesMax)
	for _, c := range []struct{ page, want string }{
		{"a<b %s c='>'>d</b><nav>e", "ad\ne"},
		{"a<div %s x=\"<p>'>\">d</div><nav>e", "a\nd\ne"},
		{"a<script %s><p b></script>d<p %[1]s>e", "ad\ne"},
		{"a<textarea %s><p b></textarea>d<p>e", "a\n<p b>\nd\ne"},
		{"a<p %s", "a"},
		{"a<p %s /><i>b", "a\nb"},
	} {
		for _, attributes := range []string{many, long} {
			if doc := pageOf(t, fmt.Sprintf(c.page, attributes)); doc.Text != c.want {
				t.Errorf("%s with %d bytes: %q, want %q", c.page, len(attributes), doc.Text, c.want)
			}
		}
	}
}

// endingContext ends when it has been asked a number of times.
type endingContext struct {
	context.Context
	callsLeft int
}

func (c *endingContext) Err() error {
	if c.callsLeft--; c.callsLeft < 0 {
		return context.Canceled
	}
	return nil
}

// TestDecodeStops checks that a context ends the decoding within a page.
func TestDecodeStops(t *testing.T) {
	page := repeated("<p>some words ")(1 << 20)
	ctx := &endingContext{t.Context(), 3}
	if doc, err := new(Decoder).Decode(ctx, []byte(page), Declaration{Kind: Page}); !errors.Is(err, context.Canceled) ||
		ctx.callsLeft < -5 {
		t.Errorf("%d bytes, %v, asked %d times too often", len(doc.Text), err, -ctx.callsLeft)
	}
}

// TestRepair checks that each run of invalid bytes becomes one character, in memory of the right size.
func TestRepair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "中", "\xff", "\xe4\xb8", "\x80", "\ufffd",
			"\U0001f600"})).Draw(t, "parts"), ""))
		text, repaired := repair(raw)
		want := bytes.ToValidUTF8(raw, []byte("\ufffd"))
		if !bytes.Equal(text, want) || repaired != bytes.Count(want, []byte("\ufffd"))-bytes.Count(raw, []byte("\ufffd")) {
			t.Fatalf("%q: %q, %d, want %q", raw, text, repaired, want)
		}
	})
}
