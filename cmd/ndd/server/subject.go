package server

import (
	"bytes"
	"context"
	"math"
	"net/http"
	"strings"

	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/simhash"
)

// A Subject is what a request is about: a fingerprint, or a document that gets
// one. It has an exported name because huma looks into no other embedded types.
type Subject struct {
	Fingerprint *string `json:"fingerprint,omitempty" pattern:"^[0-9a-fA-F]{16}(,[0-9a-fA-F]{16})?$" patternDescription:"16 hexadecimal digits (and 16 more after a comma, where documents have two fingerprints)" doc:"A fingerprint, made with the index's recipe; both with a comma where the recipe makes two of a document" example:"8c7f2d1e0a9b4455"`
	Text        *string `json:"text,omitempty" format:"document-text" doc:"Plain text; it is fingerprinted with the index's recipe, which wants a few distinct features"`
	HTML        *string `json:"html,omitempty" format:"document-html" doc:"An HTML page; its text is fingerprinted without the markup"`

	whole bool // the text is that of the request's whole body
}

// A sketch is what the engine is asked about: the fingerprints of a document, and how long the text was, 0 where there was none.
type sketch struct {
	prints    []simhash.Fingerprint // as many as documents of the index have
	textBytes uint32
}

// String returns the fingerprints, with a comma between two.
func (s sketch) String() string {
	text := s.prints[0].String()
	for _, f := range s.prints[1:] {
		text += "," + f.String()
	}
	return text
}

// put gives a document its fingerprints.
func (s sketch) put(d *engine.Doc) {
	if d.TextBytes = s.textBytes; len(s.prints) > 0 {
		d.Fingerprint = s.prints[0]
	}
	if len(s.prints) > 1 {
		d.Second = s.prints[1]
	}
}

// sketchOf returns that of a document of the index.
func (s *service) sketchOf(d engine.Doc) sketch {
	return sketch{[]simhash.Fingerprint{d.Fingerprint, d.Second}[:s.index.Load().PrintsEach()], d.TextBytes}
}

// parsePrints reads as many fingerprints as documents of the index have, with a comma between two.
func (s *service) parsePrints(text, place string) (prints []simhash.Fingerprint, p *problem) {
	for part := range strings.SplitSeq(text, ",") {
		f, err := simhash.Parse(part)
		if err != nil {
			return nil, misfit(place, "%v", err)
		}
		prints = append(prints, f)
	}
	if each := s.index.Load().PrintsEach(); len(prints) != each {
		return nil, misfit(place, "%s, and the documents of the index have %d each", counted(int64(len(prints)), "fingerprint"), each)
	}
	return prints, nil
}

// sketch returns the subject's; place is the subject's position in the request.
func (s *service) sketch(ctx context.Context, sub *Subject, place string) (sketch, *problem) {
	if sub.Fingerprint != nil {
		if p := sub.check(place); p != nil {
			return sketch{}, p
		}
		prints, p := s.parsePrints(*sub.Fingerprint, at(place, "fingerprint"))
		return sketch{prints: prints}, p
	}
	text, field, p := sub.text(ctx, s, place)
	if p != nil {
		return sketch{}, p
	}
	return s.sketchText(text, field)
}

// check refuses a subject that is not exactly one thing.
func (sub *Subject) check(place string) *problem {
	given := 0
	for _, field := range []*string{sub.Fingerprint, sub.Text, sub.HTML} {
		if field != nil {
			given++
		}
	}
	switch given {
	case 0:
		return misfit(place, "one of fingerprint, text and html is needed")
	case 1:
		return nil
	}
	return misfit(place, "only one of fingerprint, text and html can be given")
}

// text returns the text of a subject that is a document, and the place of the field that has it.
func (sub *Subject) text(ctx context.Context, s *service, place string) (text, field string, p *problem) {
	if p := sub.check(place); p != nil {
		return "", "", p
	}
	if sub.Text != nil {
		if !sub.whole {
			place = at(place, "text")
		}
		return *sub.Text, place, nil
	}
	field = at(place, "html")
	text, p = s.bodyText(ctx, []byte(*sub.HTML), mediaHTML, field)
	return text, field, p
}

// bodyText extracts a document's text as `ndd fingerprint` does; the content type, text/plain or text/html, may have a charset.
func (s *service) bodyText(ctx context.Context, body []byte, contentType, place string) (text string, p *problem) {
	options := document.Options{Format: document.Text, ContentType: contentType, Strict: true, MaxDocumentBytes: max(bodyBytesMax, int64(len(body)))}
	if strings.HasPrefix(contentType, mediaHTML) {
		options.Format = document.HTML
	}
	if recipe := s.index.Load().Recipe(); recipe != nil {
		options.Extract = document.Extract(recipe.Extract)
	}
	for doc, err := range document.Read(ctx, []string{document.Stdin}, options, bytes.NewReader(body)) {
		if err != nil {
			return "", misfit(place, "%v", err)
		}
		text = doc.Text
	}
	return text, nil
}

// wholeText returns the text of a document that is a request's whole body.
func (s *service) wholeText(r *http.Request) (string, *problem) {
	return s.bodyText(r.Context(), visitOf(r.Context()).body, r.Header.Get("Content-Type"), "body")
}

func (s *service) sketchText(text, place string) (sketch, *problem) {
	if s.index.Load().Recipe() == nil {
		return sketch{}, misfit(place, "the index was built from raw fingerprints, so it has no recipe for documents: send a fingerprint")
	}
	f := s.prints.Get().(*simhash.Fingerprinter)
	defer s.prints.Put(f)
	print, features, ok := f.Fingerprint(text)
	if !ok {
		return sketch{}, misfit(place, "document too short for a fingerprint: %s", f.Recipe().TooShort(features))
	}
	prints := []simhash.Fingerprint{print}
	if s.index.Load().PrintsEach() > 1 {
		prints = append(prints, f.Second())
	}
	return sketch{prints, uint32(min(uint64(len(text)), math.MaxUint32))}, nil
}

// distance returns the k of a request, or the index's own where it has none.
func distance(x *engine.Index, k *int, place string) (int, *problem) {
	most := x.Design().K
	switch {
	case k == nil:
		return most, nil
	case *k < 0 || *k > most:
		return 0, misfit(place, "k = %d, but the index was built for k from 0 to %d", *k, most)
	}
	return *k, nil
}
