package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/corpus/unpack"
)

// pageOf returns the body of an archived block, its format and its Content-Type, or the reason why it is not a page.
// Crawlers may have changed a response. Headers may be malformed, or declare chunks or a compression that the crawler
// has removed.
func pageOf(u *Unit, limit int64) (body []byte, format Format, contentType string, skip *input.Skip) {
	if u.format == anyBody || !statusLine.Match(u.raw) { // the block of another protocol
		return typed(u.raw, u.contentType)
	}
	status, headers, body := cutResponse(u.raw)
	if status < 200 || status > 299 {
		return nil, "", "", &input.Skip{Reason: input.NoPage, Err: fmt.Errorf("HTTP status %d", status)}
	}
	if strings.Contains(strings.ToLower(headers.Get("Transfer-Encoding")), "chunked") {
		body = unchunk(body, limit)
	}
	codings := strings.Split(strings.Join(headers["Content-Encoding"], ","), ",")
	for _, coding := range slices.Backward(codings) { // they were applied in order
		var err error
		if body, err = decoded(body, strings.ToLower(strings.TrimSpace(coding)), limit); err != nil {
			return nil, "", "", &input.Skip{Reason: input.Broken, Err: err}
		}
	}
	if int64(len(body)) > limit {
		return nil, "", "", &input.Skip{Reason: input.TooLarge, Err: fmt.Errorf("more than %d bytes", limit)}
	}
	return typed(body, headers.Get("Content-Type"))
}

// typed returns a body, its format and its Content-Type, or the reason why it is not a page.
func typed(body []byte, contentType string) ([]byte, Format, string, *input.Skip) {
	format := pageFormat(mediaType(contentType))
	if format == anyBody {
		format = bodyFormat(body[:min(len(body), text.LooksBytes)])
	}
	if format == "" || len(body) == 0 {
		return nil, "", "", &input.Skip{Reason: input.NoPage, Err: fmt.Errorf("%d bytes of type %.80q", len(body), contentType)}
	}
	return body, format, contentType, nil
}

// statusLine matches the beginning of a response of a web server or a radio server.
var statusLine = regexp.MustCompile(`^(?:HTTP/|ICY )`)

// cutResponse splits a response into its status, headers and body.
func cutResponse(raw []byte) (status int, headers textproto.MIMEHeader, body []byte) {
	headers, last := textproto.MIMEHeader{}, ""
	line, rest, _ := bytes.Cut(raw, []byte("\n"))
	if fields := bytes.Fields(line); len(fields) > 1 {
		status, _ = strconv.Atoi(string(fields[1]))
	}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if line = bytes.TrimRight(line, "\r"); len(line) == 0 {
			break
		}
		last = addHeader(headers, last, line)
	}
	return status, headers, rest
}

// addHeader adds the header of a line and returns its name. last is the name of the previous header.
func addHeader(headers textproto.MIMEHeader, last string, line []byte) string {
	if (line[0] == ' ' || line[0] == '\t') && len(headers[last]) > 0 {
		headers[last][0] += " " + string(bytes.TrimSpace(line))
		return last
	}
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return last
	}
	last = textproto.CanonicalMIMEHeaderKey(string(bytes.TrimSpace(name)))
	headers[last] = append(headers[last], string(bytes.TrimSpace(value)))
	return last
}

// unchunk joins the chunks of a body. It returns a body without chunks unchanged. If a body was cut short, it returns
// the content before the cut.
func unchunk(body []byte, limit int64) []byte {
	content, err := io.ReadAll(io.LimitReader(httputil.NewChunkedReader(bytes.NewReader(body)), limit+1))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || len(content) == 0 {
		return body
	}
	return content
}

// decoded removes a content coding. If the name is not a coding, such as utf-8 or 8bit, it returns a text body
// unchanged.
func decoded(body []byte, coding string, limit int64) ([]byte, error) {
	content, known, err := unpack.Body(body, coding, limit)
	if !known && (slices.Contains([]string{"compress", "x-compress", "dcb", "dcz"}, coding) ||
		text.IsBinary(body[:min(len(body), text.LooksBytes)])) {
		return nil, fmt.Errorf("content encoding %.40q is not understood", coding)
	}
	return content, err
}

var mediaName = regexp.MustCompile(`[^;,\s"']+`)

// mediaType returns the type without its parameters, in lower case. The parameters of some servers begin at a
// blank, and some servers name two types.
func mediaType(contentType string) string { return strings.ToLower(mediaName.FindString(contentType)) }

// pageFormat returns the format for content of a media type. It returns anyBody if the type is unknown or malformed, so
// that the bytes decide. It returns "" if the content is not a page.
func pageFormat(media string) Format {
	top, _, _ := strings.Cut(media, "/")
	switch {
	case media == "text/html", media == "application/xhtml+xml":
		return HTML
	case media == "text/plain":
		return Text
	case media == "text/css", media == "text/javascript", media == "text/dns":
		return ""
	case slices.Contains([]string{"application", "image", "audio", "video", "font", "model", "multipart", "message"}, top):
		return ""
	}
	return anyBody
}

// bodyFormat detects the format of a body from its first bytes. It returns "" if they are not text.
func bodyFormat(head []byte) Format {
	switch {
	case text.IsBinary(head):
		return ""
	case text.IsMarkup(head):
		return HTML
	}
	return Text
}
