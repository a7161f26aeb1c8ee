package passages

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.org/ndd/engine/copies/ccdet"
)

// atomEnd returns the end of the first atom of a text. The text must not be empty.
func atomEnd(k Kind, text string) int {
	switch k {
	case Lines:
		return lineEnd(text)
	case Paragraphs:
		return paragraphEnd(text)
	}
	return sentenceEnd(text)
}

// lineEnd returns the offset after the first line end, or the length of the text if there is none.
func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// paragraphEnd returns the end of the first paragraph, which includes the blank lines that follow it.
func paragraphEnd(text string) int {
	offset, words, blank := 0, false, false
	for offset < len(text) {
		end := offset + lineEnd(text[offset:])
		isBlank := strings.TrimSpace(text[offset:end]) == ""
		if !isBlank && words && blank {
			return offset
		}
		words, blank = words || !isBlank, isBlank
		offset = end
	}
	return offset
}

// closingMarks are the characters that belong to the sentence before them.
const closingMarks = "\"'”’»)]」』）】》"

// sentenceEnd returns the end of the first sentence. White space before and after the sentence belongs to it.
func sentenceEnd(text string) int {
	words := false
	for i := 0; i < len(text); {
		// An ASCII character may end the line or the sentence.
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '\n' && words:
				return i + leadingSpace(text[i:])
			case c == '.' || c == '!' || c == '?':
				end := afterClosing(text, i)
				if words && (end == len(text) || isSpaceAt(text[end:])) {
					return end + leadingSpace(text[end:])
				}
				i = end
			case c > ' ':
				words = true
			}
			continue
		}
		// A character beyond ASCII may end the sentence, too.
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if !words {
			words = !unicode.IsSpace(r)
		}
		anywhere := strings.ContainsRune(ccdet.Ends, r)
		if !anywhere && r != '…' {
			continue
		}
		if i = afterClosing(text, i); anywhere || i == len(text) || isSpaceAt(text[i:]) {
			return i + leadingSpace(text[i:])
		}
	}
	return len(text)
}

// afterClosing returns the offset after the sentence ends, closing quotes and closing brackets at offset i.
func afterClosing(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !strings.ContainsRune(closingMarks, r) && !strings.ContainsRune(ccdet.Ends+".!?…", r) {
			break
		}
		i += size
	}
	return i
}

func isSpaceAt(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsSpace(r)
}

// leadingSpace returns the number of bytes of white space at the beginning of a text.
func leadingSpace(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
}

// asciiNormal maps each ASCII byte to its normal form, for each set of ignored differences.
var asciiNormal = func() (t [8][utf8.RuneSelf]byte) {
	for i := range t {
		for c := range t[i] {
			t[i][c] = byte(normalRune(Ignore(i), rune(c)))
		}
	}
	return t
}()

// normalRune returns the normal form of a character. It is ' ' for all white space if white space is ignored.
func normalRune(i Ignore, r rune) rune {
	switch {
	case i&IgnoreSpace != 0 && unicode.IsSpace(r):
		return ' '
	case i&IgnoreDigits != 0 && unicode.IsDigit(r):
		return '0'
	case i&IgnoreCase != 0:
		return unicode.ToLower(r)
	}
	return r
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// load8 returns the first eight bytes of a text, the first one lowest.
func load8(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 | uint64(text[4])<<32 |
		uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// countChars returns the number of characters of valid UTF-8. It counts the bytes that do not continue a
// character.
func countChars(text string) int {
	n := len(text)
	for ; len(text) >= 8; text = text[8:] {
		x := load8(text)
		n -= bits.OnesCount64(x &^ (x << 1) & tops)
	}
	for i := range len(text) {
		if text[i]&0xc0 == 0x80 {
			n--
		}
	}
	return n
}

// normal returns the normal form of a text. If white space is ignored, each run of it becomes one space, and white
// space at the beginning of the text is dropped. White space at the end of the text is always dropped. The form is the
// text itself if possible. Otherwise it is in the buffer, which is returned for the next call.
func normal(buffer []byte, i Ignore, text string) (form string, _ []byte) {
	if i&IgnoreSpace != 0 {
		text = strings.TrimSpace(text)
	} else {
		text = strings.TrimRightFunc(text, unicode.IsSpace)
	}
	if i == 0 || i == IgnoreSpace && isNormal(text) {
		return text, buffer
	}
	buffer = appendNormal(buffer[:0], i, text)
	return asString(buffer), buffer
}

// blanks8 returns the ASCII spaces among eight bytes, as the top bit of each byte. ok is false if one of the bytes is a
// control character or not ASCII.
func blanks8(x uint64) (blanks uint64, ok bool) {
	return ^((x ^ ones*' ') + ones*0x7f) & tops, (x|^(x+ones*(0x80-' ')))&tops == 0
}

// isNormal reports whether a text is ASCII without control characters and without two spaces in a row. It may return
// false for such a text, too. The text begins and ends without white space.
func isNormal(text string) bool {
	if len(text) < 8 {
		return false
	}
	last := uint64(0) // the top bit of a byte is set if the byte before is a space
	for start := 0; ; start += 8 {
		start = min(start, len(text)-8)
		blanks, ok := blanks8(load8(text[start:]))
		if !ok || blanks&(blanks<<8|last) != 0 {
			return false
		}
		if last = blanks >> 56; start == len(text)-8 {
			return true
		}
	}
}

// appendNormal appends the normal form of a text to dst. The text begins without white space if that is ignored.
//
// Most of a text is its own normal form. So the loop copies eight ASCII bytes at once if they have no control
// characters and no two spaces in a row. It copies ideographs without decoding them.
func appendNormal(dst []byte, i Ignore, text string) []byte {
	table, space := &asciiNormal[i], i&IgnoreSpace != 0
	pending := false
	for offset := 0; offset < len(text); {
		// Copy eight bytes at once if they are ASCII and their white space is normal.
		if offset+8 <= len(text) {
			if blanks, ok := blanks8(load8(text[offset:])); ok && (!space || blanks&(blanks<<8|0x80) == 0) {
				if pending {
					dst = append(dst, ' ')
				}
				dst = append(dst, text[offset:offset+8]...)
				offset += 8
				if i != IgnoreSpace {
					for k := len(dst) - 8; k < len(dst); k++ {
						dst[k] = table[dst[k]]
					}
				}
				if pending = space && blanks>>63 != 0; pending {
					dst = dst[:len(dst)-1]
				}
				continue
			}
		}
		// Otherwise convert one character, or some ideographs.
		var end int
		var r rune
		if c := text[offset]; c < utf8.RuneSelf {
			end, r = offset+1, rune(table[c])
		} else {
			end, r = nonASCII(text, offset, i)
		}
		if space && r == ' ' {
			pending, offset = true, end
			continue
		}
		if pending {
			dst, pending = append(dst, ' '), false
		}
		// Append the character or the ideographs.
		if r == 0 {
			dst = append(dst, text[offset:end]...)
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		offset = end
	}
	return dst
}

// nonASCII reads ideographs or another character at an offset. Ideographs are their own normal form: it returns
// their end and r = 0. For another character it returns the end and the normal form.
func nonASCII(text string, offset int, i Ignore) (end int, r rune) {
	for end = offset; end+3 <= len(text) && text[end] >= 0xe4 && text[end] <= 0xe9; { // U+4000 to U+9FFF
		end += 3
	}
	if end > offset {
		return end, 0
	}
	r, size := utf8.DecodeRuneInString(text[offset:])
	return offset + size, normalRune(i, r)
}
