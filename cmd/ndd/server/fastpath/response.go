package fastpath

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// keptMax bytes of an answer without a Content-Length are kept until its handler returns, so that it has one: as many as net/http keeps.
const keptMax = 2 << 10

// A response is the answer to a request, written as net/http writes it.
//
//	WriteHeader ─► head: status line and headers        as they are then
//	Write ───────► body: up to 2 KiB are kept
//	finish ──────► head, Date, Content-Length, body     in one write
//	  or, beyond 2 KiB, at once: with the Content-Length of the handler, or in chunks
type response struct {
	conn     *conn
	header   http.Header // of the handler
	space    *space
	status   int   // 0 until WriteHeader
	declared int64 // Content-Length, -1 where the handler gave none
	written  int64 // bytes of the body
	sent     bool  // the head was
	chunked  bool
	closes   bool // the connection ends behind the answer
	err      error
}

// A space is memory for one answer.
type space struct{ head, body []byte }

// spaces are those that nobody needs now.
var spaces = sync.Pool{New: func() any { return &space{make([]byte, 0, keptMax+512), make([]byte, 0, keptMax)} }}

// spaceMax is the largest that is kept.
const spaceMax = 4 * keptMax

// begin readies w for another answer.
func (w *response) begin() {
	clear(w.header)
	*w = response{conn: w.conn, header: w.header, space: spaces.Get().(*space), declared: -1}
}

// end gives the memory back.
func (w *response) end() {
	s := w.space
	w.space = nil
	if cap(s.head) <= spaceMax {
		s.head, s.body = s.head[:0], s.body[:0]
		spaces.Put(s)
	}
}

// Header returns the headers, which may be set until WriteHeader.
func (w *response) Header() http.Header { return w.header }

// SetReadDeadline is part of what http.ResponseController needs.
func (w *response) SetReadDeadline(t time.Time) error { return w.conn.SetReadDeadline(t) }

// SetWriteDeadline is part of what http.ResponseController needs.
func (w *response) SetWriteDeadline(t time.Time) error { return w.conn.SetWriteDeadline(t) }

// WriteHeader fixes the status and the headers.
func (w *response) WriteHeader(status int) {
	if w.status != 0 {
		w.conn.printf("fastpath: superfluous WriteHeader")
		return
	}
	w.status = status
	if given := w.header["Content-Length"]; given != nil {
		n, err := strconv.ParseInt(given[0], 10, 64)
		if err != nil || n < 0 {
			delete(w.header, "Content-Length")
		} else {
			w.declared = n
		}
	}
	w.closes = w.conn.of.closing.Load() || w.header.Get("Connection") == "close"
	w.space.head = appendHead(w.space.head, status, w.header)
}

// appendHead appends a status line and headers.
func appendHead(out []byte, status int, h http.Header) []byte {
	if status == http.StatusOK {
		out = append(out, "HTTP/1.1 200 OK\r\n"...)
	} else {
		out = append(out, "HTTP/1.1 "...)
		out = append(strconv.AppendInt(out, int64(status), 10), ' ')
		text := http.StatusText(status)
		if text == "" {
			text = "status code " + strconv.Itoa(status)
		}
		out = append(append(out, text...), "\r\n"...)
	}
	if media := h["Content-Type"]; len(h) == 1 && len(media) == 1 && !strings.ContainsAny(media[0], "\r\n \t") {
		out = append(append(out, "Content-Type: "...), media[0]...) // as most have it
		return append(out, "\r\n"...)
	}
	var b strings.Builder
	h.Write(&b) // which cannot fail
	return append(out, b.String()...)
}

// Write writes a part of the body.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.bodiless() {
		return 0, http.ErrBodyNotAllowed
	}
	w.written += int64(len(p)) // what is too much, too: the connection ends behind such an answer
	switch {
	case w.err != nil:
		return 0, w.err
	case w.declared >= 0 && w.written > w.declared:
		return 0, http.ErrContentLength
	}
	if !w.sent && w.written <= keptMax {
		w.space.body = append(w.space.body, p...)
		return len(p), nil
	}
	if !w.sent {
		w.chunked = w.declared < 0
		w.sendHead(p)
		w.send(w.space.body)
	}
	w.send(p)
	return len(p), w.err
}

// bodiless says whether answers of the status have no body.
func (w *response) bodiless() bool {
	return w.status == http.StatusNoContent || w.status == http.StatusNotModified
}

// finish sends what is left, and says whether the connection serves another request.
func (w *response) finish() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case !w.sent:
		w.sendHead(w.space.body)
		w.space.head = append(w.space.head, w.space.body...)
		w.flush(w.space.head)
	case w.chunked:
		w.flush(append(w.space.head, "0\r\n\r\n"...))
	}
	return w.err == nil && !w.closes && (w.declared < 0 || w.declared == w.written)
}

// sendHead ends the head with what depends on the body, which begins with so many bytes.
func (w *response) sendHead(begins []byte) {
	out := appendDate(w.space.head)
	if w.declared < 0 && !w.chunked && !w.bodiless() {
		out = append(out, "Content-Length: "...)
		out = append(strconv.AppendInt(out, w.written, 10), "\r\n"...)
	}
	if _, given := w.header["Content-Type"]; !given && w.written > 0 && w.header.Get("Content-Encoding") == "" {
		if len(w.space.body) > 0 {
			begins = w.space.body
		}
		out = append(append(out, "Content-Type: "...), http.DetectContentType(begins)...)
		out = append(out, "\r\n"...)
	}
	if w.closes && w.header.Get("Connection") != "close" {
		out = append(out, "Connection: close\r\n"...)
	}
	if w.chunked {
		out = append(out, "Transfer-Encoding: chunked\r\n"...)
	}
	w.space.head, w.sent = append(out, "\r\n"...), true
}

// send sends a part of the body behind a head that was sent, or is still to be sent with it.
func (w *response) send(p []byte) {
	if len(p) == 0 {
		return
	}
	out := w.space.head
	if w.chunked {
		out = append(strconv.AppendInt(out, int64(len(p)), 16), "\r\n"...)
	}
	if len(p) <= keptMax {
		out, p = append(out, p...), nil
	}
	if w.chunked && p == nil {
		out = append(out, "\r\n"...)
	}
	w.flush(out)
	w.space.head = out[:0]
	if p != nil {
		w.flush(p)
		if w.chunked {
			w.space.head = append(w.space.head, "\r\n"...)
		}
	}
}

// flush writes to the connection.
func (w *response) flush(p []byte) {
	if w.err == nil {
		_, w.err = w.conn.Write(p)
	}
}
