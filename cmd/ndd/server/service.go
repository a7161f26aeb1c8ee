package server

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"ndd/cmd/ndd/server/access"
	"ndd/cmd/ndd/server/admit"
	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// A service is the server without its listeners: an index, who may ask it, and
// how much at a time.
type service struct {
	clients
	admission
	condition
	options    *Options
	log        *slog.Logger
	metrics    *metrics
	accessLog  *accessLog // nil: none
	start      time.Time
	index      atomic.Pointer[engine.Index] // nil until ready
	prints     sync.Pool                    // of *simhash.Fingerprinter, by the index's recipe
	balance    balance
	background sync.WaitGroup
	backingUp  sync.Mutex // held while a backup is made
}

// clients are who may ask, and over which connections.
type clients struct {
	tls   *access.TLS     // nil: none
	keys  *access.Keyring // nil: everybody may do everything
	front *connections    // nil in tests of handlers
}

// admission is how much is done at a time.
type admission struct {
	limits                    bounds
	transfers                 *admit.Transfers
	queries, batches, inserts *admit.Gate
}

// condition is what the server can do now.
type condition struct {
	life    life
	loading Loading
	damage  atomic.Pointer[error] // nil while none was found
	refused atomic.Pointer[error] // why the last change was refused; nil when it was made
}

func newService(o *Options, requestMemory int64) (*service, error) {
	s := &service{options: o, log: o.Log, start: time.Now()}
	s.limits = boundsOf(requestMemory)
	if o.limit != nil {
		o.limit(&s.limits)
	}
	s.transfers = admit.NewTransfers(memory.Limit{Bytes: uint64(s.limits.RequestMemory),
		Source: "for requests"})
	s.openGates()
	s.metrics = newMetrics(s, o)
	var err error
	if o.TLSCert != "" {
		if s.tls, err = access.NewTLS(o.TLSCert, o.TLSKey, o.TLSClientCA); err != nil {
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

// heavyBytes is the length of a body beyond which its request is heavy: about 2 ms of work for a
// text, or 6,000 fingerprints.
const heavyBytes = 48 << 10

// openGates makes the gates. A query is a few microseconds of work, so more of them than processors
// only lengthens each; twice as many keep the processors busy. A batch uses all processors and
// lends its slot while its answer is read. Inserts wait together for one sync of the disk.
func (s *service) openGates() {
	n, queue := runtime.GOMAXPROCS(0), s.limits.Queue
	s.queries = admit.NewGate(admit.Options{Name: "query", Slots: 2 * n, Heavy: n, Places: 1024 * n, WaitMax: queue})
	s.batches = admit.NewGate(admit.Options{Name: "batch", Slots: max(4, n), Places: 64, WaitMax: 10 * queue})
	s.inserts = admit.NewGate(admit.Options{Name: "insert", Slots: 256, Heavy: n, Places: 1024, WaitMax: 10 * queue})
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
	s.balance.added.Store(int64(x.Stats().Documents))
	s.index.Store(x)
	if err := x.Live().Recovery().Refusing; err != nil {
		s.notice(err)
	}
	s.life.enter(ready)
}

// A phase is a part of the server's life; see the package's drawing.
type phase int32

const (
	loading phase = iota
	ready
	leaving  // not ready any more, but everything is answered, so that clients have time to go
	draining // what runs is finished
)

// life is the current phase. It only goes forward.
type life struct{ now atomic.Int32 }

func (l *life) phase() phase  { return phase(l.now.Load()) }
func (l *life) enter(p phase) { l.now.Store(int32(p)) }

// livez is /livez: the process runs and serves its listener.
func (s *service) livez(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz is /readyz: it reports whether queries are answered, and whether changes are refused.
func (s *service) readyz(w http.ResponseWriter, _ *http.Request) {
	if p := s.unready(); p != nil {
		p.write(w)
		return
	}
	answer := map[string]string{"status": "ready"}
	if why := s.refused.Load(); why != nil {
		answer["changes"] = "refused: " + (*why).Error()
	}
	writeJSON(w, http.StatusOK, answer)
}

// unready returns why clients should go elsewhere, or nil. A server that is leaving is unready and
// still answers.
func (s *service) unready() *problem {
	if s.life.phase() == leaving {
		return stopping()
	}
	return s.notReady()
}

// stopping returns the answer of a server that is stopping.
func stopping() *problem {
	return refusal(http.StatusServiceUnavailable, "draining: the server is stopping").retry(5)
}

// notReady returns the answer to requests that need the index while it is missing or damaged, nil
// if it is neither.
func (s *service) notReady() *problem {
	switch s.life.phase() {
	case loading:
		return refusal(http.StatusServiceUnavailable, "loading: "+s.loading.String()).retry(1)
	case draining:
		return stopping()
	}
	if e := s.damage.Load(); e != nil {
		return refusal(http.StatusServiceUnavailable, "the index is damaged: "+(*e).Error())
	}
	return nil
}

// Loading is the progress of building the index or of reading it into memory. It is safe for
// concurrent use; the zero value is ready.
type Loading struct {
	stage     atomic.Pointer[string]
	documents atomic.Int64
	tooFew    atomic.Int64
	first     atomic.Pointer[simhash.Fingerprint] // for the ready line's example
}

// Stage names the current step, such as "verifying the index".
func (l *Loading) Stage(name string) { l.stage.Store(&name) }

// Loaded counts a document that was added to the index.
func (l *Loading) Loaded(print simhash.Fingerprint) {
	l.documents.Add(1)
	l.first.CompareAndSwap(nil, &print)
}

// LeftOut counts a document with too few features for a fingerprint.
func (l *Loading) LeftOut() { l.tooFew.Add(1) }

// String returns the current step and the number of documents.
func (l *Loading) String() string {
	text := "starting"
	if s := l.stage.Load(); s != nil {
		text = *s
	}
	if n := l.documents.Load(); n > 0 {
		text += ", " + counted(n, "document") + " so far"
	}
	return text
}

// The log has one line for each change of the server's state and for each bug, whatever the number
// of requests. Refused requests are counted by the metrics.

// notice logs the cause of a refusal that concerns the server and not the request alone.
func (s *service) notice(cause error) {
	switch {
	case cause == nil:
	case errors.Is(cause, store.ErrCorrupt):
		s.noticeDamage(cause)
	case errors.Is(cause, live.ErrUnknown):
		if s.refused.Swap(&cause) == nil {
			s.log.Error("changes are refused until the server starts again; queries are answered", "error", cause)
		}
	case s.refused.CompareAndSwap(nil, &cause):
		s.log.Error("changes are refused until there is room; queries are answered", "error", cause)
	}
}

// noticeRoom logs that changes are possible again.
func (s *service) noticeRoom() {
	if s.refused.Load() != nil && s.refused.Swap(nil) != nil {
		s.log.Info("there is room again: changes are made")
	}
}

// noticeDamage takes the server out of service: it answers no more queries, and /readyz reports the
// damage. The first damage is logged with its file, section and block.
func (s *service) noticeDamage(err error) {
	if !s.damage.CompareAndSwap(nil, &err) {
		return
	}
	args := []any{"error", err}
	if c, ok := errors.AsType[*store.CorruptError](err); ok {
		args = append(args, "file", c.File, "section", c.Section, "block", c.Block, "offset", c.Offset)
	}
	s.log.Error("the index is damaged, so nothing is answered any more: restore it from a backup, or build it again",
		args...)
}
