package format

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/text"
)

// A Range is bytes From up to To of a text or of a file.
type Range struct{ From, To int64 }

// Places returns the ranges of parts of a unit's text in its content. The parts ascend, do not touch and begin and end
// with whole characters. If these ranges are removed from the file, the text loses the parts, and everything else stays
// the same. ok is false if that is not possible, because the text was extracted from a page, another encoding, several
// strings or a record that is not JSON.
func (e *Extractor) Places(u Unit, parts []Range) (places []Range, ok bool) {
	var start int64 // offset of the text in the file
	switch {
	case u.format == Text:
		doc, err := e.Borrow(u)
		mark := bytes.HasPrefix(u.raw, []byte(text.ByteOrderMark)) && len(doc.Text) < len(u.raw)
		if mark {
			start = int64(len(text.ByteOrderMark))
		}
		if err != nil || string(u.raw[start:]) != doc.Text {
			return nil, false
		}
		places = slices.Clone(parts)
	case u.format == JSONL && u.fields != nil:
		quoted := quotedText(&u)
		if places, ok = quotedPlaces(quoted, parts); !ok || quoted == nil {
			return nil, false
		}
		start = int64(cap(u.raw) - cap(quoted)) // quoted is a part of raw
	default:
		return nil, false
	}
	for i := range places {
		places[i].From += u.rawOffset + start
		places[i].To += u.rawOffset + start
	}
	return places, true
}

// quotedText returns the text of a JSON object between its quotes, as a part of the record. It returns nil if the text
// is a page, not one string, or empty.
func quotedText(u *Unit) (quoted []byte) {
	field := recordField(u.raw, u.fields.Text)
	n, err := jsonEach(u.raw, field, func(v []byte) error {
		if jsonKind(v) == "string" {
			quoted = v[1 : len(v)-1]
		}
		return nil
	})
	if err != nil || n != 1 || isHTML(field) {
		return nil
	}
	return quoted
}

// quotedPlaces returns the ranges of parts of a string's content in the quoted string. ok is false if the rest would
// have another content.
func quotedPlaces(quoted []byte, parts []Range) (places []Range, ok bool) {
	// Follow the quoted string and its content up to each end of a part.
	places = slices.Clone(parts)
	position, length, exact := 0, int64(0), true // bytes read of the quoted string and of the content
	to := func(end int64) int64 {
		for length < end && position < len(quoted) {
			plain := bytes.IndexByte(quoted[position:], '\\')
			if plain < 0 {
				plain = len(quoted) - position
			}
			if plain = int(min(int64(plain), end-length)); plain > 0 {
				position, length = position+plain, length+int64(plain)
				continue
			}
			content, size, err := unescape(quoted[position:])
			exact = exact && err == nil
			if position, length = position+size, length+int64(utf8.RuneLen(content)); size == 1 { // keep it with the next byte
				position, length, exact = position+1, length+1, false
			}
		}
		exact = exact && length == end
		return int64(position)
	}
	for i := range places {
		places[i].From = to(parts[i].From)
		places[i].To = to(parts[i].To)
	}
	// Without a doubtful backslash the places are right.
	if exact {
		return places, true
	}
	// A backslash that begins no escape may begin one together with the bytes after a part.
	content, err := unquote(nil, quoted)
	shorter, errShorter := unquote(nil, removeRanges(quoted, places))
	return places, err == nil && errShorter == nil && parts[len(parts)-1].To <= int64(len(content)) &&
		bytes.Equal(shorter, removeRanges(content, parts))
}

// removeRanges returns the bytes that are in no part.
func removeRanges(b []byte, parts []Range) (rest []byte) {
	offset := int64(0)
	for _, p := range parts {
		rest = append(rest, b[offset:p.From]...)
		offset = p.To
	}
	return append(rest, b[offset:]...)
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
		for _, candidate := range names {
			if taken == "" && isName(name, candidate) {
				taken = candidate
			}
		}
	})
	return u.rawOffset + int64(bytes.LastIndexByte(u.raw, '}')), taken, isObject && err == nil && n > 0
}
