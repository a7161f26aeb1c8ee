package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"ndd/cmd/ndd/server/admit"
	"ndd/cmd/ndd/server/conns"
	"ndd/cmd/ndd/server/fastpath"
	"ndd/engine"
)

// bodyBytesFirst of a body, and of an answer, are not counted among the memory of requests: each connection has at most one of each.
const bodyBytesFirst = 4 << 10

// buffers are of so many bytes, for the bodies of requests.
var buffers = sync.Pool{New: func() any { return new([bodyBytesFirst]byte) }}

func newBuffer() []byte { return buffers.Get().(*[bodyBytesFirst]byte)[:0] }

// keepBuffer takes a body that is not used any more.
func keepBuffer(body []byte) {
	if cap(body) == bodyBytesFirst {
		buffers.Put((*[bodyBytesFirst]byte)(body[:bodyBytesFirst]))
	}
}

// readBody reads a body whole. It takes memory as bytes come, not as
// they are announced, so that an idle sender holds little. Beyond 64 KiB, each 64 KiB must come
// within the time of a stall; so long, a body may take as long as it needs.
func (s *service) readBody(w http.ResponseWriter, r *http.Request, v *visit) (body []byte, p *problem) {
	most := s.limits.Body
	if r.ContentLength > most {
		w.Header().Set("Connection", "close") // rather than read it all
		return nil, tooLarge(most)
	}
	if whole, ok := r.Body.(*fastpath.Body); ok {
		v.lent = true
		return whole.Bytes(), nil
	}
	in := r.Body
	if r.ContentLength < 0 {
		in = http.MaxBytesReader(w, r.Body, most)
	}
	window := 0 // length of the body when the current time began
	defer func() { v.transfer.Waits(false) }()
	body = newBuffer()
	for {
		if len(body) == cap(body) {
			more := int64(cap(body))
			if n := r.ContentLength - int64(cap(body)); r.ContentLength >= 0 && n < more {
				more = n + 1 // one for the end to be seen without growing
			}
			if err := v.account().Grow(uint64(more)); err != nil {
				return nil, shed(err)
			}
			grown := append(make([]byte, 0, int64(cap(body))+more), body...)
			keepBuffer(body)
			body = grown
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
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return body, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, tooLarge(most)
		case v.transfer.Gone():
			w.Header().Set("Connection", "close")
			return nil, refusal(http.StatusRequestTimeout, fmt.Sprintf("body: %d bytes have come, and no more for a while; others needed the memory (--request-memory)", len(body))).retry(1)
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.Header().Set("Connection", "close")
			return nil, refusal(http.StatusRequestTimeout, fmt.Sprintf("body: not received in time, only %d bytes", len(body)))
		default:
			return nil, refusal(http.StatusBadRequest, fmt.Sprintf("body: %v after %d bytes", err, len(body)))
		}
	}
}

func tooLarge(most int64) *problem {
	return refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: more than %d bytes (--max-body)", most))
}

// valuesEach is how many names and values a JSON body may have for each document of the longest list. Each
// of them may be wrong, and would be told of.
const valuesEach = 8

var null = []byte("null")

// checkJSON refuses a JSON body with more values than any request has, before memory is taken for them,
// and one with a null, which no field takes.
func checkJSON(body []byte, documents int) *problem {
	values, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && bytes.HasPrefix(body[i:], null):
			return misfit("body", "null at byte %d: a field without a value is left out", i)
		case !quoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			values++
		}
	}
	if most := valuesEach*documents + 64; values > most {
		return refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: more than %d names and values; a list may have at most %d documents (--max-documents)", most, documents))
	}
	return nil
}

// early returns the refusal of a request whose gate is full, before its body is taken into memory, by the length that is announced.
// The body is read, unless it is very large, so that its client is not cut off while it sends, and keeps its connection.
func (s *service) early(x *engine.Index, to *route, r *http.Request) *problem {
	if r.ContentLength > s.limits.Body {
		return nil // too large for another reason
	}
	err := to.gate.Refuse(to.workOf(x, int(max(r.ContentLength, 0))))
	if err == nil {
		return nil
	}
	if len(r.Header["Expect"]) == 0 && r.ContentLength <= discardMost {
		discard(visitOf(r.Context()).conn, r.Body)
	}
	return shed(err)
}

// discardEach bytes are read for nothing at a time: few enough for each of some thousand connections to have them.
const discardEach = 16 << 10

// discards are where bytes go that nobody reads.
var discards = sync.Pool{New: func() any { return new([discardEach]byte) }}

// discard takes a body of a connection for nothing, unless it is very large: what was not read yet is not copied where the kernel can do
// without. A client that has gone needs no answer.
func discard(from *conns.Conn, body io.Reader) {
	to := discards.Get().(*[discardEach]byte)
	defer discards.Put(to)
	from.Drop(to[:])
	defer from.Drop(nil)
	for n := 0; n < discardMost; {
		m, err := body.Read(to[:])
		if n += m; err != nil {
			return
		}
	}
}

// discardMost bytes of a body are read for nothing.
const discardMost = 1 << 20

// shed returns the answer to a request that is not admitted.
func shed(err error) *problem {
	var no *admit.Refused
	if !errors.As(err, &no) {
		return broken(err)
	}
	return refusal(http.StatusTooManyRequests, no.Error()).retry(max(1, int((no.Retry+time.Second-1)/time.Second)))
}
