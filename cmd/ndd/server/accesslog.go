package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"ndd/engine"
)

// An accessLog writes a line of JSON for each request, to a file that can be renamed and opened
// again. It is safe for concurrent use.
type accessLog struct {
	path string
	log  *slog.Logger
	mu   sync.Mutex
	file *os.File // nil for standard error
}

// openAccessLog appends to a file, or writes to standard error for "-".
func openAccessLog(path string) (*accessLog, error) {
	a := &accessLog{path: path}
	if err := a.reopen(); err != nil {
		return nil, err
	}
	a.log = slog.New(slog.NewJSONHandler(a, &slog.HandlerOptions{ReplaceAttr: func(_ []string, at slog.Attr) slog.Attr {
		if at.Key == slog.LevelKey || at.Key == slog.MessageKey {
			return slog.Attr{}
		}
		return at
	}}))
	return a, nil
}

// Write appends a line.
func (a *accessLog) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return cmp.Or(a.file, os.Stderr).Write(p)
}

// reopen opens the file of that name, and closes the one before.
func (a *accessLog) reopen() error {
	var file *os.File
	if a.path != "-" {
		var err error
		if file, err = os.OpenFile(a.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640); err != nil {
			return fmt.Errorf("--access-log: %w", err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.file.Close() // does nothing the first time, when it is nil
	a.file = file
	return nil
}

// close closes the file.
func (a *accessLog) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.file.Close()
}

// noted is what a request did to documents.
type noted struct {
	documents, changed int
	id, outcome        string // of the last one
	brokenOff          bool   // some of a list were not reached
}

// note records what happened to a document of the request, for its line and the metrics.
func (v *visit) note(id string, o *engine.Outcome) {
	n, m := &v.noted, v.service.metrics
	n.documents++
	n.id, n.outcome = id, "kept"
	switch {
	case o.Before:
		n.outcome = "before"
	case o.Replaced:
		n.outcome = "replaced"
		m.replaced.Inc()
	case o.Inserted:
		n.outcome = "inserted"
		v.service.balance.added.Add(1)
	case len(o.Near) > 0:
		n.outcome = "near-duplicate"
		m.near.Inc()
	}
	if o.Inserted && !o.Before {
		n.changed++
		m.added.Inc()
	}
}

// line writes a request's line.
func (a *accessLog) line(r *http.Request, v *visit, took time.Duration) {
	out := &v.answer
	args := []any{"from", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "status", out.status, "read", v.read,
		"written", out.bytes,
		"took_us", took.Microseconds(), "waited_us", v.waited.Microseconds(), "role", v.client.Role.String()}
	switch n := &v.noted; {
	case n.documents == 1:
		args = append(args, "id", n.id, "outcome", n.outcome)
	case n.documents > 1:
		args = append(args, "documents", n.documents, "changed", n.changed)
	}
	if v.client.Name != "" {
		args = append(args, "name", v.client.Name)
	}
	if agent := r.UserAgent(); agent != "" {
		args = append(args, "agent", agent)
	}
	a.log.Info("", args...)
}
