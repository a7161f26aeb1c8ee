package passages

import (
	"errors"
	"iter"
	"sort"
	"unicode"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/storage/spill"
)

// A Result holds the repeated passages of a corpus. Many goroutines may read it. The names of its documents are
// valid until it is closed.
type Result struct {
	o           Options
	inputs      []string
	readOptions format.Options
	fileUnits   ingest.ReadFiles
	spool       *spool
	marks       int // number of marks or units of all documents; 0 if no document has a window
	repeats     *spill.Run[repeat]
	repeatList  []repeat // repeats, mapped
}

// Close removes the temporary files.
func (r *Result) Close() error {
	s := r.spool
	return errors.Join(s.heads.Close(), s.texts.Close(), s.points.Close(), s.docs.Close(), r.repeats.Close())
}

// Len returns the number of documents.
func (r *Result) Len() int { return len(r.spool.docs.All) }

// Windows reports whether any document has a window with at least [Options.MinChars] characters.
func (r *Result) Windows() bool { return r.marks > 0 }

// TextBytes returns the total length of all texts.
func (r *Result) TextBytes() uint64 { return r.spool.textBytes }

// A Document is a document of the corpus, with its cuts.
type Document struct {
	Row       int // row, from 0
	ID        string
	Source    string
	Line      int // line in the file, from 1; 0 if the document is the whole file
	TextBytes int

	Spans  int   // number of spans
	Cuts   []Cut // ranges of the text to remove; in order, without overlaps
	Beyond bool  // the cuts exceeded [Options.MaxShare], so Cuts has the whole text or nothing
}

// CutBytes returns the number of bytes to remove.
func (d *Document) CutBytes() (n int) {
	for _, c := range d.Cuts {
		n += c.To - c.From
	}
	return n
}

// A Span is a part of a text that also occurs elsewhere. Spans of strings may overlap, and so may spans of
// several sentences.
type Span struct {
	From, To         int // bytes
	FromChar, ToChar int // characters
	Count            int // maximum number of occurrences of a window in the span
	First            Place
	Kept             bool // the span is kept as the first occurrence
}

// A Place is the first occurrence of a span: the row and the names of a document, and a byte offset in its
// text.
type Place struct {
	Row        int
	ID, Source string
	Line       int
	From       int
}

// Documents yields the documents that have spans, in order.
func (r *Result) Documents() iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for i := 0; i < len(r.repeatList); {
			d := r.Document(r.spool.row(r.repeatList[i].position()))
			if !yield(d) {
				return
			}
			i = r.firstRepeat(d.Row + 1)
		}
	}
}

// firstRepeat returns the index of the first repeat in a document of this row or a later one.
func (r *Result) firstRepeat(row int) int {
	if row >= len(r.spool.docs.All) {
		return len(r.repeatList)
	}
	start := r.spool.docs.All[row][1]
	return sort.Search(len(r.repeatList), func(i int) bool { return r.repeatList[i].position() >= start })
}

// Document returns the document of a row.
func (r *Result) Document(row int) Document {
	h := r.spool.readHead(row)
	var removed, stay []Cut // ranges of the spans to remove, and of the spans to keep
	for s := range r.spans(&h) {
		if h.Spans++; s.Kept {
			stay = appendCut(stay, Cut{s.From, s.To})
		} else {
			removed = appendCut(removed, Cut{s.From, s.To})
		}
	}
	h.Cuts = minus(union(removed), union(stay))
	if r.o.CutWords {
		h.Cuts = keepBlanks(r.text(&h), h.Cuts)
	}
	if float64(h.CutBytes()) > r.o.MaxShare*float64(h.TextBytes) {
		h.Beyond, h.Cuts = true, nil
		if r.o.Drop {
			h.Cuts = []Cut{{0, h.TextBytes}}
		}
	}
	return h.Document
}

// Spans yields the spans of a document in the order of their beginnings. There can be as many spans as bytes in
// the text.
func (r *Result) Spans(row int) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		h := r.spool.readHead(row)
		text, chars := r.text(&h), charCount{}
		for s, c := range r.spans(&h) {
			shift := 0 // number of bytes from the beginning of its chain to its own
			if text != "" {
				shift = s.From - int(c.atom-h.atom)
				s.FromChar = chars.count(text, s.From)
				s.ToChar = s.FromChar + countChars(text[s.From:s.To])
			}
			s.First = r.place(r.spool.row(c.firstAtom), c.firstAtom, shift)
			if !yield(s) {
				return
			}
		}
	}
}

// spans yields the spans of a document with their chains. It does not set First; for bytes it does not set
// characters.
func (r *Result) spans(h *head) iter.Seq2[Span, chain] {
	return func(yield func(Span, chain) bool) {
		width, text := r.o.Unit.width(), r.text(h)
		for c := range r.chains(h.Row, r.repeatList[r.firstRepeat(h.Row):r.firstRepeat(h.Row+1)]) {
			s := Span{Count: int(c.count), Kept: !r.o.StrikeAll && r.stays(h.Row, c.atom, c.firstAtom)}
			from := int(c.atom - h.atom)
			to := from + (int(c.windows)+r.o.Unit.Length-1)*width
			if text != "" {
				if s.From, s.To = r.whole(text, from, to); s.From >= s.To {
					continue
				}
			} else {
				begin, end := r.spool.point(h, from/width), r.spool.point(h, to/width)
				s.From, s.FromChar, s.To, s.ToChar = int(begin[0]), int(begin[1]), int(end[0]), int(end[1])
			}
			if !yield(s, c) {
				return
			}
		}
	}
}

// stays reports whether a window is kept, given the place of its first occurrence.
func (r *Result) stays(row int, atom, first uint64) bool {
	return first == atom || r.o.AcrossOnly && r.spool.row(first) == row
}

// A chain is a sequence of windows that follow each other both here and at their first occurrence.
type chain struct{ atom, firstAtom, windows, count uint64 }

// chains yields the repeats of a document as chains. A chain of strings continues while its atoms equal the
// atoms after its first occurrence. For example in aaaa..., the string from the second a on first occurs at the
// first a.
func (r *Result) chains(row int, repeats []repeat) iter.Seq[chain] {
	return func(yield func(chain) bool) {
		width := uint64(r.o.Unit.width())
		var c chain
		for _, next := range repeats {
			for next = next.words(width); next.windows() > 0; {
				n := uint64(0)
				if c.windows > 0 {
					n = r.countFurther(row, &c, &next)
				}
				if n > 0 {
					c.windows, c.count = c.windows+n, max(c.count, next.count())
					next = next.dropWindows(n, width)
					continue
				}
				if c.windows > 0 && !yield(c) {
					return
				}
				c = chain{next.position(), next.first(), next.windows(), next.count()}
				break
			}
		}
		if c.windows > 0 {
			yield(c)
		}
	}
}

// countFurther returns the number of windows of the next repeat that continue the chain.
func (r *Result) countFurther(row int, c *chain, next *repeat) uint64 {
	length, width := uint64(r.o.Unit.Length), uint64(r.o.Unit.width())
	switch {
	case length == 1 || next.position() != c.atom+c.windows*width:
		return 0
	case next.first() == c.firstAtom+c.windows*width:
		return next.windows()
	case !r.o.Unit.isString() || r.stays(row, c.atom, c.firstAtom) != r.stays(row, next.position(), next.first()):
		return 0
	}
	text, last := r.spool.texts.All, (c.windows+length-1)*width // the last atom of the next window
	text1, text2 := text[c.atom+last:], text[c.firstAtom+last:r.spool.rowEnd(r.spool.row(c.firstAtom))]
	n, limit := uint64(0), min(next.windows()*width, uint64(len(text2)))
	for n < limit && text1[n] == text2[n] {
		n++
	}
	return n / width
}

// text returns the text of a document if the atoms are bytes, and "" otherwise.
func (r *Result) text(h *head) string {
	if r.o.Unit.Kind != Bytes {
		return ""
	}
	return asString(r.spool.texts.All[h.atom : h.atom+uint64(h.atoms)])
}

// place returns the place that is shift bytes after the beginning of an atom.
func (r *Result) place(row int, atom uint64, shift int) Place {
	h := r.spool.readHead(row)
	index := int(atom-h.atom) + shift
	if r.o.Unit.Kind != Bytes {
		index = int(r.spool.point(&h, index/r.o.Unit.width())[0])
	}
	return Place{row, h.ID, h.Source, h.Line, index}
}

// whole shortens a range of bytes so that it has only whole characters, or only whole words with CutWords.
func (r *Result) whole(text string, from, to int) (int, int) {
	inside := func(i int) bool { // reports whether i is inside a character or a word
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
		next, _ := utf8.DecodeRuneInString(text[i:])
		return inWord(before) && inWord(next)
	}
	for from < to && inside(from) {
		from++
	}
	for from < to && inside(to) {
		to--
	}
	return from, to
}

// inWord reports whether a character can be part of a longer word. Characters of scripts without spaces cannot.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
			unicode.Myanmar)
}

// A charCount counts the characters before an offset. It is fast if the offsets mostly ascend.
type charCount struct{ bytes, chars int }

func (c *charCount) count(text string, offset int) int {
	if offset < c.bytes {
		*c = charCount{}
	}
	c.chars += countChars(text[c.bytes:offset])
	c.bytes = offset
	return c.chars
}
