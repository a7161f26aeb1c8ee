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
	// stallMin is the time without progress after which a transfer may be cut off in favour of another one.
	stallMin = 250 * time.Millisecond
	// yieldMax is the maximum waiting time for memory that others will release soon.
	yieldMax = time.Second
	// waitersMax is the maximum number of transfers of a client that wait for its other requests.
	waitersMax = 32
)

// Transfers limits the memory of running requests. A client, known by its address, may hold a quarter of it. One
// request of a client at a time may exceed that share: large requests of a client are processed one after the other.
// If the memory or the client's share is used up, the transfer that has stalled longest is cut off. Its client does
// not send, or does not read.
type Transfers struct {
	budget *memory.Budget
	share  uint64
	yield  time.Duration // yieldMax, except in tests

	mu       sync.Mutex
	clients  map[string]uint64    // bytes of each client without its excess, at most share
	excesses map[string]*Transfer // the transfer of each client that exceeds its share
	waiting  map[string]int       // number of waiting transfers of each client
	open     list.List            // *Transfer in the order of their last progress
	changed  chan struct{}        // closed when memory is released
	cutCount uint64
}

// NewTransfers returns accounts whose memory together does not exceed the limit.
func NewTransfers(limit memory.Limit) *Transfers {
	return &Transfers{budget: memory.NewBudget(limit), share: limit.Bytes / shares, yield: yieldMax,
		clients: map[string]uint64{}, excesses: map[string]*Transfer{}, waiting: map[string]int{}, changed: make(chan struct{})}
}

// A Transfer is the memory account of one request: of its body while it arrives, and of its answer until it is read.
// One goroutine calls its methods.
type Transfer struct {
	transfers *Transfers
	client    string
	owner     Owner
	reserved  *memory.Reservation
	bytes     uint64
	excess    uint64 // the part of bytes that exceeds the client's share
	moved     time.Time
	isWaiting bool // waits for the client to send or to read
	isCutOff  bool // was cut off
	element   *list.Element
}

// An Owner is a request that takes memory.
type Owner interface {
	// Client names the client, whose requests share memory.
	Client() string
	// CutOff ends a request without progress. It makes reads and writes of the connection fail, and must not block.
	// Any goroutine may call it, at most once, before End returns.
	CutOff()
}

// Begin returns the account of a request. Its first reservation opens it.
func (t *Transfers) Begin(o Owner) *Transfer { return &Transfer{transfers: t, owner: o} }

// begin opens the account. The caller holds t.mu.
func (r *Transfer) begin() {
	if r.element == nil {
		r.client = r.owner.Client()
		r.reserved, _ = r.transfers.budget.Reserve("a request", 0) // nothing always fits
		r.moved, r.element = time.Now(), r.transfers.open.PushBack(r)
	}
}

// Held returns the bytes that the transfer holds.
func (r *Transfer) Held() uint64 { return r.bytes }

// Grow reserves n more bytes. If necessary, it cuts off other transfers that make no progress. The error is a
// [Refusal].
func (r *Transfer) Grow(n uint64) error { return r.take(n, false, false) }

// Await is Grow for a request without a slot of a gate. It waits while another request of its client exceeds the
// share.
func (r *Transfer) Await(n uint64) error { return r.take(n, true, false) }

// Work is Await for processing a complete body. One request of a client at a time may exceed the share.
func (r *Transfer) Work(n uint64) error { return r.take(n, true, true) }

func (r *Transfer) take(n uint64, wait, work bool) error {
	t := r.transfers
	deadline := time.Now().Add(t.yield)
	t.mu.Lock()
	defer t.mu.Unlock()
	r.begin()
	// Try until the memory is reserved, the time is over, or waiting cannot help.
	for {
		why := r.grow(n, work)
		if why == "" {
			return nil
		}
		cut := t.cutOff(r, why, work)
		// If no transfer exceeds the share, the waiting ones would only wait for each other.
		busy := t.excesses[r.client] != nil || work && len(t.excesses) > 0
		remaining := time.Until(deadline)
		if remaining <= 0 || !cut && !(wait && busy && t.waiting[r.client] < waitersMax) {
			return &Refusal{Gate: "transfer", Why: why, Retry: time.Second}
		}
		// Wait without the lock until another transfer releases memory.
		changed, timer := t.changed, time.NewTimer(remaining)
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

// wake lets waiting transfers try again. The caller holds t.mu.
func (t *Transfers) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// grow reserves n more bytes, or returns why it cannot. The caller holds t.mu.
func (r *Transfer) grow(n uint64, work bool) string {
	t, excess := r.transfers, r.excess
	if bytes := t.clients[r.client]; bytes+n > t.share {
		alone := bytes == r.bytes-r.excess
		if first := t.excesses[r.client]; first != r && (first != nil || !work && !alone) {
			return "share"
		}
		excess += n
	}
	if r.reserved.Resize("a request", r.bytes+n) != nil {
		return "memory"
	}
	r.hold(r.bytes+n, excess)
	return ""
}

// hold records the bytes of r, and the part that exceeds its client's share. The caller holds t.mu.
func (r *Transfer) hold(bytes, excess uint64) {
	t := r.transfers
	t.clients[r.client] += bytes - excess - (r.bytes - r.excess)
	if t.clients[r.client] == 0 {
		delete(t.clients, r.client)
	}
	if excess > 0 {
		t.excesses[r.client] = r
	} else if t.excesses[r.client] == r {
		delete(t.excesses, r.client)
	}
	r.bytes, r.excess = bytes, excess
}

// cutOff cuts off the transfer that has stalled longest, for r. If the share of the client is used up, it considers
// only the client's own transfers, and for work only the one that exceeds the share. It reports whether a cut-off
// transfer will release memory. The caller holds t.mu.
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

// SetWaiting sets whether the transfer waits for its client to send or to read. Only a waiting transfer may be cut
// off. It does nothing for a nil Transfer.
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

// End releases all memory.
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
func (t *Transfers) Held() uint64 { return t.budget.Limit().Bytes - t.budget.Free() }

// Limit returns the bytes that transfers may hold.
func (t *Transfers) Limit() uint64 { return t.budget.Limit().Bytes }

// CutOff returns the number of transfers that were cut off in favour of others.
func (t *Transfers) CutOff() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cutCount
}
