package cli

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LogCount logs a message that begins with a number and its noun, unless the number is 0.
func LogCount(log func(message string, args ...any), n int, noun, suffix string) {
	if n > 0 {
		log(Number(n, noun) + suffix)
	}
}

// A plainHandler writes messages for people: "ndd: message key=value". Each is one call of out.Write, which must be
// safe for concurrent use.
type plainHandler struct {
	out   io.Writer
	level slog.Level
	attrs string
}

func (h *plainHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *plainHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("ndd: ")
	if r.Level >= slog.LevelError {
		b.WriteString("error: ")
	} else if r.Level >= slog.LevelWarn {
		b.WriteString("warning: ")
	}
	b.WriteString(onOneLine(r.Message))
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(" " + a.Key + "=" + onOneLine(a.Value.String()))
		return true
	})
	b.WriteByte('\n')
	_, err := io.WriteString(h.out, b.String())
	return err
}

func (h *plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	for _, a := range attrs {
		c.attrs += " " + a.Key + "=" + onOneLine(a.Value.String())
	}
	return &c
}

func (h *plainHandler) WithGroup(string) slog.Handler { return h }

// onOneLine returns text, quoted if it has unprintable characters. Paths and file names may contain line breaks and
// control sequences.
func onOneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(text) {
		return strconv.Quote(text)
	}
	return text
}
