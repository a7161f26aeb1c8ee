package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// response returns the body of an HTTP response as it was archived, its format, and its
// Content-Type; or why it is no page. Crawlers may have changed a
// response: headers may be malformed, and may announce chunks or a compression that are gone.
func (e *Extractor) response(raw []byte) (body []byte, format Format, contentType string, skip *Skip) {
	status, headers, body := cutResponse(raw)
	if status < 200 || status > 299 {
		return nil, "", "", &Skip{Reason: NoPage, Err: fmt.Errorf("HTTP status %d", status)}
	}
	if strings.Contains(strings.ToLower(headers.Get("Transfer-Encoding")), "chunked") {
		body = unchunk(body, e.opts.MaxDocumentBytes)
	}
	codings := strings.Split(headers.Get("Content-Encoding"), ",")
	for i := len(codings) - 1; i >= 0; i-- { // in the order in which they were applied
		var err error
		if body, err = unpack(body, strings.ToLower(strings.TrimSpace(codings[i])), e.opts.MaxDocumentBytes); err != nil {
			return nil, "", "", &Skip{Reason: Broken, Err: err}
		}
	}
	if int64(len(body)) > e.opts.MaxDocumentBytes {
		return nil, "", "", &Skip{Reason: TooLarge, Err: fmt.Errorf("more than %d bytes", e.opts.MaxDocumentBytes)}
	}
	contentType = headers.Get("Content-Type")
	media := mediaType(contentType)
	switch {
	case media != "":
		format = pageFormat(media)
	case isBinary(body[:min(len(body), peekBytes)]):
	default:
		if format = formatByLooks(body[:min(len(body), peekBytes)], &e.opts); format != HTML {
			format = Text
		}
	}
	if format == "" || len(body) == 0 {
		return nil, "", "", &Skip{Reason: NoPage, Err: fmt.Errorf("%d bytes of type %.80q", len(body), contentType)}
	}
	return body, format, contentType, nil
}

// cutResponse takes status line and headers off a response. Without a status line it is all body,
// of status 200.
func cutResponse(raw []byte) (status int, headers textproto.MIMEHeader, body []byte) {
	headers, last := textproto.MIMEHeader{}, ""
	if !bytes.HasPrefix(raw, []byte("HTTP/")) {
		return 200, headers, raw
	}
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

// unpack undoes a content coding. A body that is not in it any more stays as it is.
func unpack(body []byte, coding string, most int64) ([]byte, error) {
	var r io.Reader
	var err error
	in, packing := bytes.NewReader(body), PackingOf(body)
	isGzip := strings.HasSuffix(coding, "gzip") // x-gzip too
	switch {
	case coding == "", coding == "identity", len(body) == 0, isGzip && packing != Gzip,
		coding == "zstd" && packing != Zstd:
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
	default:
		return nil, fmt.Errorf("content encoding %.40q is not understood", coding)
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

// mediaType returns the type without its parameters, in lower case.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// pageFormat returns how to read content of a media type; "" if it is no page.
func pageFormat(media string) Format {
	switch {
	case media == "text/html", media == "application/xhtml+xml":
		return HTML
	case strings.HasPrefix(media, "text/") && media != "text/css" && media != "text/javascript" && media != "text/dns":
		return Text
	}
	return ""
}

// charsetOf returns the charset parameter of a Content-Type, or "".
func charsetOf(contentType string) string {
	_, params, _ := mime.ParseMediaType(contentType)
	return params["charset"]
}
