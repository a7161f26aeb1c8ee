package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/ui"
)

// routes returns the endpoints. openapi.json describes each of them.
func (s *service) routes() []route {
	json, any := []string{mediaJSON}, []string{mediaJSON, mediaText, mediaHTML}
	q, d, a := queries{s}, documents{s}, administration{s}
	list := []route{
		{pattern: "POST /v1/query", least: access.Read, accepts: any, takes: []string{"k", "limit"}, needs: true,
			gate: s.queries, make: q.query},
		{pattern: "POST /v1/batch", least: access.Read, accepts: []string{mediaBytes}, takes: []string{"k", "unique"},
			needs: true, gate: s.batches, serve: q.batch, streams: true},
		{pattern: "POST /v1/insert", least: access.Write, accepts: any, takes: []string{"id", "on_conflict", "ttl"},
			needs: true, gate: s.inserts, make: d.insert},
		{pattern: "POST /v1/check-and-insert", least: access.Write, accepts: any, takes: []string{"id", "k", "limit",
			"on_conflict", "ttl"}, needs: true, gate: s.inserts, make: d.checkAndInsert},
		{pattern: "POST /v1/delete", least: access.Write, accepts: json, needs: true, gate: s.inserts, make: d.delete},
		{pattern: "GET /v1/documents/{id...}", least: access.Read, needs: true, gate: s.queries, make: d.get},
		{pattern: "GET /v1/documents", least: access.Read, takes: []string{"cursor", "limit", "prefix"}, needs: true,
			gate: s.batches, make: d.list},
		{pattern: "DELETE /v1/documents", least: access.Admin, takes: []string{"prefix"}, needs: true,
			gate: s.batches, streams: true, make: d.deletePrefix},
		{pattern: "GET /v1/stats", least: access.Read, needs: true, make: a.statistics},
		{pattern: "GET /openapi.json", least: access.Anyone, serve: s.serveOpenAPI()},
		{pattern: "GET /livez", least: access.Anyone, serve: s.livez},
		{pattern: "GET /readyz", least: access.Anyone, serve: s.readyz},
	}
	if s.options.Backups != "" {
		list = append(list, route{pattern: "POST /v1/backup", least: access.Admin, accepts: json, needs: true,
			streams: true, make: a.backup})
	}
	return list
}

// optional are the endpoints that a flag adds.
var optional = map[string]string{"/v1/backup": "--backup-dir"}

// handler returns the handler of the main listener. local says that only this machine can reach it.
func (s *service) handler(local bool) http.Handler {
	m := s.mux(s.routes(), func(path string) string {
		flag, ok := optional[path]
		switch {
		case ok:
			return fmt.Sprintf("%s is there where the server was started with %s", path, flag)
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
	return s.observe(checked(m, local))
}

// adminHandler returns the handler of the admin listener.
func (s *service) adminHandler(local, withPProf bool) http.Handler {
	m := s.mux(s.adminRoutes(withPProf), func(path string) string {
		return fmt.Sprintf("no such endpoint: %.80q; there are /metrics, /livez, /readyz and, with --pprof, /debug/pprof/",
			path)
	})
	return s.observe(checked(m, local))
}

// mux returns the router of endpoints. missing says why there is nothing at another path.
func (s *service) mux(routes []route, missing func(path string) string) *http.ServeMux {
	m := http.NewServeMux()
	for _, r := range routes {
		m.Handle(r.pattern, s.guard(&r))
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if methods := methodsOf(m, r); len(methods) > 0 {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			refusal(http.StatusMethodNotAllowed, fmt.Sprintf("method %.20q: %s takes %s", r.Method, r.URL.Path,
				strings.Join(methods, ", "))).write(w)
			return
		}
		refusal(http.StatusNotFound, missing(r.URL.Path)).write(w)
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

// guard checks a request in the order of the package's drawing, cheapest first, and handles it.
func (s *service) guard(to *route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := visitOf(r.Context())
		v.to = to
		if p := s.life.phase(); p == leaving || p == draining {
			w.Header().Set("Connection", "close") // the client finds another server
		}
		who, no := s.keys.Authorize(r, to.least)
		v.client = who
		if no != nil {
			writeRefused(w, no)
			return
		}
		if to.needs {
			p := s.notReady()
			if p == nil {
				p = v.arguments.parse(r, to.takes)
			}
			if p != nil {
				p.write(w)
				return
			}
		}
		if to.accepts == nil && to.gate == nil {
			to.handle(w, r, v)
			return
		}
		s.admit(w, r, v)
	})
}

// admit reads a request's body, waits until the request may run, and handles it.
func (s *service) admit(w http.ResponseWriter, r *http.Request, v *visit) {
	to := v.to
	if to.accepts != nil {
		p := v.acceptMedia(r)
		if p == nil {
			v.body, p = s.readBody(w, r, v)
		}
		if p == nil {
			v.read = int64(len(v.body))
			if err := to.gate.Refuse(v.read > heavyBytes); err != nil { // before there is work on the body
				p = shed(err)
			}
		}
		if p == nil {
			p = v.unpack()
		}
		if p == nil {
			p = s.reserveWork(v)
		}
		if p != nil {
			p.write(w)
			return
		}
	}
	v.writes.Store(true)
	if s.index.Load() == nil { // the server has stopped meanwhile
		stopping().write(w)
		return
	}
	began := time.Now()
	if !to.streams { // an answer that is streamed takes as long as it is read
		ctx, cancel := context.WithDeadline(v.Context, began.Add(s.limits.Timeout))
		defer cancel()
		v.Context = ctx
	}
	pass, err := to.gate.Enter(v, len(v.body) > heavyBytes)
	v.waited = time.Since(began)
	if err != nil {
		shed(err).write(w)
		return
	}
	if to.gate != nil {
		s.metrics.waits.WithLabelValues(to.gate.Name).Observe(v.waited.Seconds())
	}
	v.answer.pass, v.answer.admitted = pass, true
	to.handle(w, r, v)
}

// handle calls the route's handler.
func (to *route) handle(w http.ResponseWriter, r *http.Request, v *visit) {
	if to.serve != nil {
		to.serve(w, r)
		return
	}
	answer, p := to.make(v)
	if p != nil {
		p.write(w)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}
