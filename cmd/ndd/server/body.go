package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/ndd/cmd/ndd/server/admit"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/corpus/unpack"
)

// readRequestBody reads the body of a request into memory and decompresses it. sent is its length before that. The
// memory of all bodies together is limited. A route without media types has no bodies.
func readRequestBody(w *answer, r *http.Request, to *route, recipe *simhash.Recipe, limits *bounds) (in payload, sent int,
	p *problem) {
	if to.accepts == nil {
		return in, 0, nil
	}
	// Check the headers before the body is read.
	encoding := strings.ToLower(r.Header.Get("Content-Encoding"))
	if !slices.Contains(encodings, encoding) {
		return in, 0, newProblem(http.StatusUnsupportedMediaType,
			fmt.Sprintf("header Content-Encoding: %.40q must be gzip, zstd or identity", encoding))
	}
	if in, p = acceptMedia(r.Header.Get("Content-Type"), to.accepts); p != nil {
		return in, 0, p
	}
	// Read the body.
	if in.body, p = readBody(w, r, limits); p != nil {
		return in, 0, p
	}
	sent = len(in.body)
	if err := to.gate.Refuse(sent > heavyBytes); err != nil { // before any work on the body
		return in, sent, admissionProblem(err)
	}
	// Decompress it, and reserve the memory for processing it.
	if encoding != "" && encoding != "identity" {
		in.body, p = decompress(in.body, encoding, int(limits.Body), w.slot.memory)
	} else {
		p = compressionProblem(&in)
	}
	if p == nil {
		p = reserveWork(&in, recipe, limits.RequestMemory, w.slot.memory)
	}
	return in, sent, p
}

// acceptMedia reads the header Content-Type. If it is missing, or is the type of forms, which curl sends by default,
// the body has the first accepted type. Forms of other web sites were refused before (access.CheckOrigin).
func acceptMedia(header string, accepted []string) (in payload, p *problem) {
	const form = "application/x-www-form-urlencoded"
	if slices.Contains(accepted, header) { // the usual case
		return payload{media: header, contentType: header}, nil
	}
	media, params, err := mime.ParseMediaType(header)
	switch {
	case header == "" || err == nil && media == form:
		media = accepted[0]
	case err != nil || !slices.Contains(accepted, media):
		return in, newProblem(http.StatusUnsupportedMediaType, fmt.Sprintf("header Content-Type: %.80q, must be %s", header,
			strings.Join(accepted, " or ")))
	}
	if !strings.HasPrefix(media, "text/") {
		params = nil
	}
	if name := params["charset"]; name != "" && !text.KnownCharset(name) {
		return in, newProblem(http.StatusUnsupportedMediaType,
			fmt.Sprintf("header Content-Type: charset %.40q is unknown: send UTF-8", name))
	}
	return payload{media: media, contentType: mime.FormatMediaType(media, params)}, nil // contentType includes the charset
}

// readBody reads a whole body. It reserves memory for bytes that arrived, not for bytes that were announced, so an
// idle sender holds little. Beyond 64 KiB, each 64 KiB must arrive within times.stall. There is no limit of the total
// time.
func readBody(w *answer, r *http.Request, limits *bounds) (body []byte, p *problem) {
	// Refuse a body that is announced as too long, and limit one without a length.
	if r.ContentLength > limits.Body {
		return nil, tooLarge(limits.Body)
	}
	in := r.Body
	if r.ContentLength < 0 {
		in = http.MaxBytesReader(w, r.Body, limits.Body)
	}
	// Allocate the first part. Its memory is not counted.
	memory, from := w.slot.memory, http.NewResponseController(w)
	window := 0 // length of the body when the current time began
	defer memory.SetWaiting(false)
	first := int64(bodyBytesFirst)
	if r.ContentLength >= 0 {
		first = min(first, r.ContentLength+1) // one more, to see the end without growing
	}
	body = make([]byte, 0, first)
	// Read until the end, and reserve memory before the buffer grows.
	for {
		if len(body) == cap(body) {
			growth := int64(cap(body))
			if n := r.ContentLength - int64(cap(body)); r.ContentLength >= 0 && n < growth {
				growth = n + 1
			}
			if err := memory.Await(uint64(growth)); err != nil {
				return nil, admissionProblem(err)
			}
			body = append(make([]byte, 0, int64(cap(body))+growth), body...)
		}
		// Set a new deadline for the next stallBytes.
		if len(body)-window >= stallBytes {
			window = len(body)
			from.SetReadDeadline(time.Now().Add(limits.times.stall)) // before that, the deadline of the server applies
			if memory.IsCutOff() {
				from.SetReadDeadline(time.Now()) // the deadline that cut the request off was just overwritten
			}
		}
		// Read what has arrived. Meanwhile the request may be cut off.
		memory.SetWaiting(true)
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, readProblem(err, len(body), limits.Body, memory.IsCutOff())
		}
	}
}

// readProblem returns the answer if a body could not be read to its end.
func readProblem(err error, received int, limit int64, cutOff bool) *problem {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return tooLarge(limit)
	case cutOff:
		return newProblem(http.StatusRequestTimeout, fmt.Sprintf("body: %d bytes have come, and no more for a while; "+
			"others needed the memory", received)).retry(1)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(http.StatusRequestTimeout, fmt.Sprintf("body: not received in time, only %d bytes", received)).
			retry(1)
	}
	return newProblem(http.StatusBadRequest, fmt.Sprintf("body: %v after %d bytes", err, received))
}

func tooLarge(limit int64) *problem {
	return newProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: more than %d bytes", limit))
}

// encodings are the values of Content-Encoding that a body may have.
var encodings = []string{"", "identity", "gzip", "x-gzip", "zstd"}

// zstdWindowMax is the maximum window of a zstd body, the same limit as in browsers.
const zstdWindowMax = 8 << 20

// decompress decompresses a body. The limit of a body applies to the result, too. Its memory is reserved while it
// grows.
func decompress(body []byte, encoding string, limit int, memory *admit.Transfer) ([]byte, *problem) {
	// Open the decoder.
	bad := func(err error) *problem {
		return newProblem(http.StatusBadRequest, fmt.Sprintf("body: not %s, as the header Content-Encoding says: %v",
			encoding, err))
	}
	var in io.Reader
	if encoding == "zstd" {
		if err := memory.Grow(zstdWindowMax); err != nil {
			return nil, admissionProblem(err)
		}
		d, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindowMax))
		if err != nil {
			return nil, bad(err)
		}
		defer d.Close()
		in = d
	} else {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, bad(err)
		}
		in = z
	}
	// Read to the end, and reserve memory before the buffer grows.
	var out []byte
	for {
		if len(out) == cap(out) {
			grown := min(max(2*cap(out), 4*len(body), bodyBytesFirst), limit+1)
			if err := memory.Await(uint64(grown - cap(out))); err != nil {
				return nil, admissionProblem(err)
			}
			out = append(make([]byte, 0, grown), out...)
		}
		n, err := in.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > limit:
			return nil, tooLarge(int64(limit))
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, bad(err)
		}
	}
}

// compressionProblem refuses a compressed body without the header Content-Encoding, because its bytes would be read
// as text. A body of fingerprints may begin with any bytes.
func compressionProblem(in *payload) *problem {
	kind := unpack.PackingOf(in.body)
	if in.media == mediaBytes || kind == unpack.None {
		return nil
	}
	header := string(kind)
	if kind != unpack.Gzip && kind != unpack.Zstd {
		header = "gzip or zstd"
	}
	return fieldProblem("body", "%s data instead of text: a compressed body needs the header Content-Encoding: %s", kind,
		header)
}

// workBytes returns the memory of a request for each byte of its body: the body, decoded copies, the extracted text
// and its features. The factors were measured with bodies of 8 MiB (the maximum: 4.6 for text in JSON, 7.4 for HTML,
// 8.5 for HTML in JSON). Text in another encoding becomes up to three times as long in UTF-8. Simhash counts each
// different word and character.
func workBytes(in *payload, recipe *simhash.Recipe) (n int64) {
	switch n = 6; {
	case in.media == mediaHTML && !utf8.Valid(in.body):
		n = 20
	case in.media == mediaHTML || in.media == mediaJSON && bytes.Contains(in.body, []byte(`"html"`)):
		n = 9
	}
	if recipe != nil && recipe.Sketch != simhash.SketchMinwise {
		n += 34
	}
	return n
}

// reserveWork reserves the memory for processing the body of a request.
func reserveWork(in *payload, recipe *simhash.Recipe, limit int64, memory *admit.Transfer) *problem {
	n := int64(len(in.body))
	if n <= bodyBytesFirst {
		return nil
	}
	work := n * workBytes(in, recipe)
	if work > limit {
		return newProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: %d bytes would take %s to work on, more "+
			"than the %s of requests: give the server more --memory", n, humanize.IBytes(uint64(work)),
			humanize.IBytes(uint64(limit))))
	}
	if err := memory.Work(uint64(work - n)); err != nil {
		return admissionProblem(err)
	}
	return nil
}
