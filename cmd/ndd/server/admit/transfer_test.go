package admit

import (
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
)

// TestTransfersAreBounded checks that a client may reserve a quarter of the memory, and all clients together all of it.
// Released memory can be reserved again.
func TestTransfersAreBounded(t *testing.T) {
	all := NewTransfers(memory.Set(4000))
	none := func() { t.Error("cut off, though it was at work") }
	mine := all.begin("a", none)
	must.Do(t, mine.Grow(1000))
	again := all.begin("a", none)
	if err := again.Grow(1); refused(t, err) != "share" {
		t.Errorf("%v", err)
	}
	var others []*Transfer
	for _, client := range []string{"b", "c", "d"} {
		r := all.begin(client, none)
		others = append(others, r)
		must.Do(t, r.Grow(1000))
	}
	late := all.begin("e", none)
	if err := late.Grow(1); refused(t, err) != "memory" {
		t.Errorf("%v", err)
	}
	others[0].End()
	if err := late.Grow(1000); err != nil {
		t.Errorf("with room again: %v", err)
	}
	for _, r := range append(others[1:], mine, again, late) {
		r.End()
	}
	if all.Held() != 0 || all.Limit() != 4000 || len(all.clients) != 0 || all.open.Len() != 0 {
		t.Errorf("%d of %d bytes, %d clients, %d transfers are left", all.Held(), all.Limit(), len(all.clients),
			all.open.Len())
	}
}

// TestOwnShare checks that if a client has used up its share, no transfer of another client is cut off.
func TestOwnShare(t *testing.T) {
	all := NewTransfers(memory.Set(4000))
	all.yield = 0
	other := all.begin("b", func() { t.Error("another client's transfer was cut off") })
	must.Do(t, other.Grow(1000))
	other.SetWaiting(true)
	mine := all.begin("a", func() {})
	must.Do(t, mine.Grow(900))
	time.Sleep(stallMin)
	more := all.begin("a", func() {})
	if err := more.Grow(200); refused(t, err) != "share" || other.IsCutOff() {
		t.Errorf("%v", err)
	}
	alone := all.begin("c", func() {})
	if err := alone.Grow(2000); err != nil {
		t.Errorf("one large request of a client: %v", err)
	}
	if err := alone.Resize(500); err != nil || all.clients["c"] != 500 {
		t.Errorf("%v, %d bytes", err, all.clients["c"])
	}
	for _, r := range []*Transfer{other, mine, more, alone} {
		r.End()
	}
	if all.Held() != 0 {
		t.Errorf("%d bytes are left", all.Held())
	}
}

// TestWorkInTurn checks that the work of one request exceeds the share of its client. The next requests of the client
// wait for it, and other clients do not. Without such work no request waits.
func TestWorkInTurn(t *testing.T) {
	all := NewTransfers(memory.Set(4000))
	all.yield = waitMax
	none := func() { t.Error("cut off, though it was at work") }
	var mine []*Transfer
	for range 4 {
		r := all.begin("a", none)
		mine = append(mine, r)
		must.Do(t, r.Await(250))
	}
	late := all.begin("a", none)
	began := time.Now()
	if err := late.Await(250); refused(t, err) != "share" || time.Since(began) > waitMax/2 {
		t.Errorf("a body beyond the share, with no work to wait for: %v after %v", err, time.Since(began))
	}
	if err := mine[0].Work(900); err != nil {
		t.Fatalf("work during other requests: %v", err)
	}
	waits := func(n int) {
		t.Helper()
		must.Eventually(t, "some wait", func() bool { all.mu.Lock(); defer all.mu.Unlock(); return all.waiting["a"] == n })
	}
	done := make(chan error)
	mine[3].SetWaiting(true)
	time.Sleep(stallMin)
	go func() { done <- mine[1].Work(900) }()
	waits(1)
	mine[3].SetWaiting(false) // otherwise a body would cut it off
	late.SetWaiting(true)
	go func() { done <- late.Await(250) }()
	waits(2)
	time.Sleep(stallMin)
	if err := mine[2].Grow(1); refused(t, err) != "share" {
		t.Errorf("an answer, which holds a slot: %v", err)
	}
	setWaiting := func(n int) { all.mu.Lock(); all.waiting["a"] = n; all.mu.Unlock() }
	setWaiting(waitersMax)
	if err := mine[2].Await(1); refused(t, err) != "share" {
		t.Errorf("one more than may wait: %v", err)
	}
	setWaiting(2)
	other := all.begin("b", none)
	if err := other.Grow(1000); err != nil {
		t.Errorf("another client: %v", err)
	}
	if err := mine[0].Resize(1100); err != nil || all.excesses["a"] != mine[0] || all.clients["a"] != 1000 {
		t.Errorf("an answer that is larger than the rest of the share: %v, %d bytes", err, all.clients["a"])
	}
	mine[0].End()
	for range 2 {
		must.Do(t, <-done)
	}
	if all.clients["a"] != 1000 || all.Held() != 1000+900+1000 {
		t.Errorf("%d bytes within the share, %d in all", all.clients["a"], all.Held())
	}
	all.yield = 0
	if err := all.begin("c", none).Work(1200); refused(t, err) != "memory" {
		t.Errorf("more than there is: %v", err)
	}
	for _, r := range append(mine[1:], late, other) {
		r.End()
	}
	if all.Held() != 0 || len(all.clients)+len(all.excesses)+len(all.waiting) != 0 {
		t.Errorf("%d bytes are left: %v, %v, %v", all.Held(), all.clients, all.excesses, all.waiting)
	}
}

// TestStandingStill checks that if memory is needed, the transfer that has stalled longest is cut off. If a share is
// used up, it is one of the same client.
func TestStandingStill(t *testing.T) {
	all := NewTransfers(memory.Set(4000))
	all.yield = waitMax
	type one struct {
		*Transfer
		cut chan struct{}
	}
	begin := func(client string, bytes uint64) one {
		o := one{cut: make(chan struct{})}
		o.Transfer = all.begin(client, func() { close(o.cut) })
		must.Do(t, o.Grow(bytes))
		return o
	}
	var ended atomic.Int64
	endWhenCut := func(o one) { go func() { <-o.cut; o.End(); ended.Add(1) }() }
	slow, slower := begin("a", 500), begin("a", 500)
	slower.SetWaiting(true)
	slow.SetWaiting(true)
	busy := []one{begin("b", 1000), begin("c", 1000), begin("d", 1000)}
	time.Sleep(stallMin)
	for _, o := range []one{slow, slower} {
		endWhenCut(o)
	}
	own := begin("b2", 400) // the budget is full: the slowest of all is cut off
	must.Eventually(t, "one was cut off", func() bool { return ended.Load() == 1 })
	select {
	case <-slower.cut:
	default:
		t.Error("another than the slowest was cut off")
	}
	second := begin("a", 600) // the client's share is full
	must.Eventually(t, "the other was cut off", func() bool { return ended.Load() == 2 })
	for _, o := range append(busy, own, second) {
		if o.IsCutOff() {
			t.Error("one that was at work was cut off")
		}
		o.End()
	}
	if all.Held() != 0 || all.CutOff() != 2 {
		t.Errorf("%d bytes are left, %d were cut off", all.Held(), all.CutOff())
	}
}

// An owner is a request of a test.
type owner struct {
	client string
	cut    func()
}

func (o owner) Client() string { return o.client }
func (o owner) CutOff()        { o.cut() }

func (t *Transfers) begin(client string, cut func()) *Transfer { return t.Begin(owner{client, cut}) }
