package admit

import (
	"sync/atomic"
	"testing"
	"time"

	"ndd/engine/memory"
)

// A client may have a quarter of the memory, all clients may have all of it, and what is given back can be had again.
func TestTransfersAreBounded(t *testing.T) {
	all := NewTransfers(memory.Set(4000))
	none := func() { t.Error("cut off, though it was at work") }
	mine := all.Begin("a", none)
	if err := mine.Grow(1000); err != nil {
		t.Fatal(err)
	}
	again := all.Begin("a", none)
	if err := again.Grow(1); refused(t, err) != "share" {
		t.Errorf("%v", err)
	}
	var others []*Transfer
	for _, client := range []string{"b", "c", "d"} {
		r := all.Begin(client, none)
		others = append(others, r)
		if err := r.Grow(1000); err != nil {
			t.Fatal(err)
		}
	}
	late := all.Begin("e", none)
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
	if held, of := all.Bytes(); held != 0 || of != 4000 || len(all.clients) != 0 || all.open.Len() != 0 {
		t.Errorf("%d of %d bytes, %d clients, %d transfers are left", held, of, len(all.clients), all.open.Len())
	}
}

// Who has stood still longest is cut off for who needs the memory; of a full share, the client's own.
func TestStandingStill(t *testing.T) {
	all := NewTransfers(memory.Set(4000))
	all.yield = waitMax
	type one struct {
		*Transfer
		cut chan struct{}
	}
	begin := func(client string, bytes uint64) one {
		o := one{cut: make(chan struct{})}
		o.Transfer = all.Begin(client, func() { close(o.cut) })
		if err := o.Grow(bytes); err != nil {
			t.Fatal(err)
		}
		return o
	}
	var ended atomic.Int64
	endWhenCut := func(o one) { go func() { <-o.cut; o.End(); ended.Add(1) }() }
	slow, slower := begin("a", 500), begin("a", 500)
	slower.Waits(true)
	slow.Waits(true)
	busy := []one{begin("b", 1000), begin("c", 1000), begin("d", 1000)}
	time.Sleep(stallMin)
	for _, o := range []one{slow, slower} {
		endWhenCut(o)
	}
	own := begin("b2", 400) // the budget is full: the slowest of all goes
	eventually(t, "one was cut off", func() bool { return ended.Load() == 1 })
	select {
	case <-slower.cut:
	default:
		t.Error("another than the slowest was cut off")
	}
	second := begin("a", 600) // the client's share is full
	eventually(t, "the other was cut off", func() bool { return ended.Load() == 2 })
	for _, o := range append(busy, own, second) {
		if o.Gone() {
			t.Error("one that was at work was cut off")
		}
		o.End()
	}
	if held, _ := all.Bytes(); held != 0 || all.CutOff() != 2 {
		t.Errorf("%d bytes are left, %d were cut off", held, all.CutOff())
	}
}
