// Package plain reads texts without their layout: tags, marks of emphasis and links, and the line ends of wrapped
// paragraphs. It maps offsets in the plain text to the original text.
//
//	text ──► Reader ──► plain text, and jumps ──► Start, End: bytes of the text
//
// # Markup
//
//   - Tags <name ...> and </name>, comments, and the contents of script and style, if the text has "</", "<br" or "<p>". A
//     tag inside a sentence, such as <b>, becomes nothing, <br> a space, and other tags become a line end.
//   - Character references such as &amp; become their characters.
//   - Runs of * _ ` and ~~ before or after a word, but not inside words such as snake_case or 2*3. The name of the
//     language after ```.
//   - The marks and the address of [text](address).
//   - At the beginning of a line, the marks of headings, list items and quotations.
//
// # Wrapped lines
//
// A line end becomes a space if the line, with the next word, has at least half of the length of the longest line of
// its paragraph, and the next line is no list item. Between two characters of a script without spaces, and after a
// hyphen, it becomes nothing.
//
// # Cost
//
// A text without marks is returned as it is, after a search of 0.03 ns a byte for each mark. A Reader belongs to one
// goroutine and reuses its memory.
package plain

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Ignore is the set of things that a Reader leaves out.
type Ignore uint8

// The kinds.
const (
	Markup Ignore = 1 << iota
	Wrap
	Lines // with Markup, marks that do not matter for words: at the beginning of lines, and next to words
)

// A Reader makes plain texts.
type Reader struct {
	text      string
	ignore    Ignore
	marks     string // bytes that may begin a part to leave out
	nextMarks []int  // offset of the next occurrence of each byte of marks
	out       []byte
	position  int // number of bytes of the text that are in out or left out
	jumps     []jump

	room func(jumpBytes int) error // fails if there is no memory for the jumps; nil if there is no limit
	err  error                     // error of room for the current text

	absent    map[string]int // strings that the text does not have after an offset
	tagged    int            // 1 if the text has tags, -1 if it has none, 0 if unknown
	paragraph int            // end of the paragraph whose lines were measured
	width     int            // its longest line, in characters
}

// A jump is an offset in the plain text at which the original text continues at another offset.
type jump struct {
	plain  int
	before int // end of the text before the jump
	after  int // start of the text after the jump
}

// NewReader returns a Reader. If room is not nil, the Reader calls it before the jumps of a text take more memory, with
// the bytes that they would take. An error of room ends the reading of the text.
func NewReader(ignore Ignore, room func(jumpBytes int) error) *Reader {
	r := &Reader{ignore: ignore, room: room, absent: map[string]int{}}
	if ignore&Markup != 0 {
		r.marks = "<&*_]"
	}
	if ignore&(Markup|Lines) == Markup|Lines {
		r.marks += "[`~"
	}
	if ignore&(Wrap|Lines) != 0 {
		r.marks += "\n"
	}
	r.nextMarks = make([]int, len(r.marks))
	return r
}

// jumpBytes is the memory of a jump.
const jumpBytes = int(unsafe.Sizeof(jump{}))

// Read returns the plain text, which is valid until the next call, or the error of the function that limits the memory.
func (r *Reader) Read(text string) (string, error) {
	r.text, r.out, r.position, r.jumps = text, r.out[:0], 0, r.jumps[:0]
	r.tagged, r.paragraph, r.width, r.err = 0, 0, 0, nil
	clear(r.absent)
	for i := range r.nextMarks {
		r.nextMarks[i] = -1
	}
	if r.ignore&Lines != 0 {
		r.replace(0, r.lineMarks(0), "")
	}
	for offset := r.mark(r.position); offset < len(text) && r.err == nil; offset = r.mark(offset) {
		size, replacement := r.leave(offset)
		r.replace(offset, offset+size, replacement)
		offset = max(offset+size, offset+1)
	}
	if r.position == 0 && len(r.out) == 0 {
		return text, r.err
	}
	r.out = append(r.out, text[r.position:]...)
	return unsafe.String(unsafe.SliceData(r.out), len(r.out)), r.err
}

// mark returns the offset of the next mark, or the end of the text.
func (r *Reader) mark(offset int) int {
	first := len(r.text)
	for i := range r.nextMarks {
		if r.nextMarks[i] < offset {
			r.nextMarks[i] = len(r.text)
			if n := strings.IndexByte(r.text[min(offset, len(r.text)):], r.marks[i]); n >= 0 {
				r.nextMarks[i] = offset + n
			}
		}
		first = min(first, r.nextMarks[i])
	}
	return first
}

// replace replaces a part of the text by other bytes.
func (r *Reader) replace(from, to int, replacement string) {
	if from == to {
		return
	}
	r.out = append(append(r.out, r.text[r.position:from]...), replacement...)
	if r.position = to; len(replacement) != to-from {
		r.growJumps()
		r.jumps = append(r.jumps, jump{len(r.out), from, to})
		if replacement != "" {
			r.jumps[len(r.jumps)-1].before = to
		}
	}
}

// growJumps makes space for another jump. When the list grows, the old one is in memory, too.
func (r *Reader) growJumps() {
	if n := len(r.jumps); n == cap(r.jumps) {
		if r.room != nil {
			r.err = r.room(3 * max(n, 64) * jumpBytes)
		}
		r.jumps = slices.Grow(r.jumps, max(n, 64))
	}
}

// JumpBytes returns the memory of the jumps.
func (r *Reader) JumpBytes() int { return cap(r.jumps) * jumpBytes }

// Start returns the offset in the text where the part after an offset of the plain text begins.
func (r *Reader) Start(plain int) int {
	i := sort.Search(len(r.jumps), func(i int) bool { return r.jumps[i].plain > plain })
	if i == 0 {
		return plain
	}
	return r.jumps[i-1].after + plain - r.jumps[i-1].plain
}

// End returns the offset in the text where the part before an offset of the plain text ends.
func (r *Reader) End(plain int) int {
	i := sort.Search(len(r.jumps), func(i int) bool { return r.jumps[i].plain >= plain })
	if i < len(r.jumps) && r.jumps[i].plain == plain {
		return r.jumps[i].before
	}
	return r.Start(plain)
}

// leave returns the number of bytes to leave out at a mark, and the bytes that replace them.
func (r *Reader) leave(offset int) (size int, replacement string) {
	switch r.text[offset] {
	case '<':
		return r.tag(offset)
	case '&':
		return reference(r.text[offset:])
	case '[':
		return r.linkBegin(offset), ""
	case ']':
		return linkEnd(r.text[offset:]), ""
	case '\n':
		return r.lineEnd(offset)
	}
	return r.emphasis(offset), ""
}

// lineEnd implements leave for a line end, with the marks at the beginning of the next line.
func (r *Reader) lineEnd(offset int) (size int, replacement string) {
	next := offset + 1
	if r.ignore&Lines != 0 {
		next = r.lineMarks(next)
	}
	if r.ignore&Wrap == 0 || !r.isWrap(offset) {
		if next == offset+1 {
			return 0, ""
		}
		return next - offset, "\n"
	}
	for next < len(r.text) && (r.text[next] == ' ' || r.text[next] == '\t') {
		next++
	}
	last, n := utf8.DecodeLastRuneInString(strings.TrimRight(r.text[:offset], " \t\r"))
	first, _ := utf8.DecodeRuneInString(r.text[next:])
	if n > 0 && (last == '-' || isContinuous(last) && isContinuous(first)) {
		return next - offset, ""
	}
	return next - offset, " "
}

// isContinuous reports whether a character is of a script without spaces, or of its punctuation.
func isContinuous(r rune) bool {
	return r >= 0x0e00 && r < 0x0f00 || r >= 0x1000 && r < 0x10a0 || r >= 0x3000 && r < 0xa000 || r >= 0xf900 && r < 0xfb00 ||
		r >= 0xff00 && r < 0xfff0 || r >= 0x20000 && r < 0x40000
}

// isWrap reports whether a line end is inside a paragraph.
func (r *Reader) isWrap(offset int) bool {
	following := r.text[offset+1:]
	line, _, _ := strings.Cut(following, "\n")
	words := strings.TrimLeft(line, " \t")
	if strings.TrimSpace(line) == "" || isItem(words) {
		return false
	}
	begin := strings.LastIndexByte(r.text[max(offset-longLine, 0):offset], '\n') + 1 + max(offset-longLine, 0)
	if strings.TrimSpace(r.text[begin:offset]) == "" {
		return false
	}
	if offset >= r.paragraph {
		r.measure(begin)
	}
	word, _, _ := strings.Cut(words, " ")
	length := utf8.RuneCountInString(r.text[begin:offset]) + 1 + utf8.RuneCountInString(word[:min(len(word), longLine)])
	return 2*length >= r.width
}

// longLine is the number of bytes of a line that are measured.
const longLine = 1000

// measure finds the end and the width of the paragraph that begins at an offset.
func (r *Reader) measure(begin int) {
	r.width = 0
	for r.paragraph = begin; r.paragraph < len(r.text); {
		line, _, _ := strings.Cut(r.text[r.paragraph:], "\n")
		r.paragraph += len(line) + 1
		if strings.TrimSpace(line) == "" {
			break
		}
		r.width = max(r.width, utf8.RuneCountInString(line[:min(len(line), longLine)]))
	}
}
