package admit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// waitMax is how long something that is about to happen may take, on whatever machine.
const waitMax = 2 * time.Minute

// eventually waits for something that is about to be true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(waitMax); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func enter(t *testing.T, g *Gate, work time.Duration) *Pass {
	t.Helper()
	p, err := g.Enter(t.Context(), work)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// refused returns the word of a refusal.
func refused(t *testing.T, err error) string {
	t.Helper()
	var no *Refused
	if !errors.As(err, &no) {
		t.Fatalf("%v is no refusal", err)
	}
	return no.Why
}

// Two run, one may wait, the rest is refused at once, and who waits comes in when there is room.
func TestGate(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 2, Places: 1, WaitMax: 50 * time.Millisecond}, nil)
	first, second := enter(t, g, 0), enter(t, g, 0)
	began := time.Now()
	if _, err := g.Enter(t.Context(), 0); refused(t, err) != "late" || time.Since(began) < 50*time.Millisecond {
		t.Errorf("the third: %v after %v", err, time.Since(began))
	}
	g.o.WaitMax = waitMax
	in := make(chan *Pass)
	go func() {
		p, err := g.Enter(context.Background(), 0)
		if err != nil {
			t.Errorf("the one that waited: %v", err)
		}
		in <- p
	}()
	eventually(t, "one waits", func() bool { return g.State().Waiting == 1 })
	if _, err := g.Enter(t.Context(), 0); refused(t, err) != "full" {
		t.Errorf("the place was taken twice: %v", err)
	}
	first.Leave()
	first.Leave() // again: nothing
	(<-in).Leave()
	blocked := enter(t, g, 0)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Enter(gone, 0); refused(t, err) != "gone" {
		t.Error("a client that has gone came in")
	}
	blocked.Leave()
	second.Leave()
	if s := g.State(); s.Running != 0 || s.Waiting != 0 || s.Refused["late"] != 1 || s.Refused["full"] != 1 || s.Refused["gone"] != 1 {
		t.Errorf("%+v", s)
	}
}

// Never more than the slots run, whatever comes; each is refused or served.
func TestGateBounds(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 3, Heavy: 2, Places: 4, WaitMax: time.Millisecond}, nil)
	var running, heavies, most, mostHeavy, served atomic.Int64
	raise := func(m *atomic.Int64, n int64) {
		for was := m.Load(); n > was && !m.CompareAndSwap(was, n); was = m.Load() {
		}
	}
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			work := time.Duration(i%2) * 2 * HeavyWork
			for range 50 {
				p, err := g.Enter(context.Background(), work)
				if err != nil {
					continue
				}
				raise(&most, running.Add(1))
				if work > 0 {
					raise(&mostHeavy, heavies.Add(1))
				}
				time.Sleep(20 * time.Microsecond)
				if work > 0 {
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
	if most.Load() > 3 || mostHeavy.Load() > 2 || served.Load()+int64(s.Refused["full"]+s.Refused["late"]) != 64*50 || served.Load() == 0 || s.Running != 0 {
		t.Errorf("%d at a time, of them %d heavy, %d served, %+v", most.Load(), mostHeavy.Load(), served.Load(), s)
	}
}

// Heavy requests that wait for their slots keep no light one out.
func TestHeavyKeepNoLightOneOut(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 3, Heavy: 1, Places: 10, WaitMax: waitMax}, nil)
	heavy := enter(t, g, 2*HeavyWork)
	other := make(chan *Pass)
	go func() {
		p, _ := g.Enter(context.Background(), 2*HeavyWork)
		other <- p
	}()
	eventually(t, "the second heavy one waits", func() bool { return g.State().Waiting == 1 })
	enter(t, g, 0).Leave()
	heavy.Leave()
	(<-other).Leave()
}

// The queue is bounded by the work in it: a few requests that take long fill it, which many short ones do not. A refusal says when to come again.
func TestQueueIsBoundedByWork(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 2, Places: 1000, WaitMax: waitMax, QueueMax: 2 * time.Second}, nil)
	in := []*Pass{enter(t, g, 0), enter(t, g, 0)}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	wait := func(work time.Duration) { group.Go(func() { g.Enter(ctx, work) }) }
	for range 100 {
		wait(time.Millisecond)
	}
	eventually(t, "100 wait", func() bool { return g.State().Waiting == 100 })
	for n := range 3 {
		wait(2 * time.Second) // takes two slots a second
		eventually(t, "it waits", func() bool { return g.State().Waiting == 101+n || g.State().Refused["full"] > 0 })
	}
	_, err := g.Enter(ctx, 0)
	var no *Refused
	if !errors.As(err, &no) || no.Why != "full" || no.Retry < 2*time.Second || no.Retry > 4*time.Second {
		t.Errorf("%+v", err)
	}
	cancel()
	group.Wait()
	for _, p := range in {
		p.Leave()
	}
	if s := g.State(); s.Running != 0 || s.Waiting != 0 || s.Wait != 0 {
		t.Errorf("%+v", s)
	}
}

// A slot that is lent serves others, and comes back before those that wait.
func TestLend(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 1, Places: 10, WaitMax: waitMax}, nil)
	p := enter(t, g, 0)
	err := p.Lend(t.Context(), func() error {
		enter(t, g, 0).Leave()
		return nil
	})
	if s := g.State(); err != nil || s.Running != 1 {
		t.Errorf("%v, %+v", err, s)
	}
	if err := p.Lend(t.Context(), func() error { return context.Canceled }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	p.Leave()
	if s := g.State(); s.Running != 0 {
		t.Errorf("%+v", s)
	}
}

// TestRefuse: what would be refused is told before, and takes no place; what would run or wait is not refused.
func TestRefuse(t *testing.T) {
	g := NewGate(Options{Name: "test", Slots: 1, Places: 1, WaitMax: waitMax}, nil)
	if err := g.Refuse(0); err != nil {
		t.Errorf("an empty gate: %v", err)
	}
	p := enter(t, g, 0)
	if err := g.Refuse(0); err != nil {
		t.Errorf("a place is free: %v", err)
	}
	var group sync.WaitGroup
	group.Go(func() { enter(t, g, 0).Leave() })
	eventually(t, "one waits", func() bool { return g.State().Waiting == 1 })
	if err := g.Refuse(0); refused(t, err) != "full" {
		t.Errorf("a full gate: %v", err)
	}
	if s := g.State(); s.Running != 1 || s.Waiting != 1 || s.Refused["full"] != 1 {
		t.Errorf("%+v", s)
	}
	p.Leave()
	group.Wait()
	if err := (*Gate)(nil).Refuse(0); err != nil {
		t.Errorf("no gate: %v", err)
	}
}
