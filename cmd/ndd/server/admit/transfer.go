package admit

import (
	"container/list"
	"sync"
	"time"

	"ndd/engine/memory"
)

const (
	// shares is how many parts the memory of transfers has, of which one client may hold one.
	shares = 4
	// stallMin is how long a transfer must have stood still to be cut off for another's sake.
	stallMin = 250 * time.Millisecond
	// yieldMax is how long is waited for what was cut off to give its memory back.
	yieldMax = time.Second
)

// Transfers bounds the memory of the bodies and answers that are under way. A client, as its address names it, may hold
// a quarter of it. When there is no more, or a client's share is used up, the transfer is cut off that has stood still longest: of
// a client that does not send, or does not read.
type Transfers struct {
	budget *memory.Budget
	share  uint64
	yield  time.Duration // yieldMax, but in tests

	mu      sync.Mutex
	clients map[string]uint64 // bytes of each
	open    list.List         // of *Transfer, the one that moved last behind
	changed chan struct{}     // closed when memory was given back
	cut     uint64
}

// NewTransfers returns the accounts of transfers that take no more memory than limit together.
func NewTransfers(limit memory.Limit) *Transfers {
	return &Transfers{budget: memory.NewBudget(limit), share: limit.Bytes / shares, yield: yieldMax, clients: map[string]uint64{}, changed: make(chan struct{})}
}

// A Transfer is the memory of one request: of its body as it comes, and of its answer until it is read. Its methods
// are called by one goroutine. A nil Transfer has taken nothing: it may wait, and is never gone.
type Transfer struct {
	all      *Transfers
	client   string
	cut      func()
	reserved *memory.Reservation
	bytes    uint64
	moved    time.Time
	waits    bool // for the client, to send or to read
	gone     bool // was cut off
	at       *list.Element
}

// Begin opens the account of a request. Cut is called, from any goroutine and at most once before End returns, to end a transfer that stands still: it makes
// the connection's reads and writes fail, and must not wait.
func (t *Transfers) Begin(client string, cut func()) *Transfer {
	reserved, _ := t.budget.Reserve("a request", 0) // nothing always fits
	r := &Transfer{all: t, client: client, cut: cut, reserved: reserved, moved: time.Now()}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.at = t.open.PushBack(r)
	return r
}

// Grow takes n bytes more. The error is a [Refused]; before it, transfers that stand still are cut off for this one.
func (r *Transfer) Grow(n uint64) error {
	t := r.all
	deadline := time.Now().Add(t.yield)
	for {
		t.mu.Lock()
		why := r.grow(n)
		changed := t.changed
		cut := why != "" && t.cutOff(r, why)
		t.mu.Unlock()
		if why == "" {
			return nil
		}
		left := time.Until(deadline)
		if !cut || left <= 0 {
			return &Refused{Gate: "transfer", Why: why, Retry: time.Second}
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// grow returns why there are no n bytes more, "" when it has taken them. It needs t.mu.
func (r *Transfer) grow(n uint64) string {
	t := r.all
	if t.clients[r.client]+n > t.share {
		return "share"
	}
	if r.reserved.Resize("a request", r.bytes+n) != nil {
		return "memory"
	}
	t.clients[r.client] += n
	r.bytes += n
	return ""
}

// cutOff ends the transfer that has stood still longest: of the client's own where its share is used up. It says whether there is one
// to be waited for. It needs t.mu.
func (t *Transfers) cutOff(r *Transfer, why string) bool {
	for e := t.open.Front(); e != nil; e = e.Next() {
		o := e.Value.(*Transfer)
		if o == r || o.bytes == 0 || why == "share" && o.client != r.client {
			continue
		}
		if o.gone {
			return true
		}
		if o.waits && time.Since(o.moved) >= stallMin {
			o.gone = true
			t.cut++
			o.cut()
			return true
		}
	}
	return false
}

// Waits says whether the transfer waits for its client from now on, to send or to read: only then it may be cut off.
func (r *Transfer) Waits(is bool) {
	if r == nil {
		return
	}
	t := r.all
	t.mu.Lock()
	defer t.mu.Unlock()
	r.waits, r.moved = is, time.Now()
	t.open.MoveToBack(r.at)
}

// Gone says whether the transfer was cut off for others.
func (r *Transfer) Gone() bool {
	if r == nil {
		return false
	}
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	return r.gone
}

// End gives all memory back.
func (r *Transfer) End() {
	t := r.all
	t.mu.Lock()
	defer t.mu.Unlock()
	r.reserved.Release()
	if t.clients[r.client] -= r.bytes; t.clients[r.client] == 0 {
		delete(t.clients, r.client)
	}
	r.bytes = 0
	t.open.Remove(r.at)
	close(t.changed)
	t.changed = make(chan struct{})
}

// Bytes returns what transfers hold, and of how much.
func (t *Transfers) Bytes() (held, of uint64) {
	of = t.budget.Limit().Bytes
	return of - t.budget.Left(), of
}

// CutOff returns how many transfers were cut off so that others had memory.
func (t *Transfers) CutOff() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cut
}
