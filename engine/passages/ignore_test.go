package passages

import (
	"html"
	"math/rand/v2"
	"strings"
	"testing"
)

// article returns sentences of invented words; the end of each is a full stop and a space.
func article(rng *rand.Rand, sentences int) string {
	var b strings.Builder
	for range sentences {
		for i := range 8 + rng.IntN(10) {
			if i > 0 {
				b.WriteByte(' ')
			}
			for range 2 + rng.IntN(3) {
				b.WriteByte("bdfgklmnprst"[rng.IntN(12)])
				b.WriteByte("aeiou"[rng.IntN(5)])
			}
		}
		b.WriteString(". ")
	}
	return strings.TrimSpace(b.String())
}

// wrapped returns a text with lines of at most some characters.
func wrapped(text string, width int) string {
	var b strings.Builder
	length := 0
	for _, word := range strings.Fields(text) {
		if length > 0 && length+1+len(word) > width {
			b.WriteByte('\n')
			length = 0
		} else if length > 0 {
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	return b.String()
}

// marked returns a text with some words in marks.
func marked(rng *rand.Rand, text string, marks ...[2]string) string {
	words := strings.Fields(text)
	for i := range words {
		if words[i] = html.EscapeString(words[i]); rng.IntN(4) == 0 {
			m := marks[rng.IntN(len(marks))]
			words[i] = m[0] + words[i] + m[1]
		}
	}
	return strings.Join(words, " ")
}

// TestIgnore checks the share of an article's copy that is found after its layout was changed. Spans are ranges of the
// original text.
func TestIgnore(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	text := article(rng, 60)
	tags := "<html><body><p>" + marked(rng, text, [2]string{"<b>", "</b>"}, [2]string{`<a href="https://example.org/x?y=1&amp;z" class="q">`, "</a>"},
		[2]string{"", "<br/>"}, [2]string{"<!-- é -->", ""}) + "</p></body></html>"
	markdown := "# Title\n\n" + marked(rng, text, [2]string{"**", "**"}, [2]string{"_", "_"}, [2]string{"[", "](https://example.org/é_b)"},
		[2]string{"`", "`"})
	for _, c := range []struct {
		name     string
		unit     Unit
		copy     string
		shareMin float64 // share of the copy's words in spans
	}{
		{"wrapped lines", Unit{Sentences, 1}, wrapped(text, 50), 0.95},
		{"wrapped lines", Unit{Sentences, 3}, wrapped(text, 72), 0.95},
		{"tags", Unit{Words, 20}, tags, 0.95},
		{"markdown", Unit{Words, 20}, markdown, 0.95},
		{"markdown", Unit{Sentences, 1}, markdown, 0.95},
		{"markdown in wrapped lines", Unit{Sentences, 1}, wrapped(strings.TrimPrefix(markdown, "# Title"), 60), 0.9},
	} {
		o := Options{Unit: c.unit, Ignore: (IgnoreSpace | IgnoreWrap | IgnoreMarkup) & c.unit.Kind.Ignorable()}
		r := find(t, writeDocs(t, []string{text, c.copy}), o)
		var cut strings.Builder
		for _, x := range r.Document(1).Cuts {
			cut.WriteString(c.copy[x.From:x.To] + " ")
		}
		if share := float64(cut.Len()) / float64(len(c.copy)); share < c.shareMin || share > 1.01 {
			t.Errorf("%s, %s: %.3f of the copy is cut", c.name, c.unit, share)
		}
		for s := range r.Spans(1) {
			part := c.copy[s.From:s.To]
			if s.FromChar != len([]rune(c.copy[:s.From])) || s.ToChar-s.FromChar != len([]rune(part)) {
				t.Errorf("%s, %s: span %+v has other characters", c.name, c.unit, s)
			}
			first := strings.Fields(text[s.First.From:])[0]
			if words := strings.Fields(part); !strings.Contains(strings.Join(words[:min(3, len(words))], " "), strings.Trim(first, ".")) {
				t.Errorf("%s, %s: %.40q begins in the first document with %q", c.name, c.unit, part, first)
			}
		}
	}
}
