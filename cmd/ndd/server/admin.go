package server

import (
	"net/http"
	"net/http/pprof"
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
		m.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		m.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		m.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return checkOrigin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := s.keys.authorize(r, admin); p != nil {
			if p.Status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer realm="ndd admin"`)
			}
			p.write(w)
			return
		}
		m.ServeHTTP(w, r)
	}), local)
}
