package passages

import (
	"strings"
	"testing"
	"unicode"
)

// TestApart removes the text in brackets. The words on both sides of a cut are not joined, and at most one
// character of the cut remains.
func TestApart(t *testing.T) {
	for _, test := range [][2]string{
		{"beta three[ the fox ]gamma", "beta three gamma"},
		{"three[\nthe fox\n]gamma", "three\ngamma"},
		{"three[\r\nthe fox\r\n]gamma", "three\r\ngamma"},
		{"three[\tthe fox ]gamma", "three\tgamma"},
		{"three[, the fox\t]gamma", "three\tgamma"},
		{"three[\u3000the fox\u00a0]gamma", "three\u3000gamma"},
		{"three [the fox ]gamma", "three gamma"},
		{"three[ the fox] gamma", "three gamma"},
		{"three,[ the fox ]gamma", "three, gamma"},
		{"three[, the fox.]gamma", "three gamma"},
		{"three[,fox.]gamma", "three,gamma"},
		{"three[漢字]gamma", "three漢gamma"},
		{"漢字[很 長的]文章", "漢字文章"},
		{"漢字[ 很長的]文章", "漢字 文章"},
		{"é[ the fox ]ü[ the fox ]3", "é ü 3"},
		{"one[ the fox ]-[ the fox ]two", "one - two"},
		{"one[ ]two", "one two"},
		{"[the fox ]gamma", "gamma"},
		{"three[ the fox]", "three"},
		{"[ the fox ]", ""},
	} {
		var text string
		var cuts []Cut
		for i, part := range strings.FieldsFunc(test[0], func(r rune) bool { return r == '[' || r == ']' }) {
			if i%2 == 1 != strings.HasPrefix(test[0], "[") {
				cuts = append(cuts, Cut{len(text), len(text) + len(part)})
			}
			text += part
		}
		if got := less(text, keepBlanks(text, cuts)); got != test[1] {
			t.Errorf("%q: %q stays, want %q", test[0], got, test[1])
		}
	}
}

// TestCutWords checks that copies without spans of whole words have only words of the texts.
func TestCutWords(t *testing.T) {
	const fox = "the quick brown fox jumps over the lazy dog"
	for _, space := range []string{" ", "\n", "\t", "\r\n", "\u3000", ", ", "; ", "—", "。"} {
		texts := []string{"alpha one two" + space + fox + space + "omega", "beta three" + space + fox + space + "gamma 四",
			"x" + space + fox + space + "y" + space + fox + space + "z", fox + space + "end"}
		r := find(t, writeDocs(t, texts), Options{Unit: Unit{Bytes, 20}, CutWords: true})
		for row, want := range []string{"alpha one two " + fox + " omega", "beta three gamma 四", "x y z", "end"} {
			got := less(texts[row], r.Document(row).Cuts)
			words := strings.FieldsFunc(got, func(r rune) bool { return !unicode.IsLetter(r) })
			if strings.Join(words, " ") != want {
				t.Errorf("%q: document %d: %q stays", space, row, got)
			}
		}
	}
}
