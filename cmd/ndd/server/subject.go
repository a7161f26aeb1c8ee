package server

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"

	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/text"
)

// A subject is what a request is about: a fingerprint, or a document that gets one.
type subject struct {
	Fingerprint *hexPrint `json:"fingerprint"`
	Text        *string   `json:"text"`
	HTML        *string   `json:"html"`

	whole bool // the text is the whole body
}

// setText takes the text of a document that is the whole body.
func (s *subject) setText(text string) { s.Text, s.whole = &text, true }

// A hexPrint is a fingerprint that is written as 16 hexadecimal digits.
type hexPrint simhash.Fingerprint

// UnmarshalText reads the digits.
func (f *hexPrint) UnmarshalText(text []byte) error {
	print, err := simhash.Parse(string(text))
	if err != nil {
		return errors.New("expected 16 hexadecimal digits, such as 8c7f2d1e0a9b4455")
	}
	*f = hexPrint(print)
	return nil
}

// A sketch is the fingerprint of a document and the length of its text, 0 if that is not known.
type sketch struct {
	print     simhash.Fingerprint
	textBytes uint32
}

// A sketcher makes sketches by the recipe of one index. It is safe for concurrent use.
type sketcher struct{ prints sync.Pool } // of *simhash.Fingerprinter

// sketch returns the sketch of a subject. Place is its position in the request of ctx.
func (s *sketcher) sketch(ctx context.Context, recipe *simhash.Recipe, sub *subject, place string) (sketch, *problem) {
	if p := oneOf(place, "fingerprint, text and html", sub.Fingerprint != nil, sub.Text != nil,
		sub.HTML != nil); p != nil {
		return sketch{}, p
	}
	switch {
	case sub.Fingerprint != nil && isPrivate(recipe):
		return sketch{}, misfit(place+".fingerprint", privateKeyHint)
	case sub.Fingerprint != nil:
		return sketch{print: simhash.Fingerprint(*sub.Fingerprint)}, nil
	case sub.HTML != nil:
		text, err := textOf(ctx, recipe, []byte(*sub.HTML), mediaHTML)
		if err != nil {
			return sketch{}, broken(err)
		}
		return s.sketchText(ctx, recipe, text, place+".html")
	case sub.whole:
		return s.sketchText(ctx, recipe, *sub.Text, place)
	}
	return s.sketchText(ctx, recipe, *sub.Text, place+".text")
}

// privateKeyHint refuses fingerprints.
const privateKeyHint = "the key of this index is private, so that a fingerprint that was made elsewhere compares with none: " +
	"send text or html"

// isPrivate reports whether only the server can make fingerprints by a recipe.
func isPrivate(recipe *simhash.Recipe) bool { return recipe != nil && recipe.Private }

// textOf returns the text of a document as `ndd fingerprint` does. The content type is text/plain
// or text/html, perhaps with a charset. The only error is ctx.Err.
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

// sketchText returns the sketch of a text.
func (s *sketcher) sketchText(ctx context.Context, recipe *simhash.Recipe, text, place string) (sketch, *problem) {
	if recipe == nil {
		return sketch{}, misfit(place,
			"the index was built from raw fingerprints, so it has no recipe for documents: send a fingerprint, or build an "+
				"index with --recipe")
	}
	f, ok := s.prints.Get().(*simhash.Fingerprinter)
	if !ok {
		var err error
		if f, err = simhash.New(*recipe); err != nil {
			panic("server: an index with an invalid recipe: " + err.Error()) // New and Open validate
		}
	}
	defer s.prints.Put(f)
	f.Until(ctx)
	print, features, ok := f.Fingerprint(text)
	if err := ctx.Err(); err != nil {
		return sketch{}, broken(err)
	}
	if !ok {
		return sketch{}, misfit(place, "document too short for a fingerprint: %s", f.Recipe().TooShort(features))
	}
	return sketch{print, uint32(min(uint64(len(text)), math.MaxUint32))}, nil
}
