package document

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decodeText brings a text to UTF-8. A byte order mark decides; without one it is UTF-8 or, if it
// is not, what its bytes show, what its Content-Type says, mostly UTF-8, which is repaired, or, if it looks so,
// GBK; else Windows-1252.
func decodeText(raw []byte, contentType string) (text []byte, repaired int) {
	switch {
	case bytes.HasPrefix(raw, []byte(utf8Mark)):
		return repair(raw[len(utf8Mark):])
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return decode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), raw)
	}
	enc, name := charset.Lookup(charsetOf(contentType))
	if strings.HasPrefix(name, "utf-16") && bytes.IndexByte(raw, 0) >= 0 {
		return decode(enc, raw) // of ASCII it is valid UTF-8, too
	}
	if utf8.Valid(raw) {
		return raw, 0
	}
	if enc != nil && name == "utf-8" {
		enc, name = nil, ""
	}
	if seen := guessEncoding(raw, name, enc); seen != nil && !mostlyUTF8(raw, pageTimes) {
		return decode(seen, raw)
	}
	switch {
	case enc != nil:
		return decode(enc, raw)
	case mostlyUTF8(raw, 1):
		return repair(raw)
	case looksGBK(raw):
		return decode(simplifiedchinese.GB18030, raw)
	}
	return decode(charmap.Windows1252, raw)
}

// decodeHTML brings a page to UTF-8. In this order: a byte order mark, its Content-Type, a meta
// element in the first 1,024 bytes, valid UTF-8, what looks like GBK, and Windows-1252, as the HTML
// standard has it. Valid UTF-8 is UTF-8 whatever is declared, and bytes that show another encoding
// far better than the declared one are of that.
func decodeHTML(raw []byte, contentType string) (page []byte, repaired int) {
	if utf8.Valid(raw) && bytes.IndexByte(raw, 0x1b) < 0 {
		// Whatever it declares: other encodings of more than ASCII are not by chance valid UTF-8.
		return bytes.TrimPrefix(raw, []byte(utf8Mark)), 0
	}
	enc, name, certain := charset.DetermineEncoding(raw, "text/html; charset="+charsetOf(contentType)) // certain by a byte order mark or the type
	switch {
	case name == "utf-8" && (mostlyUTF8(raw, pageTimes) || guessEncoding(raw, "", nil) == nil), !certain && mostlyUTF8(raw, pageTimes):
		return repair(bytes.TrimPrefix(raw, []byte(utf8Mark)))
	case name == "gbk":
		enc = simplifiedchinese.GB18030 // of which it is a part, and which pages say when they are the other
	}
	declared := name
	if name == "windows-1252" || name == "utf-8" {
		declared = "" // what the standard falls back on, and what it is not
	}
	switch seen := guessEncoding(raw, declared, enc); {
	case seen != nil:
		return decode(seen, raw)
	case name == "windows-1252" && looksGBK(raw): // what the standard falls back on, or what a template declares
		return decode(simplifiedchinese.GB18030, raw)
	}
	return decode(enc, raw)
}

const pageTimes = 8 // of mostlyUTF8, for pages, and where bytes show another encoding

// mostlyUTF8 distinguishes a damaged UTF-8 page without declaration from a page in an 8-bit
// encoding: in the former, sequences of several bytes are valid that many times as often as not.
func mostlyUTF8(raw []byte, times int) bool {
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
	return valid > times*invalid
}

// looksGBK distinguishes Chinese in GBK, often undeclared, from 8-bit encodings:
// at least 20 bytes beyond ASCII, and 19 of 20 of them in pairs of the original GB 2312, whose
// second byte is beyond ASCII as well. In Western text such bytes stand alone. In the encodings of
// Japanese and Korean they pair up too; those without declaration are read wrongly, and alike each
// time.
func looksGBK(raw []byte) bool {
	paired, alone := 0, 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c < utf8.RuneSelf:
		case c >= 0xa1 && c <= 0xf7 && i+1 < len(raw) && raw[i+1] >= 0xa1 && raw[i+1] <= 0xfe:
			paired += 2
			i++
		default:
			alone++
		}
	}
	return paired >= 20 && paired >= 19*alone
}

// measuredFrom is the length of a text from which on it is decoded twice, so that its memory is known
// when it is taken: it may become three times as long, and growing memory takes as much again.
const measuredFrom = 1 << 20

// byteCount counts what is written to it.
type byteCount int

// Write implements [io.Writer].
func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// decode converts from another encoding. Bytes that are invalid in it become U+FFFD.
func decode(enc encoding.Encoding, raw []byte) (text []byte, repaired int) {
	var err error
	if len(raw) < measuredFrom {
		text, err = enc.NewDecoder().Bytes(raw)
	} else {
		var size byteCount
		w := transform.NewWriter(&size, enc.NewDecoder())
		_, err = w.Write(raw)
		if err = errors.Join(err, w.Close()); err == nil {
			text = make([]byte, size)
			_, _, err = enc.NewDecoder().Transform(text, raw, true)
		}
	}
	if err != nil {
		return repair(raw)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return text, bytes.Count(text, []byte("\ufffd"))
}

// repair replaces every run of invalid bytes by U+FFFD and counts the runs. Valid UTF-8 is returned
// as it is.
func repair(raw []byte) (text []byte, repaired int) {
	if utf8.Valid(raw) {
		return raw, 0
	}
	size := len(raw)
	for part, isValid := range utf8Parts(raw) {
		if !isValid {
			repaired++
			size += utf8.UTFMax - 1 - len(part)
		}
	}
	text = make([]byte, 0, size)
	for part, isValid := range utf8Parts(raw) {
		if isValid {
			text = append(text, part...)
		} else {
			text = utf8.AppendRune(text, utf8.RuneError)
		}
	}
	return text, repaired
}

// utf8Parts yields the longest parts that are valid and those that are not, in turn.
func utf8Parts(raw []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		for from, i := 0, 0; from < len(raw); from = i {
			isValid := true
			for i < len(raw) {
				r, size := utf8.DecodeRune(raw[i:])
				if ok := r != utf8.RuneError || size > 1; i == from {
					isValid = ok
				} else if ok != isValid {
					break
				}
				i += size
			}
			if !yield(raw[from:i], isValid) {
				return
			}
		}
	}
}

// unknownCharset returns the name of the encoding that a text or, where html is set, a page declares, by its
// Content-Type or else by a meta element, if its bytes had to tell another one: since it is no encoding that this
// package reads, or is "none", or since they are no UTF-8; else "".
func unknownCharset(raw []byte, contentType string, html bool) string {
	if utf8.Valid(raw) || bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		return ""
	}
	declared, times := charsetOf(contentType), 1
	if html {
		declared, times = cmp.Or(declared, metaCharset(raw)), pageTimes
	}
	enc, name := charset.Lookup(declared)
	switch {
	case declared != "" && enc == nil:
		return declared
	case enc != nil && name != "utf-8", mostlyUTF8(raw, times):
		return ""
	}
	return cmp.Or(declared, "none")
}

// KnownCharset reports whether texts in the encoding of this name can be read.
func KnownCharset(name string) bool {
	enc, _ := charset.Lookup(name)
	return enc != nil
}

const metaBytes = 1024 // of a page in which the HTML standard looks for a declaration

// metaElement matches a meta element with a charset, and up to 40 bytes of its name.
var metaElement = regexp.MustCompile(`(?i)<meta[^>]*?charset\s*=[\s"']*([^\s"';/>]{0,40})`)

// metaCharset returns the charset that a meta element at the beginning of a page declares, or "".
func metaCharset(page []byte) string {
	if m := metaElement.FindSubmatch(page[:min(len(page), metaBytes)]); m != nil {
		return strings.ToLower(string(m[1]))
	}
	return ""
}
