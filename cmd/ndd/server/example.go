package server

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"

	"ndd/engine"
)

// exampleFileMax keeps the example to files that anybody would send.
const exampleFileMax = 1 << 20

// readyLine returns the line that the server prints when it is ready, with a command to try.
func (s *service) readyLine(ctx context.Context, url string) string {
	x := s.index.Load()
	n := x.Stats().Documents
	text := fmt.Sprintf("ready: %s, k=%d, %s", counted(int64(n), "document"), x.Design().K, url)
	if left := s.loading.tooFew.Load(); left > 0 {
		text += fmt.Sprintf(" (%s too short, left out)", humanize.Comma(left))
	}
	return text + " - try: " + s.example(ctx, x, url)
}

// example returns a curl command that works. Of the documents that were loaded it
// takes one with a near-duplicate, if there is any among the first: as its
// file, if that gives the fingerprint it gave when it was loaded, and else as
// its fingerprint.
func (s *service) example(ctx context.Context, x *engine.Index, url string) string {
	curl := "curl -s "
	if s.keys != nil {
		curl += `-H "Authorization: Bearer $TOKEN" `
	}
	curl += url
	samples := s.loading.all()
	if len(samples) == 0 {
		if x.Recipe() == nil {
			return curl + `/v1/query -d '{"fingerprint": "0000000000000000"}'`
		}
		return curl + `/v1/check-and-insert -d '{"id": "first", "text": "Now is the winter of our discontent made glorious summer by this sun of York"}'`
	}
	best := samples[0]
	for _, c := range samples {
		if n, p := s.query(ctx, c.sketch, x.Design().K, 2); p == nil && n.Documents > 1 {
			best = c
			break
		}
	}
	if media, ok := s.fromFile(ctx, best); ok {
		return fmt.Sprintf("%s/v1/query -H 'Content-Type: %s' --data-binary @%s", curl, media, best.id)
	}
	return fmt.Sprintf(`%s/v1/query -d '{"fingerprint": "%s"}'`, curl, best.sketch)
}

// fromFile says whether the document is a file, and as which media type it is
// to be sent.
func (s *service) fromFile(ctx context.Context, c sample) (media string, ok bool) {
	for _, r := range c.id {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+,", r) {
			return "", false // a shell might take it apart
		}
	}
	info, err := os.Stat(c.id)
	if err != nil || !info.Mode().IsRegular() || info.Size() > exampleFileMax {
		return "", false
	}
	data, err := os.ReadFile(c.id)
	if err != nil {
		return "", false
	}
	for _, media := range []string{mediaText, mediaHTML} {
		text, p := s.bodyText(ctx, data, media, "")
		if p != nil {
			continue
		}
		if f, p := s.sketchText(text, ""); p == nil && f.String() == c.sketch.String() {
			return media, true
		}
	}
	return "", false
}
