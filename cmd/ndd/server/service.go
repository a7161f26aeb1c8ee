package server

import (
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/activity"
	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
)

// A service is the server without its listeners: an index, who may ask it, and
// how much at a time.
type service struct {
	log     *slog.Logger
	life    life
	loading Loading
	started time.Time
	index   atomic.Pointer[engine.Index] // nil until ready
	prints  sync.Pool                    // of *simhash.Fingerprinter, by the index's recipe
	keys    *access.Keyring              // nil: everybody may do everything
	bodies  *memory.Budget
	metrics *metrics
	threads int
	version string
	recent  activity.Ring
	census  census

	queries, batches, inserts *gate
}

func newService(o *Options) (*service, error) {
	s := &service{log: o.Log, started: time.Now(), bodies: memory.NewBudget(memory.Limit{Bytes: bodiesBytesMax, Source: "for the bodies of requests"}), threads: o.Threads, version: o.Version}
	s.metrics = newMetrics(s)
	if o.TokenFile != "" {
		keys, err := access.NewKeyring(o.TokenFile)
		if err != nil {
			return nil, err
		}
		s.keys = keys
	}
	// A query is a few microseconds of work without waiting, so more of them
	// at a time than processors only lengthens each; twice as many keep
	// processors busy while answers are written. A batch uses all
	// processors and may wait for a slow reader. Inserts wait for each other.
	// Places: what the slots get done within waitMax, several times over.
	n := runtime.GOMAXPROCS(0)
	s.queries = newGate("query", 2*n, 256*n, time.Second, s.metrics.shedOne)
	s.batches = newGate("batch", max(4, n), 64, 5*time.Second, s.metrics.shedOne)
	s.inserts = newGate("insert", 2, 1024, 5*time.Second, s.metrics.shedOne)
	return s, nil
}

// serve takes the index into use.
func (s *service) serve(x *engine.Index) {
	if recipe := x.Recipe(); recipe != nil {
		s.prints.New = func() any {
			f, err := simhash.New(*recipe)
			if err != nil {
				panic("server: an index with an invalid recipe: " + err.Error()) // New and Open validate
			}
			return f
		}
	}
	s.index.Store(x)
	s.life.enter(ready)
}

// A route is one endpoint: who may use it, what it takes, and its gate.
type route struct {
	pattern  string // of http.ServeMux
	least    access.Role
	bodyMax  int64    // 0: no body is read
	accepts  []string // media types of the body; the first one where none, or curl's own, is named
	takes    []string // query parameters
	needs    bool     // the index
	gate     *gate
	document http.HandlerFunc // for bodies of text/plain and text/html; may be nil
}

func (s *service) routes() []route {
	json, any := []string{mediaJSON}, []string{mediaJSON, mediaText, mediaHTML}
	return []route{
		{pattern: "POST /v1/query", least: access.Read, bodyMax: bodyBytesMax, accepts: any, takes: []string{"k", "limit"}, needs: true, gate: s.queries, document: s.queryDocument},
		{pattern: "POST /v1/batch", least: access.Read, bodyMax: bodyBytesMax, accepts: []string{mediaBytes}, takes: []string{"k", "unique"}, needs: true, gate: s.batches},
		{pattern: "POST /v1/compare", least: access.Read, bodyMax: bodyBytesMax, accepts: json, takes: []string{"k"}, needs: true, gate: s.queries},
		{pattern: "POST /v1/insert", least: access.Write, bodyMax: bodyBytesMax, accepts: any, takes: []string{"id", "on_conflict", "ttl"}, needs: true, gate: s.inserts, document: s.insertDocument},
		{pattern: "POST /v1/check-and-insert", least: access.Write, bodyMax: bodyBytesMax, accepts: any, takes: []string{"id", "k", "limit", "on_conflict", "ttl"}, needs: true, gate: s.inserts, document: s.checkDocument},
		{pattern: "POST /v1/delete", least: access.Write, bodyMax: bodyBytesMax, accepts: json, needs: true, gate: s.inserts},
		{pattern: "GET /v1/stats", least: access.Read, needs: true},
		{pattern: "GET /v1/activity", least: access.Read, needs: true},
		{pattern: "GET /v1/distribution", least: access.Read, needs: true, gate: s.batches},
		{pattern: "GET /openapi.json", least: access.Anyone},
		{pattern: "GET /livez", least: access.Anyone},
		{pattern: "GET /readyz", least: access.Anyone},
	}
}

// handler returns the handler of the main listener. local says that it is reached from
// this machine only.
func (s *service) handler(local bool) http.Handler {
	m := newMux(s)
	api := newAPI(m, s.version)
	s.registerQuery(api)
	s.registerInsert(api)
	s.registerCheck(api)
	s.registerDelete(api)
	s.registerCompare(api)
	s.registerStats(api)
	s.registerActivity(api)
	s.registerDistribution(api)
	m.HandleFunc("POST /v1/batch", s.batch)
	m.HandleFunc("GET /livez", s.livez)
	m.HandleFunc("GET /readyz", s.readyz)
	m.HandleFunc("GET /openapi.json", s.openAPI(api))
	return s.observe(checked(m.seal(), local))
}
