package admit

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

// Options configures a [Gate].
type Options struct {
	Name     string        // in metrics and refusals
	Slots    int           // requests that run at a time
	Heavy    int           // of them, those of more work than HeavyWork at most; 0 is all
	Places   int           // requests that wait at a time
	WaitMax  time.Duration // the longest that one waits
	QueueMax time.Duration // the work that waits may take the slots so long; 0 is WaitMax
}

// HeavyWork is the work beyond which a request is heavy: a text of 50 KB, or two thousand fingerprints.
const HeavyWork = 2 * time.Millisecond

// A Refused is the error of a request that is not admitted.
type Refused struct {
	Gate  string
	Why   string        // a word for metrics: full, late, gone, memory, share
	Retry time.Duration // when it may be tried again
}

// Error says what there is too much of.
func (r *Refused) Error() string {
	switch r.Why {
	case "memory":
		return "too many large requests at a time"
	case "share":
		return "too many large requests of one client at a time"
	}
	return fmt.Sprintf("too many requests at a time (%s)", r.Gate)
}

// A Gate bounds how many requests of a kind run, how much work waits, and for how long.
// What is beyond that is refused at once: an answer that comes too late
// costs as much as one in time.
//
//	requests ──► [ waiting: places, work ] ──► [ running: slots, some of them for heavy ones ] ──► done
//	              │ too much: full              │ WaitMax over: late
//
// Requests wait in two queues, those of little work and heavy ones, each first come first served: so that a few
// large documents do not keep out a thousand fingerprints. Work is estimated by the caller; how far such estimates are
// off is measured, and made good.
type Gate struct {
	o       Options
	mu      sync.Mutex
	light   list.List // of *waiter
	heavy   list.List
	running int
	heavies int           // of those that run
	queued  time.Duration // estimated work of those that wait
	factor  float64       // of time taken to estimates, an average over the last hundred or so
	refused map[string]uint64
	waits   func(time.Duration) // is told how long each admitted request waited; may be nil
}

// factorMax keeps a single request that was held up from filling a queue.
const factorMax = 100

// A waiter is a request in a queue.
type waiter struct {
	admitted chan struct{} // closed when it has a slot
	heavy    bool
	work     time.Duration
	in       bool
}

// NewGate returns a gate with nothing in it. Waits, unless nil, is told how long each admitted request has waited.
func NewGate(o Options, waits func(time.Duration)) *Gate {
	if o.Heavy == 0 {
		o.Heavy = o.Slots
	}
	if o.QueueMax == 0 {
		o.QueueMax = o.WaitMax
	}
	return &Gate{o: o, factor: 1, waits: waits, refused: map[string]uint64{}}
}

// A Pass is a slot of a gate that a request holds. It belongs to one goroutine.
type Pass struct {
	gate    *Gate
	work    time.Duration
	since   time.Time
	waited  time.Duration // for the slot
	held    time.Duration // before the slot was lent
	holding bool
}

// Enter takes a slot, first come first served, for a request of so much work. The error is a [Refused]. A nil gate is
// open.
func (g *Gate) Enter(ctx context.Context, work time.Duration) (*Pass, error) {
	if g == nil {
		return nil, nil
	}
	p := &Pass{gate: g, work: work, since: time.Now(), holding: true}
	g.mu.Lock()
	if heavy := work > HeavyWork; g.admit(heavy) {
		g.mu.Unlock()
	} else {
		if why := g.full(work); why != nil {
			g.mu.Unlock()
			return nil, why
		}
		w := &waiter{heavy: heavy, work: work}
		q, e := g.join(w, false)
		g.mu.Unlock()
		if err := g.await(ctx, w, q, e, g.o.WaitMax); err != nil {
			return nil, err
		}
		began := p.since
		p.since = time.Now()
		p.waited = p.since.Sub(began)
	}
	if g.waits != nil {
		g.waits(p.waited)
	}
	return p, nil
}

// Refuse returns the refusal that a request of so much work would get now, and nil where it would run or wait: before its body is read,
// which then need not be kept. It takes no place.
func (g *Gate) Refuse(work time.Duration) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.free(work > HeavyWork) {
		return nil
	}
	return g.full(work)
}

// Waited returns how long the request waited for its slot; 0 of a nil pass.
func (p *Pass) Waited() time.Duration {
	if p == nil {
		return 0
	}
	return p.waited
}

// admit gives a request a slot if it may have one now. It needs g.mu.
func (g *Gate) admit(heavy bool) bool {
	if !g.free(heavy) {
		return false
	}
	g.take(heavy)
	return true
}

// free says whether a request need not wait. It needs g.mu.
func (g *Gate) free(heavy bool) bool {
	ahead := g.light.Len()
	if heavy {
		ahead = g.heavy.Len()
	}
	return ahead == 0 && g.room(heavy)
}

func (g *Gate) room(heavy bool) bool {
	return g.running < g.o.Slots && (!heavy || g.heavies < g.o.Heavy)
}

func (g *Gate) take(heavy bool) {
	g.running++
	if heavy {
		g.heavies++
	}
}

// full returns a refusal if another request may not wait. It needs g.mu.
func (g *Gate) full(work time.Duration) error {
	wait := g.wait()
	if g.light.Len()+g.heavy.Len() < g.o.Places && wait <= g.o.QueueMax {
		return nil
	}
	return g.refuse("full", wait)
}

// wait returns how long the work that waits will take. It needs g.mu.
func (g *Gate) wait() time.Duration {
	return time.Duration(float64(g.queued) * g.factor / float64(g.o.Slots))
}

// refuse counts a refusal. It needs g.mu.
func (g *Gate) refuse(why string, wait time.Duration) error {
	g.refused[why]++
	return &Refused{Gate: g.o.Name, Why: why, Retry: wait}
}

// join puts a request into its queue: at its end, or, for one that only lent its slot, at its head. It needs g.mu.
func (g *Gate) join(w *waiter, first bool) (*list.List, *list.Element) {
	w.admitted = make(chan struct{})
	q := &g.light
	if w.heavy {
		q = &g.heavy
	}
	g.queued += w.work
	if first {
		return q, q.PushFront(w)
	}
	return q, q.PushBack(w)
}

// await waits until a request has its slot, most at most.
func (g *Gate) await(ctx context.Context, w *waiter, q *list.List, e *list.Element, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	why := ""
	select {
	case <-w.admitted:
		return nil
	case <-timer.C:
		why = "late"
	case <-ctx.Done():
		why = "gone"
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.in {
		return nil // it was admitted meanwhile
	}
	q.Remove(e)
	g.queued -= w.work
	return g.refuse(why, g.wait())
}

// next admits those that wait while there is room. It needs g.mu.
func (g *Gate) next() {
	for _, q := range []*list.List{&g.light, &g.heavy} {
		for e := q.Front(); e != nil && g.room(e.Value.(*waiter).heavy); e = q.Front() {
			w := q.Remove(e).(*waiter)
			g.queued -= w.work
			g.take(w.heavy)
			w.in = true
			close(w.admitted)
		}
	}
}

// Leave gives the slot back; a second time, and of a nil pass, it does nothing.
func (p *Pass) Leave() {
	if p == nil || !p.holding {
		return
	}
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	p.release()
	if p.work > 0 {
		g.factor += (min(max(float64(p.held)/float64(p.work), 0.05), factorMax) - g.factor) / 64
	}
}

// release gives the slot back, and admits who waits. It needs g.mu.
func (p *Pass) release() {
	g := p.gate
	p.held += time.Since(p.since)
	p.holding = false
	g.running--
	if p.work > HeavyWork {
		g.heavies--
	}
	g.next()
}

// Lend gives the slot back while f runs, which waits for a client, and takes one again before it returns: as
// the first of those that wait, and without a limit but ctx. It returns the error of f, or that of ctx.
func (p *Pass) Lend(ctx context.Context, f func() error) error {
	if p == nil || !p.holding {
		return f()
	}
	g, heavy := p.gate, p.work > HeavyWork
	g.mu.Lock()
	p.release()
	g.mu.Unlock()
	if err := f(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.room(heavy) {
		g.take(heavy)
		g.mu.Unlock()
	} else {
		w := &waiter{heavy: heavy, work: p.work}
		q, e := g.join(w, true)
		g.mu.Unlock()
		if err := g.await(ctx, w, q, e, 1<<62); err != nil {
			return context.Cause(ctx)
		}
	}
	p.since, p.holding = time.Now(), true
	return nil
}

// A State is what a gate has in it.
type State struct {
	Name             string
	Running, Waiting int
	Slots, Places    int
	Wait             time.Duration     // that the work which waits will take
	Refused          map[string]uint64 // by reason
}

// State returns what is in the gate now.
func (g *Gate) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := State{Name: g.o.Name, Running: g.running, Waiting: g.light.Len() + g.heavy.Len(), Slots: g.o.Slots, Places: g.o.Places, Wait: g.wait(), Refused: map[string]uint64{}}
	for why, n := range g.refused {
		s.Refused[why] = n
	}
	return s
}
