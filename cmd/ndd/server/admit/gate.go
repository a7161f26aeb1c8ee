// Package admit limits the memory and the number of running requests, and refuses other requests, so that all
// admitted ones are answered in time.
//
//	request ──► Transfers: memory for its body and its answer ──► Gate: a slot, or a place in the queue ──► handler
//	             │ none left: the longest stalled transfer          │ the queue is full, or the wait
//	             └ is cut off; if none stalls: Refusal              └ too long: Refusal
//
// A [Gate] limits the requests that run and wait. [Transfers] limits the memory of bodies and answers. A slow sender
// or reader costs only that memory, and is cut off when others need it. Both are safe for concurrent use; an
// operation takes about 100 ns.
package admit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Options configures a [Gate].
type Options struct {
	Name    string        // name in metrics and refusals
	Slots   int           // maximum number of running requests
	Heavy   int           // maximum number of running heavy requests; 0 means Slots
	Places  int           // maximum number of waiting requests
	WaitMax time.Duration // maximum waiting time
}

// A Refusal is the error of a request that is not admitted.
type Refusal struct {
	Gate  string
	Why   string        // reason, for metrics: full, late, gone, memory or share
	Retry time.Duration // time after which the client may try again
}

// Error says which limit was reached.
func (r *Refusal) Error() string {
	switch r.Why {
	case "memory":
		return "too many large requests at a time"
	case "share":
		return "too many large requests of one client at a time"
	}
	return fmt.Sprintf("too many requests at a time (%s)", r.Gate)
}

// A Gate is a semaphore with a bounded queue. Slots requests run. Places requests wait for at most WaitMax, in order
// of arrival. Others are refused at once. Heavy requests hold a second semaphore, so that a few large documents do
// not delay a thousand fingerprints.
type Gate struct {
	Options
	slots, heavy chan struct{} // one element for each admitted request
	waiting      atomic.Int64
	refused      [len(reasons)]atomic.Uint64
}

// The reasons of a Gate for a refusal.
const (
	full         = iota // all places of the queue are taken
	late                // no slot became free within WaitMax
	disconnected        // the client disconnected
)

var reasons = [...]string{full: "full", late: "late", disconnected: "gone"}

// NewGate returns a gate.
func NewGate(o Options) *Gate {
	if o.Heavy == 0 {
		o.Heavy = o.Slots
	}
	return &Gate{Options: o, slots: make(chan struct{}, o.Slots), heavy: make(chan struct{}, o.Heavy)}
}

// A Pass is the right of a request to hold a slot of a gate. It belongs to one goroutine.
type Pass struct {
	gate    *Gate
	heavy   bool
	holding bool
}

// Enter waits for a slot. The error is a [Refusal]. A nil Gate admits every request.
func (g *Gate) Enter(ctx context.Context, heavy bool) (*Pass, error) {
	if g == nil {
		return nil, nil
	}
	p := &Pass{gate: g, heavy: heavy}
	if !p.try() {
		if g.waiting.Add(1) > int64(g.Places) {
			g.waiting.Add(-1)
			return nil, g.refuse(full)
		}
		timer := time.NewTimer(g.WaitMax)
		err := p.wait(ctx, timer.C)
		timer.Stop()
		g.waiting.Add(-1)
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Refuse returns the refusal that Enter would return now, or nil if the request could run or wait. It does not wait.
// The caller checks it before it decompresses a body.
func (g *Gate) Refuse(heavy bool) error {
	if g == nil || g.waiting.Load() < int64(g.Places) {
		return nil
	}
	if len(g.slots) < cap(g.slots) && (!heavy || len(g.heavy) < cap(g.heavy)) {
		return nil
	}
	return g.refuse(full)
}

// refuse counts a refusal.
func (g *Gate) refuse(why int) error {
	g.refused[why].Add(1)
	return &Refusal{Gate: g.Name, Why: reasons[why], Retry: g.WaitMax}
}

// try takes a slot if one is free. A channel with waiting senders is always full, so try never
// overtakes them.
func (p *Pass) try() bool {
	if p.heavy && !offer(p.gate.heavy) {
		return false
	}
	if p.holding = offer(p.gate.slots); !p.holding && p.heavy {
		<-p.gate.heavy
	}
	return p.holding
}

func offer(to chan struct{}) bool {
	select {
	case to <- struct{}{}:
		return true
	default:
		return false
	}
}

// wait waits for a slot. A heavy request first waits for its heavy slot, and occupies no other slot meanwhile.
func (p *Pass) wait(ctx context.Context, timeout <-chan time.Time) error {
	g := p.gate
	if p.heavy {
		if err := g.send(ctx, g.heavy, timeout); err != nil {
			return err
		}
	}
	if err := g.send(ctx, g.slots, timeout); err != nil {
		if p.heavy {
			<-g.heavy
		}
		return err
	}
	p.holding = true
	return nil
}

func (g *Gate) send(ctx context.Context, to chan struct{}, timeout <-chan time.Time) error {
	select {
	case to <- struct{}{}:
		return nil
	case <-timeout:
		return g.refuse(late)
	case <-ctx.Done():
		return g.refuse(disconnected)
	}
}

// Leave frees the slot. A second call, or one on a nil pass, does nothing.
func (p *Pass) Leave() {
	if p == nil || !p.holding {
		return
	}
	p.holding = false
	<-p.gate.slots
	if p.heavy {
		<-p.gate.heavy
	}
}

// Lend frees the slot while f waits for the client. Then it waits for a slot again, without a time limit. It returns
// the error of f or of ctx.
func (p *Pass) Lend(ctx context.Context, f func() error) error {
	if p == nil || !p.holding {
		return f()
	}
	p.Leave()
	if err := f(); err != nil {
		return err
	}
	if err := p.wait(ctx, nil); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// A State is the load of a gate.
type State struct {
	Running, Waiting int
	Refused          map[string]uint64 // number of refusals for each reason
}

// State returns the current load of the gate.
func (g *Gate) State() State {
	s := State{Running: len(g.slots), Waiting: int(g.waiting.Load()), Refused: map[string]uint64{}}
	for why, name := range reasons {
		if n := g.refused[why].Load(); n > 0 {
			s.Refused[name] = n
		}
	}
	return s
}
