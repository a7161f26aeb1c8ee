package admit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// waitMax is the maximum waiting time for an expected event on a slow machine.
const waitMax = 2 * time.Minute

func enter(t *testing.T, g *Gate, heavy bool) *Pass {
	t.Helper()
	p, err := g.Enter(t.Context(), heavy)
	must.Do(t, err)
	return p
}

// refused returns the reason of a refusal.
func refused(t *testing.T, err error) string {
	t.Helper()
	var no *Refusal
	if !errors.As(err, &no) {
		t.Fatalf("%v is no refusal", err)
	}
	return no.Why
}

// TestGate checks that two requests run, one waits, and others are refused at once. The waiting one enters when a slot
// is free.
func TestGate(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 2, Places: 1, WaitMax: 50 * time.Millisecond})
	first, second := enter(t, g, false), enter(t, g, false)
	began := time.Now()
	if _, err := g.Enter(t.Context(), false); refused(t, err) != "late" || time.Since(began) < 50*time.Millisecond {
		t.Errorf("the third: %v after %v", err, time.Since(began))
	}
	g.WaitMax = waitMax
	if err := g.Refuse(false); err != nil {
		t.Errorf("a place is free: %v", err)
	}
	in := make(chan *Pass)
	go func() {
		p, err := g.Enter(context.Background(), false)
		if err != nil {
			t.Errorf("the one that waited: %v", err)
		}
		in <- p
	}()
	must.Eventually(t, "one waits", func() bool { return g.State().Waiting == 1 })
	if _, err := g.Enter(t.Context(), false); refused(t, err) != "full" {
		t.Errorf("a second one waits: %v", err)
	}
	if err := g.Refuse(false); refused(t, err) != "full" {
		t.Errorf("before the body: %v", err)
	}
	first.Leave()
	first.Leave() // does nothing
	(<-in).Leave()
	blocked := enter(t, g, false)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Enter(canceled, false); refused(t, err) != "gone" {
		t.Errorf("a client that closed its connection: %v", err)
	}
	blocked.Leave()
	second.Leave()
	if s := g.State(); s.Running != 0 || s.Waiting != 0 || s.Refused["late"] != 1 || s.Refused["full"] != 2 ||
		s.Refused["gone"] != 1 {
		t.Errorf("%+v", s)
	}
	if err := (*Gate)(nil).Refuse(false); err != nil {
		t.Errorf("no gate: %v", err)
	}
}

// TestGateBounds checks that at most as many requests run as there are slots, and each request is served or refused.
func TestGateBounds(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 3, Heavy: 2, Places: 4, WaitMax: time.Millisecond})
	var running, heavies, maximum, mostHeavy, served atomic.Int64
	raise := func(m *atomic.Int64, n int64) {
		for was := m.Load(); n > was && !m.CompareAndSwap(was, n); was = m.Load() {
		}
	}
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			heavy := i%2 == 1
			for range 50 {
				p, err := g.Enter(context.Background(), heavy)
				if err != nil {
					continue
				}
				raise(&maximum, running.Add(1))
				if heavy {
					raise(&mostHeavy, heavies.Add(1))
				}
				time.Sleep(20 * time.Microsecond)
				if heavy {
					heavies.Add(-1)
				}
				running.Add(-1)
				served.Add(1)
				p.Leave()
			}
		})
	}
	group.Wait()
	s := g.State()
	if maximum.Load() > 3 || mostHeavy.Load() > 2 || served.Load()+int64(s.Refused["full"]+s.Refused["late"]) != 64*50 ||
		served.Load() == 0 || s.Running != 0 {
		t.Errorf("%d at a time, of them %d heavy, %d served, %+v", maximum.Load(), mostHeavy.Load(), served.Load(), s)
	}
}

// TestHeavyKeepNoLightOneOut checks that a heavy request that waits for a heavy slot occupies no other slot.
func TestHeavyKeepNoLightOneOut(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 3, Heavy: 1, Places: 10, WaitMax: waitMax})
	heavy := enter(t, g, true)
	other := make(chan *Pass)
	for range 3 {
		go func() {
			p, _ := g.Enter(context.Background(), true)
			other <- p
		}()
	}
	must.Eventually(t, "the other heavy ones wait", func() bool { return g.State().Waiting == 3 })
	first, second := enter(t, g, false), enter(t, g, false)
	first.Leave()
	second.Leave()
	heavy.Leave()
	for range 3 {
		(<-other).Leave()
	}
}

// TestLend checks that other requests use a lent slot. A heavy request gets its heavy slot back afterwards.
func TestLend(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 2, Heavy: 1, Places: 10, WaitMax: time.Millisecond})
	p := enter(t, g, true)
	err := p.Lend(t.Context(), func() error {
		enter(t, g, true).Leave()
		return nil
	})
	if s := g.State(); err != nil || s.Running != 1 {
		t.Errorf("%v, %+v", err, s)
	}
	if _, err := g.Enter(t.Context(), true); err == nil || refused(t, err) != "late" {
		t.Errorf("a second heavy request while another one has lent its slot: %v", err)
	}
	if err := p.Lend(t.Context(), func() error { return context.Canceled }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	p.Leave()
	enter(t, g, true).Leave()
	if s := g.State(); s.Running != 0 || len(g.heavy) != 0 {
		t.Errorf("%+v, %d heavy", s, len(g.heavy))
	}
}
