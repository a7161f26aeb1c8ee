// Package strict reads JSON from front to back, and refuses bodies that two programs could read
// differently: names that come twice, are unknown or are written in another case, text that is not
// UTF-8, and lone surrogates.
//
//	err := strict.Read(body, func(r *strict.Reader) {
//		r.Object([]string{"k", "text"}, func(name string) {
//			switch name {
//			case "k":
//				k = r.Integer(0, 64)
//			case "text":
//				text = r.String()
//			}
//		})
//	})
//
// The first mistake ends the reading: every method then returns a zero value at once, and Read
// returns the mistake with its place. Package jsontext, which becomes encoding/json/v2, reads the
// tokens, and refuses text that is not UTF-8.
package strict

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// An Error is the first mistake in a body.
type Error struct {
	Place   string // of the value, such as body.documents[3].text
	Message string
	Syntax  bool // the body is not JSON; otherwise a value is not as it must be
}

// Error returns the place and the message.
func (e *Error) Error() string { return e.Place + ": " + e.Message }

// A Reader reads one body. It belongs to one goroutine.
type Reader struct {
	body   []byte
	tokens *jsontext.Decoder
	path   []step
	err    *Error
}

// A step leads from a value to one in it: by the name of a field, or by the position in an array.
type step struct {
	name string
	item int
}

var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// Read reads a body, which is one value, and returns the first mistake, nil if there is none.
func Read(body []byte, value func(r *Reader)) *Error {
	d := decoders.Get().(*jsontext.Decoder)
	defer func() {
		d.Reset(new(bytes.Buffer)) // lets the body go
		decoders.Put(d)
	}()
	d.Reset(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true)) // Object refuses them
	r := &Reader{body: body, tokens: d}
	value(r)
	if r.err == nil && r.at() < len(body) {
		r.unexpected(r.at())
	}
	return r.err
}

// Refuse ends the reading because of the value that is being read.
func (r *Reader) Refuse(format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Place: r.place(), Message: fmt.Sprintf(format, args...)}
	}
}

// Failed reports whether the reading has ended with a mistake.
func (r *Reader) Failed() bool { return r.err != nil }

// place returns where the value is that is being read.
func (r *Reader) place() string {
	var b strings.Builder
	b.WriteString("body")
	for _, s := range r.path {
		if s.name != "" {
			fmt.Fprintf(&b, ".%.80s", s.name)
		} else {
			fmt.Fprintf(&b, "[%d]", s.item)
		}
	}
	return b.String()
}

// at returns the offset of the next token.
func (r *Reader) at() int {
	rest := r.body[r.tokens.InputOffset():]
	return len(r.body) - len(bytes.TrimLeft(rest, " \t\r\n"))
}

// unexpected refuses the byte at an offset, or the end.
func (r *Reader) unexpected(at int) {
	if at >= len(r.body) {
		r.err = &Error{"body", fmt.Sprintf("not JSON: it ends at byte %d", len(r.body)), true}
		return
	}
	c, _ := utf8.DecodeRune(r.body[at:])
	r.err = &Error{"body", fmt.Sprintf("not JSON: unexpected %q at byte %d", c, at), true}
}

// token reads the next token, which must be of a kind, and refuses others.
func (r *Reader) token(kind jsontext.Kind, name string) (t jsontext.Token, ok bool) {
	if r.err != nil {
		return t, false
	}
	t, err := r.tokens.ReadToken()
	switch found := t.Kind(); {
	case err != nil:
		r.mistake(err)
	case found == 'n':
		r.Refuse("expected %s instead of null: a field without a value is left out", name)
	case found != kind:
		r.Refuse("expected %s", name)
	}
	return t, r.err == nil
}

// mistake refuses what cannot be read as JSON. Text that is not UTF-8 and lone surrogates are
// JSON, which no two programs need to read alike.
func (r *Reader) mistake(err error) {
	at := len(r.body)
	if e, ok := err.(*jsontext.SyntacticError); ok && e.Err != io.ErrUnexpectedEOF {
		at = int(e.ByteOffset)
	}
	rest := r.body[at:]
	c, size := utf8.DecodeRune(rest)
	switch {
	case c == utf8.RuneError && size == 1:
		r.Refuse("not UTF-8: byte %d", at)
	case len(rest) >= 6 && rest[1] == 'u' && rest[2]|0x20 == 'd':
		r.Refuse("a lone surrogate, %s, at byte %d", bytes.ToLower(rest[:6]), at)
	default:
		r.unexpected(at)
	}
}

// Object reads an object whose fields have some of the names, which are in order. It calls value to
// read each field's value.
func (r *Reader) Object(names []string, value func(name string)) {
	if _, ok := r.token('{', "object"); !ok {
		return
	}
	var seen uint64
	for r.tokens.PeekKind() != '}' {
		t, ok := r.token('"', "name")
		if !ok {
			return
		}
		name := t.String()
		i, known := slices.BinarySearch(names, name)
		r.path = append(r.path, step{name: name})
		switch {
		case !known:
			r.Refuse("unexpected property: there are %s", strings.Join(names, ", "))
		case seen&(1<<i) != 0:
			r.Refuse("the property comes twice")
		default:
			value(names[i])
		}
		if r.err != nil {
			return
		}
		seen |= 1 << i
		r.path = r.path[:len(r.path)-1]
	}
	r.token('}', "object")
}

// Array reads an array with 1 to limit values, each of which item reads.
func (r *Reader) Array(limit int, item func()) {
	if _, ok := r.token('[', "array"); !ok {
		return
	}
	n := 0
	for ; r.tokens.PeekKind() != ']'; n++ {
		if n == limit {
			r.Refuse("expected array length <= %d", limit)
			return
		}
		r.path = append(r.path, step{item: n})
		if item(); r.err != nil {
			return
		}
		r.path = r.path[:len(r.path)-1]
	}
	if r.token(']', "array"); n == 0 {
		r.Refuse("expected array length >= 1")
	}
}

// Integer reads a number without a fraction, which 3.0 and 3e0 are as well as 3, from least to
// most.
func (r *Reader) Integer(least, most int) int {
	f := r.number("integer")
	switch {
	case r.err != nil:
		return 0
	case f != math.Trunc(f):
		r.Refuse("expected integer")
	case f < float64(least):
		r.Refuse("expected number >= %d", least)
	case f > float64(most):
		r.Refuse("expected number <= %d", most)
	}
	return int(f)
}

// Number reads a number.
func (r *Reader) Number() float64 {
	f := r.number("number")
	if math.IsInf(f, 0) {
		r.Refuse("expected number <= %v", math.MaxFloat64)
	}
	return f
}

func (r *Reader) number(kind string) float64 {
	t, ok := r.token('0', kind)
	if !ok {
		return 0
	}
	f, _ := strconv.ParseFloat(t.String(), 64) // beyond its range it is infinite, and too large
	return f
}

// String reads a string.
func (r *Reader) String() string {
	t, ok := r.token('"', "string")
	if !ok {
		return ""
	}
	return t.String()
}
