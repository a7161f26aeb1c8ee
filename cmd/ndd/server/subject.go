package server

import (
	"bytes"
	"context"
	"io"
	"strings"

	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/simhash"
)

// A Subject is what a request is about: a fingerprint, or a document that gets
// one. It has an exported name because huma looks into no other embedded types.
type Subject struct {
	Fingerprint *string `json:"fingerprint,omitempty" pattern:"^[0-9a-fA-F]{16}$" patternDescription:"16 hexadecimal digits" doc:"A fingerprint, made with the index's recipe" example:"8c7f2d1e0a9b4455"`
	Text        *string `json:"text,omitempty" doc:"Plain text; it is fingerprinted with the index's recipe"`
	HTML        *string `json:"html,omitempty" doc:"An HTML page; its text is fingerprinted without the markup"`
}

// fingerprint returns the subject's fingerprint; place is the subject's position in the request.
func (s *service) fingerprint(ctx context.Context, sub *Subject, place string) (simhash.Fingerprint, *problem) {
	given := 0
	for _, field := range []*string{sub.Fingerprint, sub.Text, sub.HTML} {
		if field != nil {
			given++
		}
	}
	switch {
	case given == 0:
		return 0, misfit(place, "one of fingerprint, text and html is needed")
	case given > 1:
		return 0, misfit(place, "only one of fingerprint, text and html can be given")
	case sub.Fingerprint != nil:
		f, err := simhash.Parse(*sub.Fingerprint)
		if err != nil {
			return 0, misfit(at(place, "fingerprint"), "%v", err)
		}
		return f, nil
	case sub.Text != nil:
		return s.fingerprintText(*sub.Text, at(place, "text"))
	}
	return s.fingerprintDocument(ctx, strings.NewReader(*sub.HTML), document.HTML, at(place, "html"))
}

// fingerprintDocument extracts a document's text as `ndd fingerprint` does, and fingerprints it.
func (s *service) fingerprintDocument(ctx context.Context, r io.Reader, format document.Format, place string) (simhash.Fingerprint, *problem) {
	text := ""
	options := document.Options{Format: format, Strict: true, MaxDocumentBytes: bodyBytesMax}
	for doc, err := range document.Read(ctx, []string{document.Stdin}, options, r) {
		if err != nil {
			return 0, misfit(place, "%v", err)
		}
		text = doc.Text
	}
	return s.fingerprintText(text, place)
}

func (s *service) fingerprintText(text, place string) (simhash.Fingerprint, *problem) {
	if s.index.Load().Recipe() == nil {
		return 0, misfit(place, "the index was built from raw fingerprints, so it has no recipe for documents: send a fingerprint")
	}
	f := s.prints.Get().(*simhash.Fingerprinter)
	defer s.prints.Put(f)
	print, features, ok := f.Fingerprint(text)
	if !ok {
		return 0, misfit(place, "document too short: %s", f.Recipe().TooShort(features))
	}
	return print, nil
}

// fingerprintBody fingerprints a document that is a request's whole body.
func (s *service) fingerprintBody(ctx context.Context, body []byte, media string) (simhash.Fingerprint, *problem) {
	format := document.Text
	if media == "text/html" {
		format = document.HTML
	}
	return s.fingerprintDocument(ctx, bytes.NewReader(body), format, "body")
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
