package text

import (
	"context"
	"unsafe"
)

// Kind says how bytes hold a text.
type Kind uint8

// The kinds of texts.
const (
	Plain Kind = iota // a text in any encoding
	Page              // an HTML page in any encoding
	UTF8              // a text in UTF-8, as in formats that allow no other encoding
)

// Declaration is the encoding that a document declares.
type Declaration struct {
	Kind        Kind
	ContentType string     // HTTP's, which may name the charset; "" if unknown
	Extraction  Extraction // the part of a page to return; "" is ExtractAll
}

// Result is a text, with a record of its repair.
type Result struct {
	Text     string // valid UTF-8
	Repaired int    // invalid byte sequences that were replaced by U+FFFD
	// Charset is the encoding that the document declares, if the bytes had to show another one: a name that is
	// unknown or wrong, or "none"; else "".
	Charset string
}

// Decoder decodes documents one after the other and reuses its memory. The zero value is ready.
type Decoder struct{ page pageText }

// Decode returns the text of a document. The text of a plain document may share the memory of raw, so nobody
// may write to raw while the text is used. The end of ctx ends the reading of a long page and is the only error.
func (d *Decoder) Decode(ctx context.Context, raw []byte, declared Declaration) (r Result, err error) {
	switch declared.Kind {
	case Page:
		page, repaired := decodeHTML(raw, declared.ContentType)
		r.Repaired, r.Charset = repaired, unknownCharset(raw, declared.ContentType, true)
		r.Text, err = d.page.extract(ctx, page, declared.Extraction)
		return r, err
	case UTF8:
		text, repaired := repair(raw)
		return Result{Text: String(text), Repaired: repaired}, nil
	}
	text, repaired := decodeText(raw, declared.ContentType)
	return Result{String(text), repaired, unknownCharset(raw, declared.ContentType, false)}, nil
}

// String returns bytes as a string without copying them. Nobody may write to them while the string is used.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
