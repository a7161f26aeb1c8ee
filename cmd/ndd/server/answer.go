package server

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"example.org/ndd/cmd/ndd/server/admit"
)

// An answer writes the response of a request, and records its status and length. It leaves the gate before it writes,
// and reserves memory for the response. It writes in pieces, and the client must read each piece in time. So a slow
// reader costs only the memory of its own response.
type answer struct {
	http.ResponseWriter
	upload    upload
	stall     time.Duration // time limit of each piece
	slot      slot
	streams   bool  // the response is written while it is computed
	status    int   // status to send with the first bytes; 0: none was set yet
	hasBegun  bool  // the status was sent
	bytes     int64 // bytes written
	isRefused bool  // there was no memory for the answer: another one was sent
	discards  bool  // read the rest of the body after the answer
}

// A slot holds the resources of an admitted request: its pass of the gate, and memory.
type slot struct {
	arrived  atomic.Bool // the body was read to its end
	pass     *admit.Pass
	memory   *admit.Transfer // nil before the body is read
	body     int             // bytes of memory that the body still takes
	admitted bool            // the answer's memory is counted
}

// errRefused ends a streamed answer that was replaced by a refusal.
var errRefused = errors.New("no memory for the answer")

// WriteHeader stores the status. It is sent with the first bytes.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write sends bytes in pieces of stallBytes.
func (a *answer) Write(p []byte) (n int, err error) {
	if !a.hasBegun {
		a.begin(len(p))
	}
	if a.isRefused {
		if a.streams {
			return 0, errRefused // ends the computation of the stream
		}
		return len(p), nil
	}
	err = a.lend(func() error {
		defer a.slot.memory.SetWaiting(false)
		for n < len(p) {
			a.slot.memory.SetWaiting(true)
			if len(p) > bodyBytesFirst || a.streams {
				http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(a.stall))
			}
			m, err := a.ResponseWriter.Write(p[n:min(n+stallBytes, len(p))])
			n += m
			if err != nil {
				return err
			}
		}
		return nil
	})
	a.bytes += int64(n)
	return n, err
}

// lend leaves the gate while f waits for the client. A streamed answer enters the gate again when f returns.
func (a *answer) lend(f func() error) error {
	if a.streams {
		return a.slot.pass.Lend(a.upload.request.Context(), f)
	}
	a.slot.pass.Leave()
	return f()
}

// begin sends the header. It reserves memory for n bytes: an answer that is sent at once replaces the memory that
// computed it.
func (a *answer) begin(n int) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.hasBegun = true
	if a.status >= http.StatusBadRequest && a.upload.continues() {
		a.discards = true
		a.Header().Set("Connection", "close")
		http.NewResponseController(a.ResponseWriter).EnableFullDuplex() // the answer waits for no body
	}
	if a.slot.admitted && (n > bodyBytesFirst || a.slot.memory.Held() > 0) {
		a.lend(func() error {
			reserve := a.slot.memory.Resize
			if a.streams {
				reserve = a.slot.memory.Grow
			}
			if err := reserve(uint64(n + a.slot.body)); err != nil {
				a.Header().Del("Content-Length")
				a.Header().Del("Trailer")
				p := admissionProblem(err)
				a.isRefused, a.status = true, p.Status
				p.write(a.ResponseWriter)
			}
			return nil
		})
	}
	if !a.isRefused {
		a.ResponseWriter.WriteHeader(a.status)
	}
}

// Client names the client of the request; see [admit.Owner].
func (a *answer) Client() string { return clientOf(a.upload.request) }

// CutOff ends a request that makes no progress while others need its memory. A client that is sending gets a response
// that says it was too slow. The connection of a client that is reading is reset.
func (a *answer) CutOff() {
	if a.slot.arrived.Load() {
		resetConnection(a.upload.request.Context())
	} else {
		http.NewResponseController(a.ResponseWriter).SetReadDeadline(time.Now())
	}
}

// release releases the memory and the gate of the request.
func (a *answer) release() {
	a.slot.pass.Leave()
	a.slot.memory.End()
	a.slot = slot{}
}

// clientOf returns the name of a request's client, which is its address. The requests of a client share memory. An IPv6
// client may have a whole /64.
func clientOf(r *http.Request) string {
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := address.Addr().Unmap()
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p.String()
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

const (
	// keptBytesMax is the rest of a body up to which package http reads it and keeps the connection of a refused
	// request open.
	keptBytesMax = 256 << 10
	// discardBytesMax and discardTime limit how much of a larger body is read after the answer. Many clients read no
	// answer before they have sent everything. If the connection were closed earlier, they would never see the
	// answer.
	discardBytesMax = 256 << 20
	discardTime     = 5 * time.Second
)

// An upload is the body of a request while its client sends it.
type upload struct {
	io.ReadCloser
	request  *http.Request
	wasAsked bool // the server has begun to read it
	complete bool // it was read to its end
}

// Read reads the next bytes.
func (u *upload) Read(p []byte) (int, error) {
	u.wasAsked = true
	n, err := u.ReadCloser.Read(p)
	u.complete = u.complete || errors.Is(err, io.EOF)
	return n, err
}

// continues reports whether the client may still be sending a body that is too long to keep the connection open for.
func (u *upload) continues() bool {
	r := u.request
	if u.complete || r.ProtoMajor > 1 || r.Header.Get("Expect") != "" && !u.wasAsked { // the client waits for 100 Continue
		return false
	}
	return u.wasAsked || r.ContentLength < 0 || r.ContentLength > keptBytesMax
}

// discard reads the rest of the body of a refused request, so that its client sees the answer.
func (u *upload) discard(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	c.Flush() // a later call returns the error again
	c.SetReadDeadline(time.Now().Add(discardTime))
	io.CopyN(io.Discard, u.ReadCloser, discardBytesMax)
}
