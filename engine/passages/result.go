package passages

import (
	"errors"
	"iter"
	"sort"
	"unicode"
	"unicode/utf8"

	"ndd/engine/corpus/document"
	"ndd/engine/storage/spill"
)

// A Result has what is repeated in a corpus. It may be read by many goroutines.
type Result struct {
	o         Options
	inputs    []string
	reading   document.Options
	fileUnits []int
	spool     *spool
	repeats   *spill.Run[repeat]
	all       []repeat // mapped
}

// Close gives the temporary files back.
func (r *Result) Close() error { return errors.Join(r.spool.close(), r.repeats.Close()) }

// Len returns the number of documents.
func (r *Result) Len() int { return len(r.spool.entries) }

// TextBytes returns the length of all texts.
func (r *Result) TextBytes() uint64 { return r.spool.textBytes }

// Disk returns how many bytes the temporary files have that are left.
func (r *Result) Disk() uint64 {
	s := r.spool
	return s.headBytes + uint64(len(s.text)) + 16*uint64(len(s.begins)) + 16*uint64(len(s.entries)) + 24*uint64(len(r.all))
}

// A Document is one that has spans.
type Document struct {
	Row       int // from 0
	ID        string
	Source    string
	Line      int // of the file, from 1; 0 if the document is the whole file
	TextBytes int

	Spans  []Span // by their beginning
	Cuts   []Cut  // of the text, that go: in order, apart from each other
	Beyond bool   // more than [Options.MaxShare] would go: Cuts are the whole text, or none
}

// CutBytes returns how many bytes go.
func (d *Document) CutBytes() (n int) {
	for _, c := range d.Cuts {
		n += c.To - c.From
	}
	return n
}

// A Cut is a range of a text's bytes.
type Cut struct{ From, To int }

// A Span is a part of a text that stands elsewhere, too. Spans of strings and of sentences in a row may
// overlap.
type Span struct {
	From, To         int // bytes
	FromChar, ToChar int // characters
	Count            int // places of the window in it that stands at most places
	First            Place
	Kept             bool // it stays as the first one
}

// A Place is where a span stands first: a document by row and name, and a byte of its text.
type Place struct {
	Row        int
	ID, Source string
	Line       int
	From       int
}

// Documents yields the documents that have spans, in order.
func (r *Result) Documents() iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for i := 0; i < len(r.all); {
			d := r.Document(r.spool.row(r.all[i].at()))
			if !yield(d) {
				return
			}
			i = r.from(d.Row + 1)
		}
	}
}

// from returns the first repeat from a row on.
func (r *Result) from(row int) int {
	if row >= len(r.spool.entries) {
		return len(r.all)
	}
	at := r.spool.entries[row][1]
	return sort.Search(len(r.all), func(i int) bool { return r.all[i].at() >= at })
}

// Document returns a document.
func (r *Result) Document(row int) Document {
	h := r.spool.at(row)
	own := r.all[r.from(row):r.from(row+1)]
	if len(own) == 0 {
		return h.Document
	}
	length, text := r.o.Unit.Length, r.text(&h)
	var gone, stay []Cut // of windows that go, and that must be whole
	var chars charCount
	for i := 0; i < len(own); {
		p := own[i]
		windows, count := int(p.windows()), p.count()
		for i++; i < len(own) && length > 1 && own[i].follows(&p, windows); i++ {
			windows, count = windows+int(own[i].windows()), max(count, own[i].count())
		}
		first := r.spool.row(p.first())
		s := Span{Count: int(count), Kept: !r.o.StrikeAll && (p.first() == p.at() || r.o.AcrossOnly && first == row)}
		from := int(p.at() - h.atom)
		to := from + windows + length - 1
		shift := 0 // how much later it begins
		if text != "" {
			s.From, s.To = r.whole(text, from, to)
			if s.From >= s.To {
				continue
			}
			shift = s.From - from
			s.FromChar = chars.to(text, s.From)
			s.ToChar = s.FromChar + utf8.RuneCountInString(text[s.From:s.To])
		} else {
			a, b := r.spool.point(&h, from), r.spool.point(&h, to)
			s.From, s.FromChar, s.To, s.ToChar = int(a[0]), int(a[1]), int(b[0]), int(b[1])
		}
		s.First = r.place(first, p.first(), shift)
		h.Spans = append(h.Spans, s)
		if s.Kept {
			stay = append(stay, Cut{s.From, s.To})
		} else {
			gone = append(gone, Cut{s.From, s.To})
		}
	}
	h.Cuts = minus(union(gone), union(stay))
	if float64(h.CutBytes()) > r.o.MaxShare*float64(h.TextBytes) {
		h.Beyond, h.Cuts = true, nil
		if r.o.Drop {
			h.Cuts = []Cut{{0, h.TextBytes}}
		}
	}
	return h.Document
}

// follows reports whether a repeat goes on where p ends, of so many windows.
func (r *repeat) follows(p *repeat, windows int) bool {
	return r.at() == p.at()+uint64(windows) && r.first() == p.first()+uint64(windows)
}

// text returns a document's text, "" if atoms are no bytes.
func (r *Result) text(h *head) string {
	if r.o.Unit.Kind != Bytes {
		return ""
	}
	return asString(r.spool.text[h.atom : h.atom+uint64(h.atoms)])
}

// place returns where an atom is, and so many bytes more.
func (r *Result) place(row int, atom uint64, shift int) Place {
	h := r.spool.at(row)
	at := int(atom - h.atom)
	if r.o.Unit.Kind != Bytes {
		at = int(r.spool.point(&h, at)[0])
	}
	return Place{row, h.ID, h.Source, h.Line, at + shift}
}

// whole returns the part of a range of bytes that has whole characters, or words.
func (r *Result) whole(text string, from, to int) (int, int) {
	inside := func(i int) bool { // of a character, or word
		if i == 0 || i == len(text) {
			return false
		}
		if !utf8.RuneStart(text[i]) {
			return true
		}
		if !r.o.CutWords {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		behind, _ := utf8.DecodeRuneInString(text[i:])
		return inWord(before) && inWord(behind)
	}
	for from < to && inside(from) {
		from++
	}
	for from < to && inside(to) {
		to--
	}
	return from, to
}

// inWord reports whether a character may be in a word with others beside it.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
			unicode.Myanmar)
}

// A charCount counts characters up to places that ascend, nearly.
type charCount struct{ bytes, chars int }

func (c *charCount) to(text string, at int) int {
	if at < c.bytes {
		*c = charCount{}
	}
	c.chars += utf8.RuneCountInString(text[c.bytes:at])
	c.bytes = at
	return c.chars
}

// union returns the ranges that cuts cover together, which ascend by their beginning, but for some.
func union(cuts []Cut) (all []Cut) {
	sort.Slice(cuts, func(i, j int) bool { return cuts[i].From < cuts[j].From })
	for _, c := range cuts {
		if last := len(all) - 1; last >= 0 && c.From <= all[last].To {
			all[last].To = max(all[last].To, c.To)
		} else {
			all = append(all, c)
		}
	}
	return all
}

// minus returns what of some ranges is in none of others. Both ascend and lie apart.
func minus(cuts, others []Cut) (rest []Cut) {
	for _, c := range cuts {
		for len(others) > 0 && others[0].To <= c.From {
			others = others[1:]
		}
		for i := 0; i < len(others) && others[i].From < c.To; i++ {
			if c.From < others[i].From {
				rest = append(rest, Cut{c.From, others[i].From})
			}
			c.From = others[i].To
		}
		if c.From < c.To {
			rest = append(rest, c)
		}
	}
	return rest
}
