package server

import (
	"fmt"
	"net/http"
	"net/http/pprof"

	"ndd/cmd/ndd/server/access"
	"ndd/engine/parallel"
)

// adminHandler returns the handler of the admin listener. Where there are tokens, it wants
// one of role admin.
func (s *service) adminHandler(local, withPProf bool) http.Handler {
	m := http.NewServeMux()
	m.Handle("GET /metrics", s.metrics.handler())
	m.HandleFunc("GET /livez", s.livez)
	m.HandleFunc("GET /readyz", s.readyz)
	if withPProf {
		m.HandleFunc("GET /debug/pprof/", pprof.Index)
		m.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		m.HandleFunc("GET /debug/pprof/profile", func(w http.ResponseWriter, r *http.Request) {
			defer parallel.LabelStages()()
			pprof.Profile(w, r)
		})
		m.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		m.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refusal(http.StatusNotFound, fmt.Sprintf("no such endpoint: %.80q; there are /metrics, /livez, /readyz and, with --pprof, /debug/pprof/", r.URL.Path)).write(w)
	})
	return checked(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		least := access.Admin
		if r.URL.Path == "/livez" || r.URL.Path == "/readyz" {
			least = access.Anyone // as on the main listener
		}
		if _, no := s.keys.Authorize(r, least); no != nil {
			writeRefused(w, no)
			return
		}
		m.ServeHTTP(w, r)
	}), local)
}
