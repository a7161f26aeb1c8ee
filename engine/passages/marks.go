package passages

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// A Mark is a selected place of a text, with its surroundings: the bytes of all strings of the length
// sought that selected it. Wherever such a string stands, it is in the surroundings of a mark with the
// same hash. It is for callers who bring equal hashes together by themselves: these are equal in all
// processes.
type Mark struct {
	Hash        uint64
	From        int // of the text, where Around begins
	Around      string
	Most, Least int  // distances from the beginnings of these strings to the place
	Inside      bool // the byte behind Around continues a character
}

// NewMarker returns a function that calls each with the marks of a text, in order. Around is a part of it.
// The function belongs to one goroutine.
func NewMarker(o Options) (func(text string, each func(Mark)), error) {
	if err := o.checkBytes(); err != nil {
		return nil, err
	}
	m, length := newMarker(o.Unit.Length), o.Unit.Length
	return func(text string, each func(Mark)) {
		for _, k := range m.marks(text) {
			at, least, most := int(k[1]>>(2*distanceBits)), int(k[1]>>distanceBits&distanceMax), int(k[1]&distanceMax)
			end := at - least + length
			each(Mark{k[0], at - most, text[at-most : end], most, least, end < len(text) && !utf8.RuneStart(text[end])})
		}
	}, nil
}

func (o *Options) checkBytes() error {
	if err := o.check(); err != nil {
		return err
	}
	if o.Unit.Kind != Bytes {
		return fmt.Errorf("%s: marks are of strings of bytes", o.Unit)
	}
	return nil
}

// A Repeat is bytes of a text around a mark, whole characters, that stand around another one, too.
type Repeat struct {
	Mark, From, To   int // the mark's number in its group, and bytes of its text
	First, FirstFrom int // the first mark of the group with the same, which may be this one
}

// NewMatcher returns a function that calls each with the repeats of marks with one hash, by mark. Options
// are those of the marks; AcrossOnly does not apply. The function belongs to one goroutine.
func NewMatcher(o Options) (func(group []Mark, each func(Repeat) error) error, error) {
	if err := o.checkBytes(); err != nil {
		return nil, err
	}
	o.AcrossOnly = false
	g := newStringGroup(&o, o.Unit.Length, nil)
	var places []mark
	var offsets []int // of the marks' surroundings in g.text
	return func(group []Mark, each func(Repeat) error) error {
		g.text, places, offsets = g.text[:0], places[:0], offsets[:0]
		for i := range group {
			m := &group[i]
			if m.Least < 0 || m.Least > m.Most || m.Most > distanceMax || len(m.Around) != m.Most-m.Least+g.length {
				return fmt.Errorf("a mark whose surroundings of %d bytes are none of strings of %d", len(m.Around), g.length)
			}
			offsets = append(offsets, len(g.text))
			places = append(places, mark{m.Hash, markPlace(uint64(len(g.text)+m.Most), m.Least, m.Most)})
			g.text = append(g.text, m.Around...)
		}
		return g.find(places, func(r repeat) error {
			i := sort.SearchInts(offsets, int(r.at())+1) - 1
			first := sort.SearchInts(offsets, int(r.first())+1) - 1
			m, from := &group[i], int(r.at())-offsets[i]
			to, shift := from+int(r.windows())-1+g.length, 0
			for from+shift < to && !utf8.RuneStart(m.Around[from+shift]) {
				shift++
			}
			for to > from+shift && (to == len(m.Around) && m.Inside || to < len(m.Around) && !utf8.RuneStart(m.Around[to])) {
				to--
			}
			if from+shift == to {
				return nil
			}
			return each(Repeat{i, m.From + from + shift, m.From + to, first,
				group[first].From + int(r.first()) - offsets[first] + shift})
		})
	}, nil
}
