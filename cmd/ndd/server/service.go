package server

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"strings"
	"sync"
	"time"

	"example.org/ndd/cmd/ndd/server/access"
	"example.org/ndd/cmd/ndd/server/ui"
	"example.org/ndd/engine"
	"example.org/ndd/engine/index/live"
)

// A service is the server without its listeners: the index, access, and limits.
type service struct {
	admission
	condition
	observer
	options    *Options
	tls        *access.TLS     // nil: none
	keys       *access.Keyring // nil means that every client may do everything
	front      *connections    // connections of clients
	summaries  summarizer
	start      time.Time
	background sync.WaitGroup
	backingUp  sync.Mutex // held during a backup
}

func newService(o *Options, requestMemory int64) (*service, error) {
	limits := boundsOf(requestMemory)
	if o.limit != nil {
		o.limit(&limits)
	}
	s := &service{options: o, start: time.Now(), observer: observer{newMetrics(), o.Log, nil, limits.times.stall}}
	s.journal = o.Log
	if o.AccessLog != nil {
		s.accessLog = newAccessLog(o.AccessLog)
	}
	s.admission = newAdmission(limits, s.metrics)
	s.front = newConnections(limits.Connections)
	s.metrics.registry.MustRegister(collector{&s.admission, &s.condition, s.front, o})
	if o.Disk != nil {
		s.metrics.registry.MustRegister(o.Disk.syncs)
	}
	var err error
	if o.TLSCert != "" {
		if s.tls, err = access.NewTLS(o.TLSCert, o.TLSKey); err != nil {
			return nil, err
		}
	}
	if o.TokenFile != "" {
		if s.keys, err = access.NewKeyring(o.TokenFile); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// serve makes the index available to requests.
func (s *service) serve(x *engine.Index) {
	s.index.Store(x)
	if err := live.Unwrap(x).Recovery.RefusalErr; err != nil {
		s.notice(err)
	}
	s.life.enter(ready)
}

// routes returns the endpoints of the main listener. openapi.json describes each of them.
func (s *service) routes() []route {
	json, any := []string{mediaJSON}, []string{mediaJSON, mediaText, mediaHTML}
	q := queries{&s.summaries, s.metrics, s.limits.Answer, s.options.Threads}
	d := documents{q}
	a := administration{s.options, &s.limits, s.start, &s.backingUp}
	list := []route{
		{pattern: "POST /v1/query", minimumRole: access.Read, accepts: any, takes: []string{"k", "limit"}, gate: s.queries,
			make: decoding(q.query)},
		{pattern: "POST /v1/batch", minimumRole: access.Read, accepts: []string{mediaBytes}, takes: []string{"k", "unique"},
			gate: s.batches, streams: true, make: decoding(q.batch)},
		{pattern: "POST /v1/insert", minimumRole: access.Write, accepts: any, takes: []string{"id", "on_conflict", "ttl"},
			gate: s.inserts, make: decoding(d.insert)},
		{pattern: "POST /v1/check-and-insert", minimumRole: access.Write, accepts: any, takes: []string{"id", "k", "limit",
			"on_conflict", "ttl"}, gate: s.inserts, make: decoding(d.checkAndInsert)},
		{pattern: "POST /v1/delete", minimumRole: access.Write, accepts: json, gate: s.inserts, make: decoding(d.delete)},
		{pattern: "GET /v1/documents/{id...}", minimumRole: access.Read, gate: s.queries, make: d.get},
		{pattern: "GET /v1/documents", minimumRole: access.Read, takes: []string{"cursor", "limit", "prefix"}, gate: s.batches,
			make: decoding(d.list)},
		{pattern: "DELETE /v1/documents", minimumRole: access.Admin, takes: []string{"prefix"}, gate: s.batches, streams: true,
			make: decoding(d.deletePrefix)},
		{pattern: "GET /v1/stats", minimumRole: access.Read, make: a.statistics},
		{pattern: "GET /openapi.json", minimumRole: access.Anyone, serve: serveOpenAPI(s.options, &s.index)},
		{pattern: "GET /livez", minimumRole: access.Anyone, serve: s.livez},
		{pattern: "GET /readyz", minimumRole: access.Anyone, serve: s.readyz},
	}
	if s.options.Backups != "" {
		list = append(list, route{pattern: "POST /v1/backup", minimumRole: access.Admin, accepts: json, streams: true,
			make: decoding(a.backup)})
	}
	return list
}

// optional has the flags that add endpoints.
var optional = map[string]string{"/v1/backup": "--backup-dir"}

// handler returns the handler of the main listener. local is true if only this machine can reach it.
func (s *service) handler(local bool) http.Handler {
	m := s.mux(s.routes(), func(path string) string {
		flag, ok := optional[path]
		switch {
		case ok:
			return fmt.Sprintf("%s exists only if the server was started with %s", path, flag)
		case path == "/metrics" && s.options.Admin == "":
			return "metrics are not served: the server was started with --admin off"
		case path == "/metrics":
			return "metrics are served at http://" + s.options.Admin + "/metrics (--admin)"
		}
		return fmt.Sprintf("no such endpoint: %.80q; see /openapi.json", path)
	})
	for path, page := range ui.Pages() {
		if path == "/" {
			path = "/{$}"
		}
		m.Handle("GET "+path, page)
	}
	return s.observe(withChecks(m, checkOrigin(local)))
}

// adminHandler returns the handler of the admin listener. Profiles reveal much of a process, so they need the role
// admin.
func (s *service) adminHandler(local bool) http.Handler {
	list := []route{
		{pattern: "GET /metrics", minimumRole: access.Metrics, serve: s.metrics.handler().ServeHTTP},
		{pattern: "GET /livez", serve: s.livez},
		{pattern: "GET /readyz", serve: s.readyz},
	}
	for name, serve := range map[string]http.HandlerFunc{"": pprof.Index, "cmdline": pprof.Cmdline,
		"profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace} {
		list = append(list, route{pattern: "GET /debug/pprof/" + name, minimumRole: access.Admin, serve: serve, streams: true})
	}
	m := s.mux(list, func(path string) string {
		return fmt.Sprintf("no such endpoint: %.80q; there are /metrics, /livez, /readyz and /debug/pprof/", path)
	})
	return s.observe(withChecks(m, checkOrigin(local)))
}

// mux returns the router of endpoints. missing returns the message for an unknown path.
func (s *service) mux(routes []route, missing func(path string) string) *http.ServeMux {
	m := http.NewServeMux()
	for _, r := range routes {
		m.Handle(r.pattern, s.guard(&r))
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if methods := methodsOf(m, r); len(methods) > 0 {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			newProblem(http.StatusMethodNotAllowed, fmt.Sprintf("method %.20q: %s takes %s", r.Method, r.URL.Path,
				strings.Join(methods, ", "))).write(w)
			return
		}
		newProblem(http.StatusNotFound, missing(r.URL.Path)).write(w)
	})
	return m
}

// methodsOf returns the methods that the path of a request takes.
func methodsOf(m *http.ServeMux, r *http.Request) (methods []string) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
		other := *r
		other.Method = method
		if _, pattern := m.Handler(&other); pattern != "/" {
			methods = append(methods, method)
		}
	}
	return methods
}

// guard returns the handler of a route with its middleware, cheapest first, as in the drawing of the package.
func (s *service) guard(to *route) http.Handler {
	checks := []check{s.checkStop, checkClient(s.keys, to.minimumRole)}
	if to.make != nil {
		checks = append(checks, s.checkReady)
	}
	return withChecks(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := w.(*answer)
		out.streams = to.streams
		if to.serve != nil {
			to.serve(w, r)
		} else if p := s.answer(out, r, to); p != nil {
			s.notice(p.cause)
			p.write(w)
		}
	}), checks...)
}

// answer reads and admits a request, calls its handler, and sends the reply. It returns a problem instead of sending
// it.
func (s *service) answer(w *answer, r *http.Request, to *route) (p *problem) {
	// Read the arguments.
	ctx := r.Context()
	c := &call{index: s.index.Load(), id: r.PathValue("id"), accept: r.Header["Accept"]}
	if c.parameters, p = readParameters(r.URL.RawQuery, to.takes); p != nil {
		return p
	}
	if c.index == nil { // the server stopped meanwhile
		return stopping()
	}
	// Admit the request, and read its body.
	if to.accepts != nil || to.gate != nil {
		var stop func()
		defer w.release()
		ctx, stop, p = s.admit(w, r, to, c)
		defer stop()
		if p == nil && s.index.Load() == nil {
			p = stopping()
		}
		if p != nil {
			return p
		}
	}
	// Call the handler.
	done, p := to.make(ctx, c)
	recordOf(ctx).effect = done.effect
	if p != nil {
		return p
	}
	// Send the reply. A change that succeeded shows that there is space.
	if done.rows != nil {
		return s.send(w, r, done.rows, s.limits.Timeout)
	}
	if unprocessed := done.effect.unprocessed; unprocessed != nil {
		s.notice(unprocessed.cause)
	} else if to.minimumRole == access.Write {
		s.noticeRoom()
	}
	writeJSON(w, http.StatusOK, done.value)
	return nil
}
