package document

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
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/text"
)

// body returns the body of an archived block, its format and its Content-Type; or why it is no page. Crawlers
// may have changed a response: headers may be malformed, and may announce chunks or a compression that are gone.
func (e *Extractor) body(u *Unit) (body []byte, format Format, contentType string, skip *Skip) {
	raw, contentType := u.raw, u.contentType
	if u.format == anyBody || !statusLine.Match(raw) { // of another protocol
		return typed(raw, contentType)
	}
	status, headers, body := cutResponse(raw)
	if status < 200 || status > 299 {
		return nil, "", "", &Skip{Reason: NoPage, Err: fmt.Errorf("HTTP status %d", status)}
	}
	if strings.Contains(strings.ToLower(headers.Get("Transfer-Encoding")), "chunked") {
		body = unchunk(body, e.opts.MaxDocumentBytes)
	}
	codings := strings.Split(strings.Join(headers["Content-Encoding"], ","), ",")
	for i := len(codings) - 1; i >= 0; i-- { // in the order in which they were applied
		var err error
		if body, err = unpack(body, strings.ToLower(strings.TrimSpace(codings[i])), e.opts.MaxDocumentBytes); err != nil {
			return nil, "", "", &Skip{Reason: Broken, Err: err}
		}
	}
	if int64(len(body)) > e.opts.MaxDocumentBytes {
		return nil, "", "", &Skip{Reason: TooLarge, Err: fmt.Errorf("more than %d bytes", e.opts.MaxDocumentBytes)}
	}
	return typed(body, headers.Get("Content-Type"))
}

// typed returns a body, its format and its Content-Type, or why it is no page.
func typed(body []byte, contentType string) ([]byte, Format, string, *Skip) {
	format := pageFormat(mediaType(contentType))
	if format == anyBody {
		format = bodyFormat(body[:min(len(body), text.LooksBytes)])
	}
	if format == "" || len(body) == 0 {
		return nil, "", "", &Skip{Reason: NoPage, Err: fmt.Errorf("%d bytes of type %.80q", len(body), contentType)}
	}
	return body, format, contentType, nil
}

// statusLine begins the answer of a web server, or of one of the radio.
var statusLine = regexp.MustCompile(`^(?:HTTP/|ICY )`)

// cutResponse takes status line and headers off a response.
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

// unchunk joins the chunks of a body. A body without chunks stays as it is; one that is cut short
// is returned up to there.
func unchunk(body []byte, most int64) []byte {
	whole, err := io.ReadAll(io.LimitReader(httputil.NewChunkedReader(bytes.NewReader(body)), most+1))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || len(whole) == 0 {
		return body
	}
	return whole
}

// unpack undoes a content coding. A body that is not in it any more stays as it is: what is compressed is not valid
// UTF-8. So does a body whose coding is none, such as utf-8 or 8bit.
func unpack(body []byte, coding string, most int64) ([]byte, error) {
	var r io.Reader
	var err error
	in, packing := bytes.NewReader(body), PackingOf(body)
	isGzip := strings.HasSuffix(coding, "gzip") // x-gzip too
	switch {
	case coding == "", coding == "identity", utf8.Valid(body), isGzip && packing != Gzip, coding == "zstd" && packing != Zstd:
		return body, nil
	case isGzip:
		r, err = gzip.NewReader(in)
	case coding == "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20)); err == nil {
			defer z.Close()
			r = z
		}
	case coding == "deflate": // zlib's by the standard, bare by some servers
		if r, err = zlib.NewReader(in); err != nil {
			r, err = flate.NewReader(bytes.NewReader(body)), nil
		}
	case coding == "br":
		r = brotli.NewReader(in)
	case text.IsBinary(body[:min(len(body), text.LooksBytes)]), slices.Contains([]string{"compress", "x-compress", "dcb", "dcz"}, coding):
		return nil, fmt.Errorf("content encoding %.40q is not understood", coding)
	default:
		return body, nil
	}
	var whole []byte
	if err == nil {
		whole, err = io.ReadAll(io.LimitReader(r, most+1))
	}
	if err != nil && (!errors.Is(err, io.ErrUnexpectedEOF) || len(whole) == 0) {
		return nil, fmt.Errorf("content encoding %s: %w", coding, err)
	}
	return whole, nil
}

var mediaName = regexp.MustCompile(`[^;,\s"']+`)

// mediaType returns the type without its parameters, in lower case. The parameters of some servers begin at a
// blank, and some servers name two types.
func mediaType(contentType string) string { return strings.ToLower(mediaName.FindString(contentType)) }

// pageFormat returns how to read content of a media type: as anyBody, if its bytes are to decide, since the type is
// unknown or malformed; "" if it is no page.
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

// bodyFormat returns the format that the first bytes of a body show, "" if they are no text.
func bodyFormat(head []byte) Format {
	switch {
	case text.IsBinary(head):
		return ""
	case text.IsMarkup(head):
		return HTML
	}
	return Text
}
