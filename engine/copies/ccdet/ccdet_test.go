package ccdet

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/oracle/must"
)

func newSelector(t *testing.T, ends string) *Selector {
	t.Helper()
	s, err := New(t.Context(), ends)
	must.Do(t, err)
	return s
}

// features returns the texts that the features were made of.
func features(s *Selector, text string) (all []string) {
	for _, f := range signature.Append(nil, s, text) {
		all = append(all, text[f.Start:f.End])
	}
	return all
}

// TestFeatures computes the worked examples of the package comment.
func TestFeatures(t *testing.T) {
	s := newSelector(t, Ends)
	for text, want := range map[string][]string{
		"":         nil,
		"没有句号的一句话": nil,
		"一二三四五六七八九十一二三。": {"四五六七八九十一二三"},
		"短。更短！":     {"短", "更短"},
		"结束。。。又一句？": {"结束", "又一句"},
		"一二三。四五六七 八九\n十甲乙丙丁戊。": {"一二三", "六七 八九\n十甲乙丙丁戊"},
		"。":     nil,
		" 。！":   nil,
		"a. b。": {"a. b"},
	} {
		if got := features(s, text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := features(newSelector(t, "。"), "一！二。"); !slices.Equal(got, []string{"一！二"}) {
		t.Errorf("full stops alone: %q", got)
	}
	if got := features(newSelector(t, "।॥?!"), "यह एक वाक्य है। और।"); len(got) != 2 {
		t.Errorf("Hindi: %q", got)
	}
}

// TestEqual checks that white space, width and case make no difference; other characters do.
func TestEqual(t *testing.T) {
	s := newSelector(t, Ends)
	last := func(text string) uint64 {
		all := signature.Append(nil, s, text)
		return all[len(all)-1].Hash
	}
	base := last("今天用ABC公司的产品。")
	for _, same := range []string{"今天 用 ABC\n公司的产品。", "今天用abc公司的产品！", "今天用ＡＢＣ公司的产品。", "昨天晚上。今天用ABC公司的产\u200b品。"} {
		if last(same) != base {
			t.Errorf("%q has another feature", same)
		}
	}
	if last("今天用ABD公司的产品。") == base {
		t.Error("another letter, and the same feature")
	}
}

// TestPlain checks that characters that plainForm handles have the same hash as after full normalisation.
func TestPlain(t *testing.T) {
	s := newSelector(t, Ends)
	for r := rune(1); r <= 0xffff; r++ {
		if _, ok := plainForm(r); !ok || isBlank(r) {
			continue
		}
		tail := "一" + string(r) + "二"
		if h, _ := s.hash(tail); h != s.hashNormal(tail) {
			t.Fatalf("%U: %x, normalised %x", r, h, s.hashNormal(tail))
		}
	}
}

func TestNew(t *testing.T) {
	for _, ends := range []string{"", "a", "。 ", "\xff"} {
		if _, err := New(t.Context(), ends); err == nil {
			t.Errorf("%q was taken", ends)
		}
	}
}

// TestEnds checks that no sentence is read after the context is done.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := New(ctx, Ends)
	must.Do(t, err)
	n := 0
	s.Each(strings.Repeat("一二三。", 20_000), func(signature.Signature) { cancel(); n++ })
	if maximum := checkBytes/len("一二三。") + 1; n > maximum {
		t.Errorf("%d sentences, the limit is %d", n, maximum)
	}
}

// specification implements the definition in the package comment character by character, and returns the texts of the
// features.
func specification(text string) (all []string) {
	var sentence []int // offsets of its characters
	for offset, r := range text {
		switch {
		case strings.ContainsRune(Ends, r):
			if n := len(sentence); n > 0 {
				all = append(all, text[sentence[max(n-Chars, 0)]:offset])
			}
			sentence = nil
		case !isBlank(r):
			sentence = append(sentence, offset)
		}
	}
	return all
}

// TestSpecification compares the pass over the bytes with the definition, also for invalid UTF-8.
func TestSpecification(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"。", "！", "？", "；", "，", "一", "丁", "龥", " ", "\n", "\u3000", "a", "Z", "é", "，", "、", "\xe3",
		"\x80", "\xef\xbc", "𠀀", "ａ", "\u200b", "長い", "\ufffd"}
	s := newSelector(t, Ends)
	for range 3000 {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		text := b.String()
		if got, want := features(s, text), specification(text); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	}
}
