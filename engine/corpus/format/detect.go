package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/magic"
	"example.org/ndd/engine/corpus/text"
)

// detect returns the format of the content. The options, the name or the first bytes determine it. By default
// it is text. A binary file is a skip.
func (c *Content) detect() (Format, error) {
	// The options decide, unless the file is in a folder and binary.
	head, err := c.r.Peek(text.LooksBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return "", err // other errors come again after the bytes before them
	}
	if c.opts.Format != Auto && !c.inFolder() {
		return c.opts.Format, nil
	}
	// The first bytes decide for formats with a mark, and otherwise the name.
	var format Format
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		format = Parquet
	case bytes.HasPrefix(head, []byte(warcPrefix)):
		format = WARC
	default:
		format = formatByName(c.file.Path)
		if text.IsBinary(head) {
			return "", c.binary(format, head)
		}
	}
	switch {
	case c.opts.Format != Auto:
		return c.opts.Format, nil
	case format == Auto:
		return c.guessed(formatByLooks(head, &c.opts)), nil
	case format == "":
		if format = formatByLooks(head, &c.opts); format != HTML && !c.opts.showsRecords(format, text.TrimHead(head)) {
			format = Text
		}
		return c.guessed(format), nil
	case format == JSON && len(text.TrimHead(head)) > 0:
		return jsonFormat(head, &c.opts, Text), nil
	}
	return format, nil
}

// guessed counts a file whose first bytes say its format.
func (c *Content) guessed(format Format) Format {
	if format != Text {
		c.opts.Meter.AddGuess(string(format), c.file.Path)
	}
	return format
}

// formatByLooks guesses from the first bytes of a file without an extension.
func formatByLooks(head []byte, o *Options) Format {
	if text.IsPage(head) {
		return HTML
	}
	return jsonFormat(head, o, JSONL)
}

// jsonFormat distinguishes JSON lines, JSON arrays and JSON objects over several lines from a file that is one
// document.
//
//   - An array of objects is JSON.
//   - If the first line is a whole object, the file is JSONL if other lines follow or the object shows a text.
//     Otherwise the format is single.
//   - An object over several lines is JSON only if it shows a text, because many such files in a folder hold settings.
func jsonFormat(head []byte, o *Options, single Format) Format {
	head = text.TrimHead(head)
	if bytes.HasPrefix(head, []byte("[")) {
		if bytes.HasPrefix(bytes.TrimLeft(head[1:], " \t\r\n"), []byte("{")) {
			return JSON
		}
		return Text
	}
	if !bytes.HasPrefix(head, []byte("{")) {
		return Text
	}
	line, rest, whole := bytes.Cut(head, []byte("\n"))
	whole = whole || len(head) < text.LooksBytes/2 // a short head is the whole file
	isObject, err := jsonMembers(line, func(_, _ []byte) {})
	isObject = isObject && err == nil && whole
	switch {
	case isObject && (len(bytes.TrimSpace(rest)) > 0 || o.showsText(line)):
		return JSONL
	case isObject:
		return single
	case !whole && o.showsText(line): // the first line is longer than head
		return JSONL
	case whole && o.showsText(head):
		return JSON
	}
	return Text
}

// showsRecords reports whether the first bytes of a file have records with a text: for JSON in the first object, for
// other formats in a line, if all lines are JSON objects.
func (o *Options) showsRecords(format Format, head []byte) (shows bool) {
	member := func(name, value []byte) {
		isText := format != JSON || o.TextField != "" || bytes.HasPrefix(value, []byte(`"`))
		shows = shows || isText && o.showsText([]byte(`"`+string(name)+`"`))
	}
	if format == JSON {
		jsonMembers(bytes.TrimPrefix(head, []byte("[")), member)
		return shows
	}
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		isObject, err := jsonMembers(line, member)
		if !isObject || err != nil && bytes.HasSuffix(line, []byte("\n")) {
			return false
		}
	}
	return shows
}

// binary returns the skip of a file that is not text, unless the user names its format. It loses no
// data in a folder, unless the file's name promises lines or records.
func (c *Content) binary(format Format, head []byte) *input.Skip {
	if c.inFolder() && format != JSONL && format != CSV && format != WARC {
		return &input.Skip{Reason: input.Binary}
	}
	reason, advice := cmp.Or(magic.Format(head), "it has zero bytes"), "if it is text, give its --input-format"
	if strings.HasPrefix(reason, "compressed") {
		advice = "decompress it first"
	}
	return &input.Skip{Reason: input.Unreadable, Err: fmt.Errorf("binary: %s; %s", reason, advice)}
}
