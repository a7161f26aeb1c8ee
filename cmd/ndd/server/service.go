package server

import (
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/activity"
	"ndd/cmd/ndd/server/admit"
	"ndd/cmd/ndd/server/conns"
	"ndd/cmd/ndd/server/fastpath"
	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
)

// A service is the server without its listeners: an index, who may ask it, and
// how much at a time.
type service struct {
	log         *slog.Logger
	life        life
	loading     Loading
	started     time.Time
	index       atomic.Pointer[engine.Index] // nil until ready
	prints      sync.Pool                    // of *simhash.Fingerprinter, by the index's recipe
	accessLog   *accessLog                   // nil: none
	tls         *access.TLS                  // nil: none
	keys        *access.Keyring              // nil: everybody may do everything
	transfers   *admit.Transfers
	limits      Limits
	damage      atomic.Pointer[error] // that was found; nil while there is none
	full        atomic.Bool           // the last change was refused, for want of room
	work        workOf
	metrics     *metrics
	threads     int
	version     string
	front       *conns.Listener    // nil in tests of handlers
	quick       *fastpath.Listener // of its connections; nil with TLS
	background  sync.WaitGroup
	descriptors func() int // that the process may have open
	recent      activity.Ring
	census      census
	schemas     huma.Registry // of the bodies of requests and answers
	copies      *copySource   // nil: /v1/copies is not served
	backups     string        // folder of backups; "": /v1/backup is not served
	backingUp   sync.Mutex    // held while a backup is made

	queries, batches, inserts *admit.Gate
}

func newService(o *Options) (*service, error) {
	s := &service{log: o.Log, started: time.Now(), limits: o.Limits.withDefaults(), threads: o.Threads, version: o.Version, backups: o.Backups, descriptors: descriptors}
	if err := s.limits.validate(); err != nil {
		return nil, err
	}
	s.transfers = admit.NewTransfers(memory.Limit{Bytes: uint64(s.limits.RequestMemory), Source: "for requests (--request-memory)"})
	if o.ShowFiles {
		s.loading.show()
	}
	s.openGates()
	s.metrics = newMetrics(s, o)
	if o.TLSCert != "" {
		t, err := access.NewTLS(o.TLSCert, o.TLSKey, o.TLSClientCA)
		if err != nil {
			return nil, err
		}
		s.tls = t
	}
	if o.TokenFile != "" {
		keys, err := access.NewKeyring(o.TokenFile)
		if err != nil {
			return nil, err
		}
		s.keys = keys
	}
	return s, nil
}

// openGates makes the gates. A query is a few microseconds of work without waiting, so more of them
// at a time than processors only lengthens each; twice as many keep processors busy while they wait for each other. A batch uses all
// processors, and lends its slot while it is read. Inserts wait together for the disk, which one sync serves.
// Places: what the slots get done while a request may wait, several times over.
func (s *service) openGates() {
	n := runtime.GOMAXPROCS(0)
	s.queries = admit.NewGate(admit.Options{Name: "query", Slots: 2 * n, Heavy: n, Places: 1024 * n, WaitMax: max(time.Second, s.limits.Queue), QueueMax: s.limits.Queue}, s.waited("query"))
	s.batches = admit.NewGate(admit.Options{Name: "batch", Slots: max(4, n), Places: 64, WaitMax: 5 * time.Second, QueueMax: s.limits.Queue}, s.waited("batch"))
	s.inserts = admit.NewGate(admit.Options{Name: "insert", Slots: 256, Heavy: n, Places: 1024, WaitMax: 5 * time.Second, QueueMax: 10 * s.limits.Queue}, s.waited("insert"))
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
	accepts  []string // media types of the body; the first one where none, or curl's own, is named; nil: no body is read
	takes    []string // query parameters
	needs    bool     // the index
	always   bool     // is answered on the connections beyond the limit, too
	gate     *admit.Gate
	work     func(x *engine.Index, body int) time.Duration // what a request with so long a body costs
	streams  bool                                          // the answer is made while it is read
	document http.HandlerFunc                              // for bodies of text/plain and text/html; may be nil
	quick    func(w http.ResponseWriter, v *visit) bool    // answers a body of JSON that is as most are, and leaves others; may be nil

	answered func() answered // figures of those answered with 200
}

// workOf returns what a request costs.
func (r *route) workOf(x *engine.Index, body int) time.Duration {
	if r.work == nil {
		return requestWork
	}
	return r.work(x, body)
}

func (s *service) routes() []route {
	json, any := []string{mediaJSON}, []string{mediaJSON, mediaText, mediaHTML}
	list := []route{
		{pattern: "POST /v1/query", least: access.Read, accepts: any, takes: []string{"k", "limit"}, needs: true, gate: s.queries, work: s.work.query, document: s.queryDocument, quick: s.quickQuery},
		{pattern: "POST /v1/batch", least: access.Read, accepts: []string{mediaBytes}, takes: []string{"k", "unique"}, needs: true, gate: s.batches, work: s.work.batch, streams: true},
		{pattern: "POST /v1/compare", least: access.Read, accepts: json, takes: []string{"k"}, needs: true, gate: s.queries, work: s.work.query},
		{pattern: "POST /v1/insert", least: access.Write, accepts: any, takes: []string{"id", "on_conflict", "ttl"}, needs: true, gate: s.inserts, work: s.work.query, document: s.insertDocument, quick: s.quickInsert},
		{pattern: "POST /v1/check-and-insert", least: access.Write, accepts: any, takes: []string{"id", "k", "limit", "on_conflict", "ttl"}, needs: true, gate: s.inserts, work: s.work.query, document: s.checkDocument, quick: s.quickCheck},
		{pattern: "POST /v1/delete", least: access.Write, accepts: json, needs: true, gate: s.inserts, work: s.work.query},
		{pattern: "GET /v1/stats", least: access.Read, needs: true},
		{pattern: "GET /v1/activity", least: access.Read, needs: true},
		{pattern: "GET /v1/distribution", least: access.Read, needs: true, gate: s.batches},
		{pattern: "GET /openapi.json", least: access.Anyone},
		{pattern: "GET /livez", least: access.Anyone, always: true},
		{pattern: "GET /readyz", least: access.Anyone, always: true},
	}
	if s.copies != nil {
		list = append(list, route{pattern: "POST /v1/copies", least: access.Read, accepts: any, takes: []string{"limit"}, needs: true, gate: s.queries, work: copiesWork, document: s.copiesDocument})
	}
	if s.backups != "" {
		list = append(list, route{pattern: "POST /v1/backup", least: access.Admin, accepts: json, needs: true, streams: true})
	}
	return list
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
	s.registerCopies(api)
	s.registerBackup(api)
	s.registerStats(api)
	s.registerActivity(api)
	s.registerDistribution(api)
	limitDocuments(api, s.limits.Documents)
	m.HandleFunc("POST /v1/batch", s.batch)
	m.HandleFunc("GET /livez", s.livez)
	m.HandleFunc("GET /readyz", s.readyz)
	m.HandleFunc("GET /openapi.json", s.openAPI(api))
	return s.observe(checked(m.seal(), local))
}
