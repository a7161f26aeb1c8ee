package server

import (
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/storage/store"
)

// condition is the state of the server: its phase, its index, and known faults. It is safe for concurrent use.
type condition struct {
	journal *slog.Logger
	life    life
	loading LoadProgress
	index   atomic.Pointer[engine.Index] // nil before the index is ready, and during the shutdown
	damage  atomic.Pointer[error]        // nil if no damage was found
	refused atomic.Pointer[error]        // error of the last change; nil if it succeeded
}

// A phase is a phase of the server, in the order of the drawing in the package comment.
type phase int32

const (
	loading phase = iota
	ready
	leaving  // not ready, but all requests are answered, so that clients have time to leave
	draining // running requests are finished, new ones are refused
)

// life is the current phase. It never returns to an earlier one.
type life struct{ state atomic.Int32 }

func (l *life) phase() phase  { return phase(l.state.Load()) }
func (l *life) enter(p phase) { l.state.Store(int32(p)) }

// livez is /livez: the process runs and serves its listener.
func (s *condition) livez(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz is /readyz: it reports whether queries are answered, and whether changes are refused.
func (s *condition) readyz(w http.ResponseWriter, _ *http.Request) {
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

// unready returns why clients should use another server, or nil. A server in the phase leaving is unready, but still
// answers.
func (s *condition) unready() *problem {
	if s.life.phase() == leaving {
		return stopping()
	}
	return s.notReady()
}

// checkReady refuses requests while the index cannot answer them.
func (s *condition) checkReady(http.ResponseWriter, *http.Request) *problem { return s.notReady() }

// checkStop closes the connections of a stopping server, so that its clients choose another one.
func (s *condition) checkStop(w http.ResponseWriter, _ *http.Request) *problem {
	if p := s.life.phase(); p == leaving || p == draining {
		w.Header().Set("Connection", "close")
	}
	return nil
}

// stopping returns the answer of a server that is stopping.
func stopping() *problem {
	return newProblem(http.StatusServiceUnavailable, "draining: the server is stopping").retry(5)
}

// notReady returns the answer to requests that need the index if it is missing or damaged. Otherwise it returns nil.
func (s *condition) notReady() *problem {
	switch s.life.phase() {
	case loading:
		return newProblem(http.StatusServiceUnavailable, "loading: "+s.loading.String()).retry(1)
	case draining:
		return stopping()
	}
	if e := s.damage.Load(); e != nil {
		return newProblem(http.StatusServiceUnavailable, "the index is damaged: "+(*e).Error())
	}
	return nil
}

// The log has one line for each change of the state, not for each request. The metrics count refused requests.

// notice logs the cause of a refusal, if it concerns the server and not only the request.
func (s *condition) notice(cause error) {
	switch {
	case cause == nil:
	case errors.Is(cause, store.ErrCorrupt):
		s.noticeDamage(cause)
	case errors.Is(cause, live.ErrUnknown):
		if s.refused.Swap(&cause) == nil {
			s.journal.Error("changes are refused until the server starts again; queries are answered", "error", cause)
		}
	case s.refused.CompareAndSwap(nil, &cause):
		s.journal.Error("changes are refused until space is free; queries are answered", "error", cause)
	}
}

// noticeRoom logs that a change succeeded after a refused one.
func (s *condition) noticeRoom() {
	if s.refused.Load() != nil && s.refused.Swap(nil) != nil {
		s.journal.Info("space is free again: changes are accepted")
	}
}

// noticeDamage takes the server out of service: it answers no queries, and /readyz reports the damage. It logs the
// first damage with its file, section and block.
func (s *condition) noticeDamage(err error) {
	if !s.damage.CompareAndSwap(nil, &err) {
		return
	}
	args := []any{"error", err}
	if c, ok := errors.AsType[*store.CorruptError](err); ok {
		args = append(args, "file", c.File, "section", c.Section, "block", c.Block, "offset", c.Offset)
	}
	s.journal.Error("the index is damaged, so nothing is answered any more: restore it from a backup, or build it again",
		args...)
}

// LoadProgress is the progress of building the index or of reading it into memory. It is safe for
// concurrent use; the zero value is ready.
type LoadProgress struct {
	stage     atomic.Pointer[string]
	documents atomic.Int64
	tooShort  atomic.Int64
	first     atomic.Pointer[simhash.Fingerprint] // first fingerprint, an example for the ready line
}

// Stage names the current step, such as "verifying the index".
func (l *LoadProgress) Stage(name string) { l.stage.Store(&name) }

// Loaded counts a document that was added to the index.
func (l *LoadProgress) Loaded(fingerprint simhash.Fingerprint) {
	l.documents.Add(1)
	l.first.CompareAndSwap(nil, &fingerprint)
}

// LeftOut counts a document with too few features for a fingerprint.
func (l *LoadProgress) LeftOut() { l.tooShort.Add(1) }

// String returns the current step and the number of documents.
func (l *LoadProgress) String() string {
	text := "starting"
	if s := l.stage.Load(); s != nil {
		text = *s
	}
	if n := l.documents.Load(); n > 0 {
		text += ", " + cli.Number(int(n), "document") + " so far"
	}
	return text
}
