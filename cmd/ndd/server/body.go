package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
)

const (
	// bodyBytesMax is the longest body of a request.
	bodyBytesMax = 8 << 20
	// bodiesBytesMax bounds all bodies that are in memory at a time.
	bodiesBytesMax = 256 << 20
	bodyBytesFirst = 4 << 10
)

// A budget is bytes that may be taken and are given back.
type budget struct{ left atomic.Int64 }

func newBudget(n int64) *budget {
	b := new(budget)
	b.left.Store(n)
	return b
}

func (b *budget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

// readBody reads a body whole. It takes from the budget as bytes come, not as
// they are announced, so that an idle sender holds little. release gives them
// back when the body is no longer used.
func readBody(w http.ResponseWriter, r *http.Request, most int64, b *budget) (body []byte, release func(), p *problem) {
	taken := int64(0)
	release = func() { b.left.Add(taken) }
	fail := func(p *problem) ([]byte, func(), *problem) {
		release()
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
			if !b.take(more) {
				return fail(refusal(http.StatusTooManyRequests, "too many large bodies at a time").retry(1))
			}
			taken += more
			body = append(make([]byte, 0, int64(cap(body))+more), body...)
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return body, release, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return fail(tooLarge)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fail(refusal(http.StatusRequestTimeout, fmt.Sprintf("body: not received in time, only %d bytes", len(body))))
		default:
			return fail(refusal(http.StatusBadRequest, fmt.Sprintf("body: %v after %d bytes", err, len(body))))
		}
	}
}
