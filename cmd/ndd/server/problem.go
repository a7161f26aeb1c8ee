package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"example.org/ndd/cmd/ndd/server/admit"
	"example.org/ndd/engine"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// A problem is the answer to a failed request, in the form of RFC 9457.
type problem struct {
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Detail string       `json:"detail"`
	Errors []fieldError `json:"errors,omitempty"`

	retryAfter int   // seconds; 0 for none
	cause      error // damage or a full disk; nil if only the request is wrong
}

// A fieldError names the field at fault.
type fieldError struct {
	Message  string `json:"message"`
	Location string `json:"location"`
}

// newProblem returns a problem with a status and a description.
func newProblem(status int, detail string) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Detail: detail}
}

// fieldProblem returns the problem of one invalid field of a request, with status 422.
func fieldProblem(location, format string, args ...any) *problem {
	why := fmt.Sprintf(format, args...)
	p := newProblem(http.StatusUnprocessableEntity, location+": "+why)
	p.Errors = []fieldError{{why, location}}
	return p
}

// oneOf returns a problem unless exactly one of some fields is given.
func oneOf(location, names string, isGiven ...bool) *problem {
	n := 0
	for _, is := range isGiven {
		if is {
			n++
		}
	}
	switch n {
	case 0:
		return fieldProblem(location, "one of %s is needed", names)
	case 1:
		return nil
	}
	return fieldProblem(location, "only one of %s can be given", names)
}

// errorProblem returns the answer to an error of the engine.
func errorProblem(err error) *problem {
	switch {
	case errors.As(err, new(*admit.Refusal)):
		return admissionProblem(err)
	case errors.Is(err, store.ErrCorrupt):
		return newProblem(http.StatusServiceUnavailable, "the index is damaged: "+err.Error()).because(err)
	case errors.Is(err, engine.ErrNoDocs):
		return newProblem(http.StatusConflict, "nothing is deleted: "+err.Error())
	case errors.Is(err, engine.ErrDense):
		return newProblem(http.StatusUnprocessableEntity, err.Error()+", or 'ndd batch --scan'")
	case errors.Is(err, engine.ErrConflict):
		return newProblem(http.StatusConflict, err.Error())
	case errors.Is(err, live.ErrUnknown):
		return newProblem(http.StatusInternalServerError, err.Error()).because(err)
	case errors.Is(err, syscall.EROFS):
		return newProblem(http.StatusServiceUnavailable,
			"nothing can be written, since the disk is read-only; queries are answered: "+err.Error()).retry(10).because(err)
	case disk.IsUnwritable(err):
		return newProblem(http.StatusInsufficientStorage,
			"nothing can be written, since the disk is full; queries are answered: "+err.Error()).retry(10).because(err)
	case errors.Is(err, engine.ErrNoRoom):
		return newProblem(http.StatusInsufficientStorage,
			"nothing can be inserted; queries are answered: "+err.Error()).retry(10).because(err)
	case errors.Is(err, engine.ErrClosed):
		return newProblem(http.StatusServiceUnavailable, err.Error()).retry(5)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled): // the context of this request
		return newProblem(http.StatusServiceUnavailable, err.Error()).retry(1)
	}
	return newProblem(http.StatusInternalServerError, err.Error())
}

func (p *problem) retry(seconds int) *problem {
	p.retryAfter = seconds
	return p
}

func (p *problem) because(cause error) *problem {
	p.cause = cause
	return p
}

// write sends the problem.
func (p *problem) write(w http.ResponseWriter) {
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	writeAs(w, p.Status, "application/problem+json", p)
}

// admissionProblem returns the answer to a request that was not admitted.
func admissionProblem(err error) *problem {
	var no *admit.Refusal
	if !errors.As(err, &no) {
		return errorProblem(err)
	}
	return newProblem(http.StatusTooManyRequests, no.Error()).retry(max(1, int((no.Retry+time.Second-1)/time.Second)))
}

// Media types.
const (
	mediaJSON  = "application/json"
	mediaText  = "text/plain"
	mediaHTML  = "text/html"
	mediaBytes = "application/octet-stream"
	mediaTSV   = "text/tab-separated-values"
	mediaLines = "application/x-ndjson"
)

// writeJSON sends an answer.
func writeJSON(w http.ResponseWriter, status int, v any) { writeAs(w, status, mediaJSON, v) }

// writeAs sends an answer as JSON.
func writeAs(w http.ResponseWriter, status int, media string, v any) {
	body := encode(v)
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has disconnected
}

// encode returns a value as a line of JSON, without the escapes for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("server: an answer without JSON: %v", err))
	}
	return b.Bytes()
}
