package server

import (
	"net/http"
	"time"

	"ndd/cmd/ndd/server/admit"
)

// An answer is the way back of a request that was admitted. It gives the request's slot back before anything is
// written, takes memory for what is written, and writes in pieces that the client must take in
// time: a slow reader costs the memory of its own answer, and nothing else.
type answer struct {
	http.ResponseWriter
	visit   *visit
	pass    *admit.Pass
	status  int  // that is to be sent with the first bytes
	begun   bool // it was sent
	streams bool // the slot is only lent while the client reads
	refused bool // there was no memory for the answer: another one was sent
}

// WriteHeader keeps the status for the first bytes.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write sends bytes, after those before.
func (a *answer) Write(p []byte) (int, error) {
	if !a.begun {
		a.begin(len(p))
	}
	if a.refused {
		return len(p), nil
	}
	n := 0
	err := a.lend(func() error {
		transfer := a.visit.transfer
		transfer.Waits(true)
		defer transfer.Waits(false)
		for n < len(p) {
			piece := p[n:min(n+stallBytes, len(p))]
			if len(p) > bodyBytesFirst || a.streams {
				http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(a.visit.service.limits.times.stall))
			}
			m, err := a.ResponseWriter.Write(piece)
			n += m
			if err != nil {
				return err
			}
			transfer.Waits(true)
		}
		return nil
	})
	return n, err
}

// lend gives the slot back while f waits for the client: for good, or, where an answer is made as it is read, for as long.
func (a *answer) lend(f func() error) error {
	if a.streams {
		return a.pass.Lend(a.visit, f)
	}
	a.pass.Leave()
	return f()
}

// begin sends the header, and takes memory for n bytes.
func (a *answer) begin(n int) {
	a.begun = true
	if n > bodyBytesFirst {
		a.lend(func() error {
			if err := a.visit.account().Grow(uint64(n)); err != nil {
				a.refused = true
				a.Header().Del("Content-Length")
				a.Header().Del("Trailer")
				shed(err).write(a.ResponseWriter)
			}
			return nil
		})
	}
	if !a.refused && a.status != 0 {
		a.ResponseWriter.WriteHeader(a.status)
	}
}

// end sends what there is of an answer without a body, and gives all back.
func (a *answer) end() {
	a.pass.Leave()
	if !a.begun && a.status != 0 {
		a.begun = true
		a.ResponseWriter.WriteHeader(a.status)
	}
}

// untouched says whether nothing was sent yet.
func (a *answer) untouched() bool { return !a.begun }

// Unwrap lets http.ResponseController through.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
