package server

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// A gate bounds how many requests of a kind run, how many wait, and for how
// long. What is beyond that is shed at once: an answer that comes too late
// costs as much as one in time.
//
//	requests ──► [ waiting: places ] ──► [ running: slots ] ──► done
//	              │ full: 429             waitMax over: 429
type gate struct {
	name    string
	slots   chan struct{}
	places  int64
	waitMax time.Duration
	waiting atomic.Int64
	shed    func(gate, why string)
}

func newGate(name string, slots, places int, waitMax time.Duration, shed func(gate, why string)) *gate {
	return &gate{name: name, slots: make(chan struct{}, slots), places: int64(places), waitMax: waitMax, shed: shed}
}

// enter takes a slot, first come first served; leave gives it back. A nil gate
// is open.
func (g *gate) enter(ctx context.Context) (leave func(), p *problem) {
	if g == nil {
		return func() {}, nil
	}
	select {
	case g.slots <- struct{}{}:
		return g.leave, nil
	default:
	}
	if g.waiting.Add(1) > g.places {
		g.waiting.Add(-1)
		return nil, g.refuse("full")
	}
	defer g.waiting.Add(-1)
	timer := time.NewTimer(g.waitMax)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		return g.leave, nil
	case <-timer.C:
		return nil, g.refuse("late")
	case <-ctx.Done():
		return nil, g.refuse("gone")
	}
}

func (g *gate) leave() { <-g.slots }

func (g *gate) refuse(why string) *problem {
	g.shed(g.name, why)
	return refusal(http.StatusTooManyRequests, "too many requests of this kind at a time").retry(1)
}
