package passages

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Cut is a range of a text's bytes.
type Cut struct{ From, To int }

// appendCut appends a cut. It extends the last cut instead if the two touch or overlap.
func appendCut(cuts []Cut, c Cut) []Cut {
	if last := len(cuts) - 1; last >= 0 && cuts[last].From <= c.From && c.From <= cuts[last].To {
		cuts[last].To = max(cuts[last].To, c.To)
		return cuts
	}
	return append(cuts, c)
}

// union returns the ranges that cuts cover together. It sorts cuts by their beginning; most of them are in
// order already.
func union(cuts []Cut) (all []Cut) {
	slices.SortFunc(cuts, func(a, b Cut) int { return cmp.Compare(a.From, b.From) })
	for _, c := range cuts {
		all = appendCut(all, c)
	}
	return all
}

// minus returns the parts of cuts that are not in others. Both lists are in order and have no overlapping
// ranges.
func minus(cuts, others []Cut) (remaining []Cut) {
	for _, c := range cuts {
		for len(others) > 0 && others[0].To <= c.From {
			others = others[1:]
		}
		for i := 0; i < len(others) && others[i].From < c.To; i++ {
			if c.From < others[i].From {
				remaining = append(remaining, Cut{c.From, others[i].From})
			}
			c.From = others[i].To
		}
		if c.From < c.To {
			remaining = append(remaining, c)
		}
	}
	return remaining
}

// keepBlanks shortens cuts so that the words before and after each cut are not joined: one blank of the cut is kept.
func keepBlanks(text string, cuts []Cut) (remaining []Cut) {
	for _, c := range cuts {
		from, size := separator(text, c)
		for _, part := range []Cut{{c.From, from}, {from + size, c.To}} {
			if part.From < part.To {
				remaining = append(remaining, part)
			}
		}
	}
	return remaining
}

// separator returns the first byte and the size of the character of a cut that must be kept. The size is 0 if no
// character must be kept. A blank at one end of the cut is preferred. If the cut is between two words and has no
// blank, its first character is kept, which is not part of a word.
func separator(text string, c Cut) (from, size int) {
	before, _ := utf8.DecodeLastRuneInString(text[:c.From])
	after, _ := utf8.DecodeRuneInString(text[c.To:])
	if c.From == 0 || c.To == len(text) || unicode.IsSpace(before) || unicode.IsSpace(after) {
		return c.To, 0
	}
	part, joined := text[c.From:c.To], inWord(before) && inWord(after)
	first := strings.IndexFunc(part, unicode.IsSpace)
	last, lastSize := utf8.DecodeLastRuneInString(part)
	switch {
	case first != 0 && unicode.IsSpace(last):
		return c.To - lastSize, lastSize
	case first != 0 && !joined:
		return c.To, 0
	}
	first = max(first, 0)
	_, size = utf8.DecodeRuneInString(part[first:])
	if strings.HasPrefix(part[first:], "\r\n") {
		size = 2
	}
	return c.From + first, size
}
