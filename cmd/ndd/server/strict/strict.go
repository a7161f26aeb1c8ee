// Package strict reads JSON into structs. It refuses bodies that two programs could read differently: repeated names,
// unknown names, names in another case, null, invalid UTF-8, and lone surrogates.
//
// The reader is package json of go-json-experiment, the future encoding/json/v2. This package adds the place of the
// first mistake, and messages for authors of clients. Tags have the names of fields. A type may read a text with
// UnmarshalText and a number with UnmarshalJSON; their errors become messages.
package strict

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An Error is the first mistake in a body.
type Error struct {
	Place   string // place of the value, such as body.documents[3].text
	Message string
	Syntax  bool // the body is not JSON; otherwise a value is invalid
}

var options = json.JoinOptions(json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, into any) error {
		if d.PeekKind() == 'n' {
			if _, err := d.ReadValue(); err != nil { // an invalid word that begins like null
				return err
			}
			return fmt.Errorf("expected %s instead of null: a field without a value is left out",
				typeName(reflect.TypeOf(into).Elem()))
		}
		return json.SkipFunc
	})))

// Read reads a body, one JSON value, into *into. It returns the first mistake, or nil. place is the place of the value.
func Read(place string, body []byte, into any) *Error {
	err := json.Unmarshal(body, into, options)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return syntaxProblem(place, body, e)
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return &Error{Place: place, Message: err.Error()}
	}
	text, place := isText(e.GoType), placeOf(place, e.JSONPointer)
	switch {
	case e.Err == json.ErrUnknownName:
		return &Error{Place: place, Message: "unexpected property: there are " + strings.Join(Fields(e.GoType), ", ")}
	case e.Err == nil || text && e.JSONKind != '"':
		return &Error{Place: place, Message: "expected " + typeName(e.GoType)}
	}
	return &Error{Place: place, Message: e.Err.Error()}
}

// syntaxProblem describes a body that is not JSON. It also describes invalid UTF-8, lone surrogates and repeated
// names, which different programs may read differently.
func syntaxProblem(root string, body []byte, e *jsontext.SyntacticError) *Error {
	place, offset := placeOf(root, e.JSONPointer), int(e.ByteOffset)
	if e.Err == io.ErrUnexpectedEOF || offset >= len(body) {
		return &Error{root, fmt.Sprintf("not JSON: it ends at byte %d", len(body)), true}
	}
	tail := body[offset:]
	c, size := utf8.DecodeRune(tail)
	switch {
	case e.Err == jsontext.ErrDuplicateName:
		return &Error{Place: place, Message: "the property occurs twice"}
	case c == utf8.RuneError && size == 1:
		return &Error{Place: place, Message: fmt.Sprintf("not UTF-8: byte %d", offset)}
	case len(tail) >= 6 && tail[1] == 'u' && tail[2]|0x20 == 'd':
		return &Error{Place: place, Message: fmt.Sprintf("a lone surrogate, %s, at byte %d", bytes.ToLower(tail[:6]), offset)}
	}
	return &Error{root, fmt.Sprintf("not JSON: unexpected %q at byte %d", c, offset), true}
}

// placeOf returns a place in a value in the syntax of Go.
func placeOf(root string, p jsontext.Pointer) string {
	var b strings.Builder
	b.WriteString(root)
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			fmt.Fprintf(&b, "[%s]", token)
		} else {
			fmt.Fprintf(&b, ".%.80s", token)
		}
	}
	return b.String()
}

// isText reports whether JSON has strings for values of a type.
func isText(t reflect.Type) bool {
	return t.Kind() == reflect.String || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// typeName returns the kind of JSON value that a type is read from.
func typeName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case isText(t):
		return "string"
	case t.Kind() == reflect.Struct:
		return "object"
	case t.Kind() == reflect.Slice:
		return "array"
	case t.Kind() == reflect.Int:
		return "integer"
	}
	return "number"
}

// Fields returns the names of the fields of a struct, in order.
func Fields(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("json"); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Integer parses a JSON number without a fraction, from minimum to maximum. 3.0 and 3e0 are such numbers, too.
func Integer(value []byte, minimum, maximum int) (int, error) {
	f, err := strconv.ParseFloat(string(value), 64) // a number out of range becomes infinite, which is too large
	switch {
	case errors.Is(err, strconv.ErrSyntax) || f != math.Trunc(f):
		return 0, errors.New("expected integer")
	case f < float64(minimum):
		return 0, fmt.Errorf("expected number >= %d", minimum)
	case f > float64(maximum):
		return 0, fmt.Errorf("expected number <= %d", maximum)
	}
	return int(f), nil
}

// A List is an array with 1 to [Max] values.
type List[T any] []T

// Max is the largest number of values of a [List].
const Max = 4096

// UnmarshalJSONFrom reads the array. It stops at the first value beyond the limit.
func (l *List[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	place := d.StackPointer()
	if kind := d.PeekKind(); kind != '[' && kind != 0 {
		return errors.New("expected array")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if len(*l) == Max {
			return &json.SemanticError{JSONPointer: place, Err: fmt.Errorf("expected array length <= %d", Max)}
		}
		var value T
		if err := json.UnmarshalDecode(d, &value); err != nil {
			return err
		}
		*l = append(*l, value)
	}
	if _, err := d.ReadToken(); err != nil || len(*l) > 0 {
		return err
	}
	return errors.New("expected array length >= 1")
}
