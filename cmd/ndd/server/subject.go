package server

import (
	"context"
	"errors"
	"strings"
	"sync"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/corpus/text"
)

// A subject is the fingerprint, or the document, of a request.
type subject struct {
	Fingerprint *hexPrint `json:"fingerprint"`
	Text        *string   `json:"text"`
	HTML        *string   `json:"html"`

	isWholeBody bool // the text is the whole body
}

// setText sets the text of a document that is the whole body.
func (s *subject) setText(text string) { s.Text, s.isWholeBody = &text, true }

// A hexPrint is a fingerprint in JSON: 16 hexadecimal digits.
type hexPrint simhash.Fingerprint

// UnmarshalText reads the digits.
func (f *hexPrint) UnmarshalText(text []byte) error {
	fingerprint, err := simhash.Parse(string(text))
	if err != nil {
		return errors.New("expected 16 hexadecimal digits, such as 8c7f2d1e0a9b4455")
	}
	*f = hexPrint(fingerprint)
	return nil
}

// A summary is the fingerprint and the sketch of a document. The zero sketch is unknown.
type summary struct {
	fingerprint simhash.Fingerprint
	sketch      sketch.Sketch
}

// A summarizer makes summaries by the recipe of one index. It is safe for concurrent use.
type summarizer struct{ fingerprinters sync.Pool } // values are *simhash.Fingerprinter

// summarize returns the summary of a subject. place is its position in the request, for messages.
func (s *summarizer) summarize(ctx context.Context, recipe *simhash.Recipe, sub *subject, place string) (summary, *problem) {
	if p := oneOf(place, "fingerprint, text and html", sub.Fingerprint != nil, sub.Text != nil,
		sub.HTML != nil); p != nil {
		return summary{}, p
	}
	switch {
	case sub.Fingerprint != nil && isPrivate(recipe):
		return summary{}, fieldProblem(place+".fingerprint", privateKeyHint)
	case sub.Fingerprint != nil:
		return summary{fingerprint: simhash.Fingerprint(*sub.Fingerprint)}, nil
	case sub.HTML != nil:
		text, err := textOf(ctx, recipe, []byte(*sub.HTML), mediaHTML)
		if err != nil {
			return summary{}, errorProblem(err)
		}
		return s.summarizeText(ctx, recipe, text, place+".html")
	case sub.isWholeBody:
		return s.summarizeText(ctx, recipe, *sub.Text, place)
	}
	return s.summarizeText(ctx, recipe, *sub.Text, place+".text")
}

// privateKeyHint is the message that refuses fingerprints from clients.
const privateKeyHint = "the key of this index is private, so fingerprints that were made elsewhere match nothing: " +
	"send text or html"

// isPrivate reports whether the recipe has a private key. Then only the server can make fingerprints.
func isPrivate(recipe *simhash.Recipe) bool { return recipe != nil && recipe.Private }

// textOf returns the same text of a document as `ndd fingerprint`. The content type is text/plain or text/html, with
// an optional charset. The only error is ctx.Err.
func textOf(ctx context.Context, recipe *simhash.Recipe, body []byte, contentType string) (string, error) {
	declared := text.Declaration{ContentType: contentType}
	if strings.HasPrefix(contentType, mediaHTML) {
		declared.Kind = text.Page
	}
	if recipe != nil {
		declared.Extraction = text.Extraction(recipe.Extract)
	}
	decoded, err := new(text.Decoder).Decode(ctx, body, declared)
	return decoded.Text, err
}

// summarizeText returns the summary of a text.
func (s *summarizer) summarizeText(ctx context.Context, recipe *simhash.Recipe, text, place string) (summary, *problem) {
	if recipe == nil {
		return summary{}, fieldProblem(place,
			"the index was built from raw fingerprints, so it has no recipe for documents: send a fingerprint, or build an "+
				"index with --recipe")
	}
	f, ok := s.fingerprinters.Get().(*simhash.Fingerprinter)
	if !ok {
		var err error
		if f, err = simhash.New(*recipe); err != nil {
			panic("server: an index with an invalid recipe: " + err.Error()) // New and Open validate
		}
	}
	defer s.fingerprinters.Put(f)
	f.Until(ctx)
	fingerprint, features, ok, sketch := f.Sketch(text)
	if err := ctx.Err(); err != nil {
		return summary{}, errorProblem(err)
	}
	if !ok {
		return summary{}, fieldProblem(place, "document too short for a fingerprint: %s", f.Recipe().TooShort(features))
	}
	return summary{fingerprint, sketch}, nil
}
