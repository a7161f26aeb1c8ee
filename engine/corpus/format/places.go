package format

import (
	"bytes"
	"slices"

	"example.org/ndd/engine/corpus/text"
)

// A Range is bytes From up to To of a text or of a file.
type Range struct{ From, To int64 }

// Places returns the ranges of parts of a unit's text in its content. The parts ascend, do not touch and begin and end
// with whole characters. If these ranges are removed from the file, the text loses the parts, and everything else stays
// the same. ok is false if that is not possible, because the text was extracted from a page, another encoding, several
// strings or a record that is not JSON.
func (e *Extractor) Places(u Unit, parts []Range) (places []Range, ok bool) {
	doc, err := e.Extract(u)
	if err != nil {
		return nil, false
	}
	rest := without(nil, []byte(doc.Text), parts)
	switch {
	case u.format == Text:
		mark := 0
		if bytes.HasPrefix(u.raw, []byte(text.ByteOrderMark)) && len(doc.Text) < len(u.raw) {
			mark = len(text.ByteOrderMark)
		}
		if string(u.raw[mark:]) != doc.Text {
			return nil, false
		}
		for _, p := range parts {
			places = append(places, Range{u.at + int64(mark) + p.From, u.at + int64(mark) + p.To})
		}
		return places, true
	case u.format != JSONL || u.fields == nil:
		return nil, false
	}
	field := recordField(u.raw, u.fields.Text)
	if isHTML(field) {
		return nil, false
	}
	var text []byte
	n, err := jsonEach(u.raw, field, func(v []byte) error {
		text = v
		return nil
	})
	if err != nil || n != 1 || jsonKind(text) != "string" {
		return nil, false
	}
	at := cap(u.raw) - cap(text) + 1 // text is a part of raw
	if &u.raw[at-1] != &text[0] {
		return nil, false
	}
	text = text[1 : len(text)-1]
	places = quoted(text, parts)
	if shorter, err := unquote(nil, without(nil, text, places)); err != nil || !bytes.Equal(shorter, rest) {
		return nil, false
	}
	for i := range places {
		places[i].From += u.at + int64(at)
		places[i].To += u.at + int64(at)
	}
	return places, true
}

// without appends the bytes that are in no part to dst.
func without(dst, b []byte, parts []Range) []byte {
	at := int64(0)
	for _, p := range parts {
		dst = append(dst, b[at:p.From]...)
		at = p.To
	}
	return append(dst, b[at:]...)
}

// quoted returns the ranges of parts of a string's content in the quoted string.
func quoted(s []byte, parts []Range) []Range {
	places := slices.Clone(parts)
	at, length := 0, int64(0) // bytes read of s, and of the content
	to := func(end int64) int64 {
		for length < end && at < len(s) {
			plain := bytes.IndexByte(s[at:], '\\')
			if plain < 0 {
				plain = len(s) - at
			}
			if plain = int(min(int64(plain), end-length)); plain > 0 {
				at, length = at+plain, length+int64(plain)
				continue
			}
			size := escape(s[at:])
			content, _ := unquote(nil, s[at:at+size])
			at, length = at+size, length+int64(len(content))
		}
		return int64(at)
	}
	for i := range places {
		places[i].From = to(parts[i].From)
		places[i].To = to(parts[i].To)
	}
	return places
}

// escape returns the length of the escape that s begins with, of both halves of a surrogate pair.
func escape(s []byte) int {
	const one = len(`\u0000`)
	if len(s) < 2 || s[1] != 'u' {
		return min(len(s), 2)
	}
	r, ok := hexRune(s[2:])
	switch {
	case !ok:
		return 2
	case r >= 0xd800 && r < 0xdc00 && len(s) >= 2*one:
		return 2 * one
	}
	return one
}

// ObjectEnd returns the place for new fields in a unit's JSON object: before its closing brace, as an offset in the
// decompressed file. taken is the first of names that the object already has. ok is false if the unit is not a JSON
// object, or an empty one.
func (u Unit) ObjectEnd(names []string) (end int64, taken string, ok bool) {
	if u.format != JSONL {
		return 0, "", false
	}
	n := 0
	isObject, err := jsonMembers(u.raw, func(name, _ []byte) {
		n++
		for _, own := range names {
			if taken == "" && isName(name, own) {
				taken = own
			}
		}
	})
	return u.at + int64(bytes.LastIndexByte(u.raw, '}')), taken, isObject && err == nil && n > 0
}
