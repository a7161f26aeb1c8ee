package server

import (
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/ui"
	"ndd/engine"
	"ndd/engine/corpus/document"
)

// A mux leads requests to handlers, each behind the checks of its route. Both
// huma's handlers and our own are registered with it.
type mux struct {
	service  *service
	routes   map[string]*route
	inner    *http.ServeMux
	direct   map[string]direct   // by path, of POST routes: what inner would find, found faster
	allowed  map[string][]string // methods by path
	attached int
}

// A direct is the handler of a POST route.
type direct struct {
	pattern string
	handler http.Handler
}

func newMux(s *service) *mux {
	m := &mux{service: s, routes: map[string]*route{}, inner: http.NewServeMux(), direct: map[string]direct{}, allowed: map[string][]string{}}
	for _, r := range s.routes() {
		r.answered = sync.OnceValue(func() answered { return s.metrics.answered(r.pattern) })
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
	guarded := m.service.guard(r, h)
	m.inner.Handle(pattern, guarded)
	if path, post := strings.CutPrefix(pattern, "POST "); post {
		m.direct[path] = direct{pattern, guarded}
	}
}

// ServeHTTP is part of the interface that huma's adapter needs.
func (m *mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.inner.ServeHTTP(w, r) }

// pageMethods are those of pages.
var pageMethods = []string{http.MethodGet, http.MethodHead}

// optional are the endpoints that are there by a flag.
var optional = map[string]string{"/v1/copies": "--copies", "/v1/backup": "--backup-dir"}

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
			why := fmt.Sprintf("no such endpoint: %.80q; see /openapi.json", r.URL.Path)
			if flag, ok := optional[r.URL.Path]; ok {
				why = fmt.Sprintf("%s is there where the server was started with %s", r.URL.Path, flag)
			}
			refusal(http.StatusNotFound, why).write(w)
			return
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		refusal(http.StatusMethodNotAllowed, fmt.Sprintf("method %.20q: %s takes %s", r.Method, r.URL.Path, strings.Join(methods, ", "))).write(w)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to, ok := m.direct[r.URL.Path]; ok && r.Method == http.MethodPost {
			r.Pattern = to.pattern
			to.handler.ServeHTTP(w, r)
			return
		}
		m.inner.ServeHTTP(w, r)
	})
}

// guard checks a request in the order of the package's drawing, cheapest
// first, and hands it on with its body in memory.
func (s *service) guard(to *route, handle http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := visitOf(r.Context())
		v.to = to
		if v.conn.Spare() && !to.always {
			w.Header().Set("Connection", "close")
			refusal(http.StatusServiceUnavailable, fmt.Sprintf("all %d connections are at work (--max-connections)", s.limits.Connections)).retry(1).write(w)
			return
		}
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
				p = v.arguments.take(r, to.takes)
			}
			if p != nil {
				p.write(w)
				return
			}
		}
		if to.accepts == nil && to.gate == nil {
			handle(w, r)
			return
		}
		s.admit(v, handle, w, r)
	})
}

// admit reads a request's body and waits until it may run.
func (s *service) admit(v *visit, handle http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	to, media := v.to, ""
	defer v.end()
	x := s.indexFor(w)
	if x == nil {
		return
	}
	if to.accepts != nil {
		var p *problem
		if media, p = mediaType(r, to.accepts); p == nil {
			p = s.early(x, to, r)
		}
		if p == nil {
			v.body, p = s.readBody(w, r, v)
		}
		if p != nil {
			p.write(w)
			return
		}
		v.reader.Reset(v.body)
		r.Body, r.ContentLength = &v.reader, int64(len(v.body))
	}
	v.writes.Store(true)
	if to.document != nil && strings.HasPrefix(media, "text/") {
		handle = to.document
	}
	if x = s.indexFor(w); x == nil {
		return
	}
	began := time.Now()
	if !to.streams { // an answer that is streamed takes as long as it is read
		v.until = began.Add(s.limits.Timeout)
	}
	v.read = int64(len(v.body))
	pass, err := to.gate.Enter(v, to.workOf(x, len(v.body)))
	if err != nil {
		v.waited = time.Since(began)
		shed(err).write(w)
		return
	}
	v.waited = pass.Waited()
	a := &v.answer
	*a = answer{ResponseWriter: w, visit: v, pass: pass, streams: to.streams}
	defer a.end()
	if media == mediaJSON {
		if to.quick != nil && to.quick(a, v) {
			return
		}
		if p := checkJSON(v.body, s.limits.Documents); p != nil {
			p.write(a)
			return
		}
	}
	handle(a, r)
}

// indexFor returns the index, or nil where the server has stopped meanwhile, which is answered.
func (s *service) indexFor(w http.ResponseWriter) *engine.Index {
	x := s.index.Load()
	if x == nil {
		stopping().write(w)
	}
	return x
}

// clientOf names who makes a request, to share memory by: the certificate's name, or the address; of IPv6, the
// network, of which one client may have all addresses.
func clientOf(r *http.Request, who access.Client) string {
	if who.Name != "" {
		return "cn:" + who.Name
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := at.Addr().Unmap()
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p.String()
}

// mediaType returns that of the body. A body without one, or with the one of forms,
// which curl puts on everything, is taken for the first of those accepted: a
// form of a foreign web page does not come this far (access.CheckOrigin).
func mediaType(r *http.Request, accepted []string) (string, *problem) {
	const form = "application/x-www-form-urlencoded"
	if given := r.Header["Content-Type"]; len(given) == 1 && len(r.Header["Content-Encoding"]) == 0 && slices.Contains(accepted, given[0]) {
		return given[0], nil // as most have it
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return "", refusal(http.StatusUnsupportedMediaType, fmt.Sprintf("header Content-Encoding: %.40q is not supported: send the body without encoding", e))
	}
	value := r.Header.Get("Content-Type")
	media, params, err := mime.ParseMediaType(value)
	switch {
	case value == "" || err == nil && media == form:
		media = accepted[0]
	case err != nil || !slices.Contains(accepted, media):
		return "", refusal(http.StatusUnsupportedMediaType, fmt.Sprintf("header Content-Type: %.80q, must be %s", value, strings.Join(accepted, " or ")))
	}
	if !strings.HasPrefix(media, "text/") {
		params = nil
	}
	if name := params["charset"]; name != "" && !document.KnownCharset(name) {
		return "", refusal(http.StatusUnsupportedMediaType, fmt.Sprintf("header Content-Type: charset %.40q is unknown: send UTF-8", name))
	}
	r.Header.Set("Content-Type", mime.FormatMediaType(media, params)) // with the charset of a document
	return media, nil
}
