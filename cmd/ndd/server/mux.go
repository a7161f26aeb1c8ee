package server

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"ndd/cmd/ndd/server/ui"
)

// A mux leads requests to handlers, each behind the checks of its route. Both
// huma's handlers and our own are registered with it.
type mux struct {
	service  *service
	routes   map[string]*route
	inner    *http.ServeMux
	allowed  map[string][]string // methods by path
	attached int
}

func newMux(s *service) *mux {
	m := &mux{service: s, routes: map[string]*route{}, inner: http.NewServeMux(), allowed: map[string][]string{}}
	for _, r := range s.routes() {
		m.routes[r.pattern] = &r
		method, path, _ := strings.Cut(r.pattern, " ")
		m.allowed[path] = append(m.allowed[path], method)
	}
	return m
}

// HandleFunc attaches the handler of a route. A pattern without a route is a
// programmer's error: nothing is served that the table does not name.
func (m *mux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	r, ok := m.routes[pattern]
	if !ok {
		panic("server: no route for " + pattern)
	}
	m.attached++
	m.inner.Handle(pattern, m.service.guard(r, h))
}

// ServeHTTP is part of the interface that huma's adapter needs.
func (m *mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.inner.ServeHTTP(w, r) }

// pageMethods are those of pages.
var pageMethods = []string{http.MethodGet, http.MethodHead}

// seal adds the answers to everything else, and is the finished mux.
func (m *mux) seal() http.Handler {
	if m.attached != len(m.routes) {
		panic(fmt.Sprintf("server: %d routes, %d handlers", len(m.routes), m.attached))
	}
	pages := ui.New()
	m.inner.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		methods, ok := m.allowed[r.URL.Path]
		if pages.Has(r.URL.Path) {
			if methods, ok = pageMethods, true; slices.Contains(methods, r.Method) {
				pages.ServeHTTP(w, r)
				return
			}
		}
		if !ok {
			refusal(http.StatusNotFound, fmt.Sprintf("no such endpoint: %.80q; see /openapi.json", r.URL.Path)).write(w)
			return
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		refusal(http.StatusMethodNotAllowed, fmt.Sprintf("method %.20q: %s takes %s", r.Method, r.URL.Path, strings.Join(methods, ", "))).write(w)
	})
	return m.inner
}

// guard checks a request in the order of the package's drawing, cheapest
// first, and hands it on with its body in memory.
func (s *service) guard(to *route, handle http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.life.phase() == draining {
			w.Header().Set("Connection", "close") // the client finds another server
		}
		if _, no := s.keys.Authorize(r, to.least); no != nil {
			writeRefused(w, no)
			return
		}
		if to.needs {
			if p := s.notReady(); p != nil {
				p.write(w)
				return
			}
			var p *problem
			if r, p = withArguments(r, to.takes); p != nil {
				p.write(w)
				return
			}
		}
		handle := handle
		if to.bodyMax > 0 {
			media, p := mediaType(r, to.accepts)
			if p != nil {
				p.write(w)
				return
			}
			body, release, p := readBody(w, r, to.bodyMax, s.bodies)
			if p != nil {
				p.write(w)
				return
			}
			defer release()
			if p := checkJSON(media, body); p != nil {
				p.write(w)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			r.ContentLength = int64(len(body))
			if to.document != nil && strings.HasPrefix(media, "text/") {
				handle = to.document
			}
		}
		leave, p := to.gate.enter(r.Context())
		if p != nil {
			p.write(w)
			return
		}
		defer leave()
		handle(w, r)
	})
}

// mediaType is that of the body. A body without one, or with the one of forms,
// which curl puts on everything, is taken for the first of those accepted: a
// form of a foreign web page does not come this far (access.CheckOrigin).
func mediaType(r *http.Request, accepted []string) (string, *problem) {
	const form = "application/x-www-form-urlencoded"
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return "", refusal(http.StatusUnsupportedMediaType, fmt.Sprintf("header Content-Encoding: %.40q is not supported: send the body without encoding", e))
	}
	value := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(value)
	switch {
	case value == "" || err == nil && media == form:
		media = accepted[0]
	case err != nil || !slices.Contains(accepted, media):
		return "", refusal(http.StatusUnsupportedMediaType, fmt.Sprintf("header Content-Type: %.80q, must be %s", value, strings.Join(accepted, " or ")))
	}
	r.Header.Set("Content-Type", media)
	return media, nil
}
