package server

import (
	"net/http"
	"sync/atomic"
)

// A phase is a part of the server's life; see the package's drawing.
type phase int32

const (
	loading phase = iota
	ready
	leaving  // not ready any more, but everything is answered, so that clients have time to go
	draining // what runs is finished
)

var phaseNames = [...]string{"loading", "ready", "leaving", "draining"}

func (p phase) String() string { return phaseNames[p] }

// life is the current phase. It only goes forward.
type life struct{ now atomic.Int32 }

func (l *life) phase() phase { return phase(l.now.Load()) }

// enter goes on to a later phase; it stays where it is if that is earlier.
func (l *life) enter(p phase) {
	for {
		now := l.now.Load()
		if int32(p) <= now || l.now.CompareAndSwap(now, int32(p)) {
			return
		}
	}
}

// livez says that the process runs and its listener is served.
func (s *service) livez(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz says whether queries are answered.
func (s *service) readyz(w http.ResponseWriter, _ *http.Request) {
	if p := s.unready(); p != nil {
		p.write(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": ready.String()})
}

// unready returns why clients should go elsewhere, nil where they need not: a server that leaves still answers those who come.
func (s *service) unready() *problem {
	if s.life.phase() == leaving {
		return stopping()
	}
	return s.notReady()
}

// stopping is the answer of a server that stops.
func stopping() *problem {
	return refusal(http.StatusServiceUnavailable, "draining: the server is stopping").retry(5)
}

// notReady returns the answer to requests that need the index while it is not there or is damaged, nil where they are answered.
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
