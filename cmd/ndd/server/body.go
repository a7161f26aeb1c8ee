package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"ndd/engine/memory"
)

const (
	// bodyBytesMax is the longest body of a request.
	bodyBytesMax = 8 << 20
	// bodiesBytesMax bounds all bodies that are in memory at a time.
	bodiesBytesMax = 256 << 20
	bodyBytesFirst = 4 << 10
)

// readBody reads a body whole. It takes from the budget as bytes come, not as
// they are announced, so that an idle sender holds little. release gives them
// back when the body is no longer used.
func readBody(w http.ResponseWriter, r *http.Request, most int64, b *memory.Budget) (body []byte, release func(), p *problem) {
	reserved, _ := b.Reserve("a body", 0) // nothing always fits
	fail := func(p *problem) ([]byte, func(), *problem) {
		reserved.Release()
		return nil, nil, p
	}
	tooLarge := refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: more than %d bytes", most))
	if r.ContentLength > most {
		w.Header().Set("Connection", "close") // rather than read it all
		return fail(tooLarge)
	}
	in := http.MaxBytesReader(w, r.Body, most)
	for {
		if len(body) == cap(body) {
			more := max(bodyBytesFirst, int64(cap(body)))
			if n := r.ContentLength - int64(cap(body)); r.ContentLength >= 0 && n < more {
				more = n + 1 // one for the end to be seen without growing
			}
			if reserved.Resize("a body", reserved.Bytes()+uint64(more)) != nil {
				return fail(refusal(http.StatusTooManyRequests, "too many large bodies at a time").retry(1))
			}
			body = append(make([]byte, 0, int64(cap(body))+more), body...)
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return body, reserved.Release, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return fail(tooLarge)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fail(refusal(http.StatusRequestTimeout, fmt.Sprintf("body: not received in time, only %d bytes", len(body))))
		default:
			return fail(refusal(http.StatusBadRequest, fmt.Sprintf("body: %v after %d bytes", err, len(body))))
		}
	}
}

// valuesMax is how many names and values a JSON body may have: a list of the most documents has fewer. Each
// of them may be wrong, and would be told of.
const valuesMax = 32 << 10

var null = []byte("null")

// checkJSON refuses a JSON body with more values than any request has, before memory is taken for them,
// and one with a null, which no field takes.
func checkJSON(media string, body []byte) *problem {
	if media != mediaJSON {
		return nil
	}
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
	if values > valuesMax {
		return refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("body: more than %d names and values; a list may have at most %d documents", valuesMax, insertDocsMax))
	}
	return nil
}
