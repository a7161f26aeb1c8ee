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

	"github.com/danielgtaylor/huma/v2"
	"github.com/dustin/go-humanize"

	"ndd/engine"
	"ndd/engine/storage/store"
)

// A problem is an answer that says what went wrong, as RFC 9457 has it. As an
// error it is what huma's handlers return.
type problem struct {
	huma.ErrorModel
	retryAfter int   // seconds; 0 for none
	cause      error // damage that was met, or that there is no room; nil for what is about the request alone
}

// refusal returns a problem. errs name the fields at fault.
func refusal(status int, detail string, errs ...*huma.ErrorDetail) *problem {
	return &problem{ErrorModel: huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: detail, Errors: errs}}
}

// misfit returns the refusal of one field of a request that was understood.
func misfit(location, format string, args ...any) *problem {
	why := fmt.Sprintf(format, args...)
	return refusal(http.StatusUnprocessableEntity, location+": "+why, &huma.ErrorDetail{Message: why, Location: location})
}

// counted writes a number of things: "1 document", "2,000 documents".
func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(n) + " " + noun
}

// broken returns the answer when the engine fails: the index is damaged, or is
// being closed, or there is a bug.
func broken(err error) *problem {
	switch {
	case errors.Is(err, store.ErrCorrupt):
		return refusal(http.StatusServiceUnavailable, "the index is damaged: "+err.Error()).because(err)
	case errors.Is(err, engine.ErrNoDocs):
		return refusal(http.StatusConflict, "nothing is deleted: "+err.Error())
	case errors.Is(err, engine.ErrConflict):
		return refusal(http.StatusConflict, err.Error())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return refusal(http.StatusInsufficientStorage, "nothing can be written, since the disk is full; queries are answered: "+err.Error()).retry(10).because(err)
	case errors.Is(err, engine.ErrNoRoom):
		return refusal(http.StatusInsufficientStorage, "nothing can be inserted; queries are answered: "+err.Error()).retry(10).because(err)
	case errors.Is(err, engine.ErrClosed):
		return refusal(http.StatusServiceUnavailable, err.Error()).retry(5)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled): // the request's own
		return refusal(http.StatusServiceUnavailable, err.Error()).retry(1)
	}
	return refusal(http.StatusInternalServerError, err.Error())
}

func (p *problem) retry(seconds int) *problem {
	p.retryAfter = seconds
	return p
}

func (p *problem) because(cause error) *problem {
	p.cause = cause
	return p
}

// GetHeaders gives huma the headers.
func (p *problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	return h
}

// write sends the problem.
func (p *problem) write(w http.ResponseWriter) {
	if a, ok := w.(*answer); ok {
		a.visit.service.notice(p.cause)
	}
	h := w.Header()
	if p.retryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(p.retryAfter)}
	}
	h["Content-Type"] = problemHeader
	w.WriteHeader(p.Status)
	w.Write(p.append(make([]byte, 0, 256))) // a client that has gone needs no answer
}

// problemHeader is a header of all problems.
var problemHeader = []string{"application/problem+json"}

// append appends the problem as a line of JSON: as encoding/json has it, which takes a server that refuses much longer.
func (p *problem) append(out []byte) []byte {
	if len(p.Errors) == 0 && p.Type == "" && p.Instance == "" && p.Title != "" && p.Detail != "" {
		out = append(out, `{"title":`...)
		out = appendString(&p.Title, out)
		out = append(out, `,"status":`...)
		out = strconv.AppendInt(out, int64(p.Status), 10)
		out = append(out, `,"detail":`...)
		out = appendString(&p.Detail, out)
		return append(out, "}\n"...)
	}
	b := bytes.NewBuffer(out)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&p.ErrorModel); err != nil {
		panic("server: a problem without JSON: " + err.Error())
	}
	return b.Bytes()
}

// tersen is a huma transformer that keeps problems from repeating a request's
// body, megabytes perhaps, and from listing thousands of mistakes.
func tersen(_ huma.Context, _ string, v any) (any, error) {
	m := modelOf(v)
	if m == nil {
		return v, nil
	}
	const detailsMax, valueMax = 8, 80
	if n := len(m.Errors); n > detailsMax {
		m.Errors = append(m.Errors[:detailsMax:detailsMax], &huma.ErrorDetail{Message: fmt.Sprintf("and %d more", n-detailsMax)})
	}
	for _, d := range m.Errors {
		switch value := d.Value.(type) {
		case string:
			if len(value) > valueMax {
				d.Value = nil
			}
		case nil, bool, float64, int:
		default:
			d.Value = nil
		}
	}
	return m, nil
}

// writeJSON sends a small answer.
func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("server: an answer without JSON: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(b.Bytes()) // a client that has gone needs no answer
}
