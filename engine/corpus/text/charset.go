package text

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// decodeText brings a text to UTF-8. It takes the first encoding that fits: a byte order mark, valid UTF-8,
// the encoding that the bytes show, the encoding of the Content-Type, UTF-8 with few invalid bytes, GBK if the bytes
// look like it, and Windows-1252.
func decodeText(raw []byte, contentType string) (text []byte, repaired int) {
	switch {
	case bytes.HasPrefix(raw, []byte(ByteOrderMark)):
		return repair(raw[len(ByteOrderMark):])
	case IsUTF16(raw):
		return decode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), raw)
	}
	enc, name := charset.Lookup(charsetOf(contentType))
	if strings.HasPrefix(name, "utf-16") && bytes.IndexByte(raw, 0) >= 0 {
		return decode(enc, raw) // ASCII in UTF-16 is valid UTF-8, too
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

// decodeHTML brings a page to UTF-8. It takes the first encoding that fits: a byte order mark, its Content-Type, a
// meta element in the first 1,024 bytes, valid UTF-8, GBK if the bytes look like it, and Windows-1252, which is the
// HTML standard's default. Valid UTF-8 is UTF-8 whatever is declared. If the bytes show another encoding far better
// than the declared one, that encoding is used.
func decodeHTML(raw []byte, contentType string) (page []byte, repaired int) {
	if utf8.Valid(raw) && bytes.IndexByte(raw, 0x1b) < 0 {
		// Whatever it declares: other encodings of more than ASCII are not by chance valid UTF-8.
		return bytes.TrimPrefix(raw, []byte(ByteOrderMark)), 0
	}
	enc, name, certain := charset.DetermineEncoding(raw, "text/html; charset="+charsetOf(contentType)) // certain if a byte order mark or the content type decides
	switch {
	case name == "utf-8" && (mostlyUTF8(raw, pageTimes) || guessEncoding(raw, "", nil) == nil), !certain && mostlyUTF8(raw, pageTimes):
		return repair(bytes.TrimPrefix(raw, []byte(ByteOrderMark)))
	case name == "gbk":
		enc = simplifiedchinese.GB18030 // GBK is a part of GB18030, and pages in GB18030 declare it
	}
	declared := name
	if name == "windows-1252" || name == "utf-8" {
		declared = "" // the default of the standard, and an encoding that the bytes rule out
	}
	switch seen := guessEncoding(raw, declared, enc); {
	case seen != nil:
		return decode(seen, raw)
	case name == "windows-1252" && looksGBK(raw): // the default of the standard, or the declaration of a template
		return decode(simplifiedchinese.GB18030, raw)
	}
	return decode(enc, raw)
}

const pageTimes = 8 // the factor of mostlyUTF8 for pages, and for bytes that show another encoding

// mostlyUTF8 distinguishes a damaged UTF-8 page without declaration from a page in an 8-bit encoding. In UTF-8, the
// number of valid sequences of several bytes is more than times the number of invalid bytes.
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

// looksGBK distinguishes Chinese in GBK, which is often undeclared, from 8-bit encodings. The text must have at least
// 20 bytes beyond ASCII, and 19 of 20 of them must be in pairs of the original GB 2312, which has both bytes beyond
// ASCII. In Western text, such bytes occur alone. In Japanese and Korean encodings they occur in pairs, too. Without a
// declaration such texts are read wrongly, but always in the same way.
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

// unknownCharset returns the encoding that a text or page declares, if its bytes had to show another one: because this
// package does not read the declared encoding, or the bytes are no UTF-8. It returns "none" if nothing is declared, and
// "" if the declaration holds. The Content-Type declares the encoding and, if html is set, a meta element.
func unknownCharset(raw []byte, contentType string, html bool) string {
	if utf8.Valid(raw) || IsUTF16(raw) {
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

const metaBytes = 1024 // the HTML standard looks for a declaration in the first bytes of a page

// metaElement matches a meta element with a charset, and up to 40 bytes of its name.
var metaElement = regexp.MustCompile(`(?i)<meta[^>]*?charset\s*=[\s"']*([^\s"';/>]{0,40})`)

// metaCharset returns the charset that a meta element at the beginning of a page declares, or "".
func metaCharset(page []byte) string {
	if m := metaElement.FindSubmatch(page[:min(len(page), metaBytes)]); m != nil {
		return strings.ToLower(string(m[1]))
	}
	return ""
}

// charsetParameter matches the charset of a Content-Type, however it is set apart.
var charsetParameter = regexp.MustCompile(`(?i)\bcharset\s*=\s*["']?([^\s"';,]+)`)

// charsetOf returns the charset parameter of a Content-Type, or "".
func charsetOf(contentType string) string {
	if m := charsetParameter.FindStringSubmatch(contentType); m != nil {
		return m[1]
	}
	return ""
}
