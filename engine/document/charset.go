package document

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// decodeText brings a text file to UTF-8. A byte order mark decides; without one it is UTF-8, repaired.
func decodeText(raw []byte) (text []byte, repaired int) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		return repair(raw[3:])
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return decode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), raw)
	}
	return repair(raw)
}

// decodeHTML brings a page to UTF-8. In this order: a byte order mark, a meta element in the first 1,024
// bytes, valid UTF-8, and Windows-1252, as the HTML standard has it.
func decodeHTML(raw []byte) (page []byte, repaired int) {
	if utf8.Valid(raw) && bytes.IndexByte(raw, 0x1b) < 0 {
		// Whatever it declares: other encodings of more than ASCII are not by chance valid UTF-8.
		return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), 0
	}
	enc, name, certain := charset.DetermineEncoding(raw, "")
	if name == "utf-8" {
		return repair(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	}
	if !certain && mostlyUTF8(raw) {
		return repair(raw)
	}
	return decode(enc, raw)
}

// mostlyUTF8 tells a damaged UTF-8 page without declaration from a page in an 8-bit encoding: in the former,
// sequences of several bytes are valid far more often than not.
func mostlyUTF8(raw []byte) bool {
	valid, invalid := 0, 0
	for i := 0; i < len(raw); {
		if raw[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && size == 1 {
			invalid++
		} else {
			valid++
		}
		i += size
	}
	return valid > 8*invalid
}

// decode converts from another encoding. What it could not read has become U+FFFD.
func decode(enc encoding.Encoding, raw []byte) (text []byte, repaired int) {
	text, err := enc.NewDecoder().Bytes(raw)
	if err != nil {
		return repair(raw)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return text, bytes.Count(text, []byte("\ufffd"))
}

// repair replaces every run of invalid bytes by U+FFFD and counts the runs. Valid UTF-8 is returned as it is.
func repair(raw []byte) (text []byte, repaired int) {
	if utf8.Valid(raw) {
		return raw, 0
	}
	text = make([]byte, 0, len(raw)+16)
	inRun := false
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && size == 1 {
			if !inRun {
				text = append(text, "\ufffd"...)
				repaired++
			}
			inRun = true
		} else {
			text = append(text, raw[i:i+size]...)
			inRun = false
		}
		i += size
	}
	return text, repaired
}
