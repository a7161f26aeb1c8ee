package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counts are what a gate shed, by reason.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) shed(_, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[why]++
}

func (c *counts) get(why string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[why]
}

func TestGate(t *testing.T) {
	var shed counts
	g := newGate("test", 2, 1, 50*time.Millisecond, shed.shed)
	ctx := context.Background()
	first, p := g.enter(ctx)
	if p != nil {
		t.Fatal(p)
	}
	second, p := g.enter(ctx)
	if p != nil {
		t.Fatal(p)
	}
	// One may wait; it waits no longer than waitMax.
	began := time.Now()
	if _, p := g.enter(ctx); p == nil || p.Status != http.StatusTooManyRequests || p.retryAfter == 0 || time.Since(began) < 50*time.Millisecond {
		t.Errorf("the third: %+v after %v", p, time.Since(began))
	}
	// While one waits, the next is shed at once; who waits comes in when there is room.
	g.waitMax = time.Minute
	in := make(chan func())
	go func() {
		leave, p := g.enter(ctx)
		if p != nil {
			t.Errorf("the one that waited: %+v", p)
		}
		in <- leave
	}()
	eventually(t, "one waits", func() bool { return g.waiting.Load() == 1 })
	if _, p := g.enter(ctx); p == nil {
		t.Error("the place was taken twice")
	}
	first()
	(<-in)()
	// A client that goes does not keep its place.
	blocked, p := g.enter(ctx)
	if p != nil {
		t.Fatal(p)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, p := g.enter(gone); p == nil {
		t.Error("a client that has gone came in")
	}
	blocked()
	second()
	if len(g.slots) != 0 || g.waiting.Load() != 0 || shed.get("late") != 1 || shed.get("full") != 1 || shed.get("gone") != 1 {
		t.Errorf("%d in, %d waiting, shed %v", len(g.slots), g.waiting.Load(), shed.of)
	}
}

// Never more than the slots run, whatever comes; each is shed or served.
func TestGateBounds(t *testing.T) {
	var shed counts
	g := newGate("test", 3, 4, time.Millisecond, shed.shed)
	var running, most, served atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for range 50 {
				leave, p := g.enter(context.Background())
				if p != nil {
					continue
				}
				n := running.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(20 * time.Microsecond)
				running.Add(-1)
				served.Add(1)
				leave()
			}
		})
	}
	group.Wait()
	if most.Load() > 3 || served.Load()+int64(shed.get("full")+shed.get("late")) != 64*50 || served.Load() == 0 {
		t.Errorf("%d at a time, %d served, shed %v", most.Load(), served.Load(), shed.of)
	}
}

// Over capacity the server sheds with Retry-After; queries, batches and
// inserts do not starve each other; and it recovers.
func TestOverloadShedsAndRecovers(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0}), "")
	for _, c := range []struct {
		gate              *gate
		what, body, other string
	}{
		{b.queries, "POST /v1/query", `{"fingerprint": "0000000000000000"}`, "POST /v1/batch"},
		{b.batches, "POST /v1/batch", "12345678", "POST /v1/query"},
		{b.inserts, "POST /v1/check-and-insert", `{"id": "a", "fingerprint": "0000000000000000"}`, "POST /v1/batch"},
	} {
		c.gate.waitMax = 20 * time.Millisecond
		var leave []func()
		for range cap(c.gate.slots) {
			l, p := c.gate.enter(context.Background())
			if p != nil {
				t.Fatal(p)
			}
			leave = append(leave, l)
		}
		for range 3 {
			status, header, body := b.roundTrip(t, b.request(t, c.what, "", c.body))
			if status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" {
				t.Errorf("%s, full: %d %s", c.what, status, body)
			}
		}
		other := map[string]string{"POST /v1/batch": "12345678", "POST /v1/query": `{"fingerprint": "0000000000000000"}`}[c.other]
		if status, body := b.send(t, c.other, "", other); status != http.StatusOK {
			t.Errorf("%s while %s is full: %d %s", c.other, c.what, status, body)
		}
		if status, _ := b.send(t, "GET /readyz", "", ""); status != http.StatusOK {
			t.Errorf("/readyz while %s is full: %d", c.what, status)
		}
		for _, l := range leave {
			l()
		}
		if status, body := b.send(t, c.what, "", c.body); status != http.StatusOK {
			t.Errorf("%s, with room again: %d %s", c.what, status, body)
		}
	}
	b.Config.Handler = b.adminHandler(true, false)
	_, body := b.send(t, "GET /metrics", "", "")
	for _, gate := range []string{"query", "batch", "insert"} {
		if want := fmt.Sprintf(`ndd_http_shed_total{gate=%q,why="late"} 3`, gate); !strings.Contains(body, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}
