package admit

import (
	"container/list"
	"sync"
	"time"

	"example.org/ndd/engine/memory"
)

const (
	// shares is the number of parts of the memory of transfers. One client may hold one part.
	shares = 4
	// stallMin is how long a transfer must have stood still to be cut off for another's sake.
	stallMin = 250 * time.Millisecond
	// yieldMax is the longest wait for memory that others return soon.
	yieldMax = time.Second
	// waitersMax is how many transfers of a client wait at a time for its other requests.
	waitersMax = 32
)

// Transfers limits the memory of running requests. A client, known by its address, may hold a quarter of it. One
// request of a client at a time may exceed that share: large requests of a client are processed one after the other. If
// memory is short, or the client's share is used up, the transfer that has stalled longest is cut off: its client does
// not send, or does not read.
type Transfers struct {
	budget *memory.Budget
	share  uint64
	yield  time.Duration // yieldMax, but in tests

	mu       sync.Mutex
	clients  map[string]uint64    // bytes of each, at most share, without those beyond it
	excesses map[string]*Transfer // the transfer of each client that exceeds its share
	waiting  map[string]int       // transfers of each client that wait
	open     list.List            // *Transfer in the order of their last progress
	changed  chan struct{}        // closed when memory was given back
	cutCount uint64
}

// NewTransfers returns the accounts of transfers that take no more memory than limit together.
func NewTransfers(limit memory.Limit) *Transfers {
	return &Transfers{budget: memory.NewBudget(limit), share: limit.Bytes / shares, yield: yieldMax,
		clients: map[string]uint64{}, excesses: map[string]*Transfer{}, waiting: map[string]int{}, changed: make(chan struct{})}
}

// A Transfer is the memory of one request: of its body as it comes, and of its answer until it is
// read. Its methods are called by one goroutine. A nil Transfer waits for nobody.
type Transfer struct {
	transfers *Transfers
	client    string
	owner     Owner
	reserved  *memory.Reservation
	bytes     uint64
	excess    uint64 // the part of bytes that exceeds the client's share
	moved     time.Time
	isWaiting bool // for the client, to send or to read
	isCutOff  bool // was cut off
	element   *list.Element
}

// An Owner is a request that takes memory.
type Owner interface {
	// Client names the client, whose requests share memory.
	Client() string
	// CutOff ends a request without progress: it makes the connection's reads and writes fail, and must
	// not wait. It is called from any goroutine, and at most once before End returns.
	CutOff()
}

// Begin returns the account of a request, which is open from its first memory on.
func (t *Transfers) Begin(o Owner) *Transfer { return &Transfer{transfers: t, owner: o} }

// begin opens the account. It needs t.mu.
func (r *Transfer) begin() {
	if r.element == nil {
		r.client = r.owner.Client()
		r.reserved, _ = r.transfers.budget.Reserve("a request", 0) // nothing always fits
		r.moved, r.element = time.Now(), r.transfers.open.PushBack(r)
	}
}

// Held returns the bytes that the transfer holds.
func (r *Transfer) Held() uint64 { return r.bytes }

// Grow takes n bytes more. The error is a [Refusal]; before it, transfers without progress are cut
// off for this one.
func (r *Transfer) Grow(n uint64) error { return r.take(n, false, false) }

// Await is Grow for a request that holds no slot of a gate: while another of its client is beyond
// the share, it waits.
func (r *Transfer) Await(n uint64) error { return r.take(n, true, false) }

// Work is Await for processing a complete body. One request of a client at a time may exceed the share.
func (r *Transfer) Work(n uint64) error { return r.take(n, true, true) }

func (r *Transfer) take(n uint64, wait, work bool) error {
	t := r.transfers
	deadline := time.Now().Add(t.yield)
	t.mu.Lock()
	defer t.mu.Unlock()
	r.begin()
	for {
		why := r.grow(n, work)
		if why == "" {
			return nil
		}
		cut := t.cutOff(r, why, work)
		// With nobody beyond the share, those that wait would only wait for each other.
		busy := t.excesses[r.client] != nil || work && len(t.excesses) > 0
		left := time.Until(deadline)
		if left <= 0 || !cut && !(wait && busy && t.waiting[r.client] < waitersMax) {
			return &Refusal{Gate: "transfer", Why: why, Retry: time.Second}
		}
		changed, timer := t.changed, time.NewTimer(left)
		t.waiting[r.client]++
		r.isWaiting = false
		t.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
		t.mu.Lock()
		if t.waiting[r.client]--; t.waiting[r.client] == 0 {
			delete(t.waiting, r.client)
		}
	}
}

// Resize reserves or releases memory so that the transfer holds n bytes. It fails like [Transfer.Grow].
func (r *Transfer) Resize(n uint64) error {
	if n > r.bytes {
		return r.Grow(n - r.bytes)
	}
	t := r.transfers
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = r.reserved.Resize("a request", n) // less always fits
	within := r.bytes - r.excess
	if t.clients[r.client]-within+n <= t.share {
		within = n
	}
	r.hold(n, n-min(n, within))
	t.wake()
	return nil
}

// wake lets those that wait for memory try again. It needs t.mu.
func (t *Transfers) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// grow returns why there are no n bytes more, "" when it has taken them. It needs t.mu.
func (r *Transfer) grow(n uint64, work bool) string {
	t, beyond := r.transfers, r.excess
	if held := t.clients[r.client]; held+n > t.share {
		alone := held == r.bytes-r.excess
		if first := t.excesses[r.client]; first != r && (first != nil || !work && !alone) {
			return "share"
		}
		beyond += n
	}
	if r.reserved.Resize("a request", r.bytes+n) != nil {
		return "memory"
	}
	r.hold(r.bytes+n, beyond)
	return ""
}

// hold records the bytes of r, and the part that exceeds its client's share. It needs t.mu.
func (r *Transfer) hold(bytes, beyond uint64) {
	t := r.transfers
	t.clients[r.client] += bytes - beyond - (r.bytes - r.excess)
	if t.clients[r.client] == 0 {
		delete(t.clients, r.client)
	}
	if beyond > 0 {
		t.excesses[r.client] = r
	} else if t.excesses[r.client] == r {
		delete(t.excesses, r.client)
	}
	r.bytes, r.excess = bytes, beyond
}

// cutOff ends the transfer that has stood still longest: of the client's own where its share is
// used up, and for work only the one beyond the share. It says whether there is one to be waited
// for. It needs t.mu.
func (t *Transfers) cutOff(r *Transfer, why string, work bool) bool {
	for e := t.open.Front(); e != nil; e = e.Next() {
		o := e.Value.(*Transfer)
		if o == r || o.bytes == 0 || why == "share" && (o.client != r.client || work && o.excess == 0) {
			continue
		}
		if o.isCutOff {
			return true
		}
		if o.isWaiting && time.Since(o.moved) >= stallMin {
			o.isCutOff = true
			t.cutCount++
			o.owner.CutOff()
			return true
		}
	}
	return false
}

// SetWaiting says whether the transfer waits for its client from now on, to send or to read: only then
// it may be cut off.
func (r *Transfer) SetWaiting(is bool) {
	if r == nil || r.element == nil {
		return
	}
	t := r.transfers
	t.mu.Lock()
	defer t.mu.Unlock()
	r.isWaiting, r.moved = is, time.Now()
	t.open.MoveToBack(r.element)
}

// IsCutOff reports whether the transfer was cut off in favour of others.
func (r *Transfer) IsCutOff() bool {
	if r.element == nil {
		return false
	}
	r.transfers.mu.Lock()
	defer r.transfers.mu.Unlock()
	return r.isCutOff
}

// End gives all memory back.
func (r *Transfer) End() {
	if r.element == nil {
		return
	}
	t := r.transfers
	t.mu.Lock()
	defer t.mu.Unlock()
	r.reserved.Release()
	r.hold(0, 0)
	t.open.Remove(r.element)
	t.wake()
}

// Held returns the bytes that transfers hold.
func (t *Transfers) Held() uint64 { return t.budget.Limit().Bytes - t.budget.Left() }

// Limit returns the bytes that they may hold.
func (t *Transfers) Limit() uint64 { return t.budget.Limit().Bytes }

// CutOff returns how many transfers were cut off so that others had memory.
func (t *Transfers) CutOff() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cutCount
}
