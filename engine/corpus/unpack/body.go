package unpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const bodyWindowMaxBytes = 8 << 20 // the window of zstd in HTTP, as RFC 9659 limits it

// Body undoes a content coding of HTTP, up to one byte more than a limit. A body that is not in its coding any more
// remains unchanged: compressed bytes are not valid UTF-8. For a coding that this package does not undo, known is
// false.
func Body(body []byte, coding string, limit int64) (content []byte, known bool, err error) {
	// The crawler may have removed the coding.
	packing, isGzip := PackingOf(body), strings.HasSuffix(coding, "gzip") // x-gzip too
	if coding == "" || coding == "identity" || utf8.Valid(body) || isGzip && packing != Gzip ||
		coding == "zstd" && packing != Zstd {
		return body, true, nil
	}
	// Choose the decompressor.
	var r io.Reader
	in := bytes.NewReader(body)
	switch {
	case isGzip:
		r, err = gzip.NewReader(in)
	case coding == "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(bodyWindowMaxBytes)); err == nil {
			defer z.Close()
			r = z
		}
	case coding == "deflate": // zlib's by the standard, bare by some servers
		if r, err = zlib.NewReader(in); err != nil {
			r, err = flate.NewReader(bytes.NewReader(body)), nil
		}
	case coding == "br":
		r = brotli.NewReader(in)
	default:
		return body, false, nil
	}
	// Keep what can be decompressed of a body that was cut short.
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(r, limit+1))
	}
	if err != nil && (!errors.Is(err, io.ErrUnexpectedEOF) || len(content) == 0) {
		return nil, true, fmt.Errorf("content encoding %s: %w", coding, err)
	}
	return content, true, nil
}
