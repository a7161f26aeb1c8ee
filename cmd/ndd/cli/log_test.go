package cli

import (
	"bytes"
	"log/slog"
	"testing"
)

// TestLogLines checks that text from outside, such as the path of a request, cannot add lines to the log or control a
// terminal.
func TestLogLines(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(&plainHandler{out: &out, level: slog.LevelDebug}).With("from", "a\rb")
	log.Debug("request", "path", "/v1/x\nndd: error: forged\x1b[2J", "é", "naïve text, as it is")
	log.Debug("two\nlines", "bytes", "\xff")
	want := `ndd: request from="a\rb" path="/v1/x\nndd: error: forged\x1b[2J" é=naïve text, as it is` + "\n" +
		`ndd: "two\nlines" from="a\rb" bytes="\xff"` + "\n"
	if out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
}
