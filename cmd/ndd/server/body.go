package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/cmd/ndd/server/admit"
	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/unpack"
)

// bodyBytesFirst of a body, and of an answer, are not counted among the memory of requests: each
// connection has at most one of each.
const bodyBytesFirst = 4 << 10

// readBody reads a body whole. It takes memory as bytes come, not as
// they are announced, so that an idle sender holds little. Beyond 64 KiB, each 64 KiB must come
// within the time of a stall; so long, a body may take as long as it needs.
func (s *service) readBody(w http.ResponseWriter, r *http.Request, v *visit) (body []byte, p *problem) {
	most := s.limits.Body
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	in := r.Body
	if r.ContentLength < 0 {
		in = http.MaxBytesReader(w, r.Body, most)
	}
	window := 0 // length of the body when the current time began
	defer func() { v.transfer.Waits(false) }()
	first := int64(bodyBytesFirst)
	if r.ContentLength >= 0 {
		first = min(first, r.ContentLength+1) // one for the end to be seen without growing
	}
	body = make([]byte, 0, first)
	for {
		if len(body) == cap(body) {
			more := int64(cap(body))
			if n := r.ContentLength - int64(cap(body)); r.ContentLength >= 0 && n < more {
				more = n + 1
			}
			if err := v.account().Await(uint64(more)); err != nil {
				return nil, shed(err)
			}
			body = append(make([]byte, 0, int64(cap(body))+more), body...)
		}
		if len(body)-window >= stallBytes {
			window = len(body)
			from := http.NewResponseController(w)
			from.SetReadDeadline(time.Now().Add(s.limits.times.stall)) // without it, that of the server holds
			if v.transfer.Gone() {
				from.SetReadDeadline(time.Now()) // as who cut it off has set it just before
			}
		}
		v.transfer.Waits(true)
		v.reads = true
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			v.whole = true
			return body, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, tooLarge(most)
		case v.transfer.Gone():
			return nil, refusal(http.StatusRequestTimeout, fmt.Sprintf("body: %d bytes have come, and no more for a while; "+
				"others needed the memory", len(body))).retry(1)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, refusal(http.StatusRequestTimeout, fmt.Sprintf("body: not received in time, only %d bytes", len(body))).
				retry(1)
		default:
			return nil, refusal(http.StatusBadRequest, fmt.Sprintf("body: %v after %d bytes", err, len(body)))
		}
	}
}

const (
	// keptBytes of a body that a refused request still sends are read by package http, which keeps the
	// connection open then.
	keptBytes = 256 << 10
	// discardBytes and discardTime bound what is read of a larger one, after the answer: many clients
	// read no answer before they have sent all, and those whose connection is closed never see it.
	discardBytes = 256 << 20
	discardTime  = 5 * time.Second
)

// sends reports whether the client may still be sending a body that is not worth keeping its connection.
func (v *visit) sends() bool {
	r := v.request
	if v.whole || r.ProtoMajor > 1 || r.Header.Get("Expect") != "" && !v.reads { // it waits for the word to send
		return false
	}
	return v.reads || r.ContentLength < 0 || r.ContentLength > keptBytes
}

// discard reads the rest of the body of a request that was refused, so that its client sees the answer.
func (v *visit) discard() {
	c := http.NewResponseController(v.answer.ResponseWriter)
	c.Flush() // an error comes again
	c.SetReadDeadline(time.Now().Add(discardTime))
	io.CopyN(io.Discard, v.request.Body, discardBytes)
}

func tooLarge(most int64) *problem {
	return refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: more than %d bytes", most))
}

// workBytes returns the memory that a request takes for each byte of its body, the body included:
// decoded copies, the extracted text and its features. The factors were measured with bodies of 8
// MiB (the most: 4.6 for text in JSON, 7.4 for HTML, 8.5 for HTML in JSON). Other encodings than UTF-8
// become three times as long, and simhash counts each different word and character.
func (s *service) workBytes(media string, body []byte) (n int64) {
	switch n = 6; {
	case media == mediaHTML && !utf8.Valid(body):
		n = 20
	case media == mediaHTML || media == mediaJSON && bytes.Contains(body, []byte(`"html"`)):
		n = 9
	}
	if index := s.index.Load(); index != nil && index.Recipe() != nil && index.Recipe().Sketch != simhash.SketchMinwise {
		n += 34
	}
	return n
}

// reserveWork takes the memory for working on a request's body.
func (s *service) reserveWork(v *visit) *problem {
	n := int64(len(v.body))
	if n <= bodyBytesFirst {
		return nil
	}
	work := n * s.workBytes(v.media, v.body)
	if work > s.limits.RequestMemory {
		return refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: %d bytes would take %s to work on, more "+
			"than the %s of requests: give the server more --memory", n, humanize.IBytes(uint64(work)),
			humanize.IBytes(uint64(s.limits.RequestMemory))))
	}
	if err := v.account().Work(uint64(work - n)); err != nil {
		return shed(err)
	}
	return nil
}

// shed returns the answer to a request that is not admitted.
func shed(err error) *problem {
	var no *admit.Refused
	if !errors.As(err, &no) {
		return broken(err)
	}
	return refusal(http.StatusTooManyRequests, no.Error()).retry(max(1, int((no.Retry+time.Second-1)/time.Second)))
}

// encodings are the values of Content-Encoding that a body may have.
var encodings = []string{"", "identity", "gzip", "x-gzip", "zstd"}

// zstdWindowMax is the largest window of a zstd body, as browsers have it.
const zstdWindowMax = 8 << 20

// unpack decompresses the body if its Content-Encoding says so. The result is at most as long as a
// body may be, and is counted among the memory of requests as it grows. A compressed body without
// the header is refused, since its bytes would be taken for text.
func (v *visit) unpack() *problem {
	var in io.Reader
	var err error
	switch v.encoding {
	case "gzip", "x-gzip":
		in, err = gzip.NewReader(bytes.NewReader(v.body))
	case "zstd":
		if err := v.account().Grow(zstdWindowMax); err != nil {
			return shed(err)
		}
		var d *zstd.Decoder
		d, err = zstd.NewReader(bytes.NewReader(v.body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindowMax))
		if err == nil {
			defer d.Close()
			in = d
		}
	default:
		return v.refusePacked()
	}
	if err != nil {
		return v.badPacking(err)
	}
	most := int(v.service.limits.Body)
	var out []byte
	for {
		if len(out) == cap(out) {
			grown := min(max(2*cap(out), 4*len(v.body), bodyBytesFirst), most+1)
			if err := v.account().Await(uint64(grown - cap(out))); err != nil {
				return shed(err)
			}
			out = append(make([]byte, 0, grown), out...)
		}
		n, err := in.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > most:
			return tooLarge(int64(most))
		case err == io.EOF:
			v.body = out
			return nil
		case err != nil:
			return v.badPacking(err)
		}
	}
}

// badPacking is the answer to a body that is not compressed as its header says.
func (v *visit) badPacking(err error) *problem {
	return refusal(http.StatusBadRequest, fmt.Sprintf("body: not %s, as the header Content-Encoding says: %v",
		v.encoding, err))
}

// refusePacked refuses a body that is compressed without saying so. A body of fingerprints may
// begin with any bytes.
func (v *visit) refusePacked() *problem {
	packing := unpack.PackingOf(v.body)
	if v.media == mediaBytes || packing == unpack.None {
		return nil
	}
	header := string(packing)
	if packing != unpack.Gzip && packing != unpack.Zstd {
		header = "gzip or zstd"
	}
	return misfit("body", "%s data instead of text: a compressed body needs the header Content-Encoding: %s", packing,
		header)
}
