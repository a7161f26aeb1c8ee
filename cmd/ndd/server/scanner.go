package server

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// A scanner reads JSON from front to end. It takes what is valid and common; what it does not take may still be valid, for
// a decoder that is told of it. After a failure it takes nothing more.
type scanner struct {
	bytes []byte
	text  string // the same; strings without escapes are parts of it
	at    int    // of the next byte
}

// fail ends the scan, and returns false.
func (s *scanner) fail() bool {
	s.at = len(s.bytes) + 1
	return false
}

// next returns the next byte that is no space, 0 at the end.
func (s *scanner) next() byte {
	for s.at < len(s.bytes) {
		switch c := s.bytes[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take takes a byte, if it is the next.
func (s *scanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// end says whether nothing more comes.
func (s *scanner) end() bool { return s.next() == 0 && s.at == len(s.bytes) }

// object takes an object with at least one field. Value takes the value of the field of a name.
func (s *scanner) object(value func(name []byte) bool) bool {
	if !s.take('{') {
		return s.fail()
	}
	for {
		name, ok := s.name()
		if !ok || !s.take(':') || !value(name) {
			return s.fail()
		}
		if !s.take(',') {
			return s.take('}') || s.fail()
		}
	}
}

// array takes an array of at least one value, which value takes.
func (s *scanner) array(value func() bool) bool {
	if !s.take('[') {
		return s.fail()
	}
	for {
		if !value() {
			return s.fail()
		}
		if !s.take(',') {
			return s.take(']') || s.fail()
		}
	}
}

// name takes the name of a field, without escapes.
func (s *scanner) name() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	begin := s.at
	s.at += plain(s.bytes[begin:])
	if s.at == len(s.bytes) || s.bytes[s.at] != '"' {
		return nil, false
	}
	s.at++
	return s.bytes[begin : s.at-1], true
}

// integer takes a number of decimal digits, at most six of them and without a sign.
func (s *scanner) integer() (n int, ok bool) {
	first, begin := s.next(), s.at
	for s.at < len(s.bytes) && '0' <= s.bytes[s.at] && s.bytes[s.at] <= '9' && s.at < begin+6 {
		n = 10*n + int(s.bytes[s.at]-'0')
		s.at++
	}
	return n, s.at > begin && (first != '0' || s.at == begin+1) // what follows must be a comma or a brace
}

// string takes a string of valid UTF-8.
func (s *scanner) string() (string, bool) {
	if !s.take('"') {
		return "", false
	}
	begin := s.at
	s.at += plain(s.bytes[begin:])
	if s.at == len(s.bytes) {
		return "", false
	}
	value := s.text[begin:s.at]
	if s.bytes[s.at] == '"' {
		s.at++
	} else {
		var ok bool
		if value, ok = s.escaped(begin); !ok {
			return "", false
		}
	}
	return value, utf8.ValidString(value)
}

// escaped takes the rest of a string, and returns it whole, from where it begins.
func (s *scanner) escaped(begin int) (string, bool) {
	out := make([]byte, 0, 2*(s.at-begin)+64)
	out = append(out, s.bytes[begin:s.at]...)
	for s.at < len(s.bytes) {
		switch s.bytes[s.at] {
		case '"':
			s.at++
			return string(out), true
		case '\\':
			var ok bool
			if out, ok = s.escape(out); !ok {
				return "", false
			}
		default:
			return "", false // a control character
		}
		n := plain(s.bytes[s.at:])
		out = append(out, s.bytes[s.at:s.at+n]...)
		s.at += n
	}
	return "", false
}

// escapes are the characters that stand for others after a backslash.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape takes one escape and appends what it stands for.
func (s *scanner) escape(out []byte) ([]byte, bool) {
	if s.at+1 >= len(s.bytes) {
		return out, false
	}
	if c := s.bytes[s.at+1]; c != 'u' {
		s.at += 2
		return append(out, escapes[c]), escapes[c] != 0
	}
	r, ok := s.unit()
	if ok && utf16.IsSurrogate(r) {
		var low rune
		if low, ok = s.unit(); ok {
			r = utf16.DecodeRune(r, low)
			ok = r != utf8.RuneError
		}
	}
	return utf8.AppendRune(out, r), ok
}

// unit takes \u and four hexadecimal digits.
func (s *scanner) unit() (r rune, ok bool) {
	if s.at+6 > len(s.bytes) || s.bytes[s.at] != '\\' || s.bytes[s.at+1] != 'u' {
		return 0, false
	}
	for _, c := range s.bytes[s.at+2 : s.at+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.at += 6
	return r, true
}

// plain returns how many bytes come before the first quote, backslash or control character.
func plain(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, slash := w^'"'*ones, w^'\\'*ones
		// The lowest byte that is found is right; those above it may not be.
		if found := ((w-0x20*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(b) && b[n] >= 0x20 && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}
