package server

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/cmd/ndd/server/admit"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/must"
)

// gated replaces the gates by gates with the given numbers of slots and places.
func (b *bench) gated(slots, places int, wait time.Duration) {
	gate := func(name string) *admit.Gate {
		return admit.NewGate(admit.Options{Name: name, Slots: slots, Places: places, WaitMax: wait})
	}
	b.queries, b.batches, b.inserts = gate("query"), gate("batch"), gate("insert")
	b.Config.Handler = b.handler(true)
}

// filled takes all slots of a gate, until leave is called.
func filled(t *testing.T, g *admit.Gate) (leave func()) {
	t.Helper()
	var in []*admit.Pass
	for range g.Slots {
		p, err := g.Enter(t.Context(), false)
		must.Do(t, err)
		in = append(in, p)
	}
	return func() {
		for _, p := range in {
			p.Leave()
		}
	}
}

// TestOverloadShedsAndRecovers checks that an overloaded server refuses requests with Retry-After. Queries, batches and
// inserts do not starve each other, and the server recovers.
func TestOverloadShedsAndRecovers(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{0}), "")
	b.gated(2, 10, 20*time.Millisecond)
	for _, c := range []struct {
		gate              *admit.Gate
		what, body, other string
	}{
		{b.queries, "/v1/query", `{"fingerprint": "0000000000000000"}`, "/v1/batch"},
		{b.batches, "/v1/batch", "12345678", "/v1/query"},
		{b.inserts, "/v1/check-and-insert", `{"id": "a", "fingerprint": "0000000000000000"}`, "/v1/batch"},
	} {
		leave := filled(t, c.gate)
		for range 3 {
			status, header, body := b.do(t, b.request(t, c.what, "", c.body))
			if status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" {
				t.Errorf("%s, full: %d %s", c.what, status, body)
			}
		}
		other := map[string]string{"/v1/batch": "12345678", "/v1/query": `{"fingerprint": "0000000000000000"}`}[c.other]
		b.wants(t, http.StatusOK, c.other, "", other)
		b.wants(t, http.StatusOK, "GET /readyz", "", "")
		leave()
		b.wants(t, http.StatusOK, c.what, "", c.body)
	}
	figures := scrape(b.service)
	for _, gate := range []string{"query", "batch", "insert"} {
		if want := fmt.Sprintf(`ndd_http_shed_total{gate=%q,why="late"} 3`, gate); !strings.Contains(figures, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}

// TestTenfold checks that ten times as many requests arrive as can run and wait. The others are refused at once, with
// the time of a new attempt. Running and waiting requests and memory stay within their limits. All admitted requests
// are answered.
func TestTenfold(t *testing.T) {
	const slots, places = 4, 16
	b := start(t, newIndex(t, 3, nil, []uint64{0}), "")
	b.gated(slots, places, waitMax)
	leave := filled(t, b.batches) // no request ends for now
	before := runtime.NumGoroutine()
	var answered, shed atomic.Int64
	var group sync.WaitGroup
	for range 10 * (slots + places) {
		group.Go(func() {
			status, header, body := b.do(t, b.request(t, "/v1/batch", "", "12345678"))
			retry, _ := strconv.Atoi(header.Get("Retry-After"))
			switch {
			case status == http.StatusOK:
				answered.Add(1)
			case status == http.StatusTooManyRequests && retry > 0:
				shed.Add(1)
			default:
				t.Errorf("%d %s", status, body)
			}
		})
	}
	must.Eventually(t, "all others are shed", func() bool { return shed.Load() == 10*(slots+places)-places || t.Failed() })
	if state := b.batches.State(); state.Running != slots || state.Waiting != places {
		t.Errorf("%+v", state)
	}
	status, body := b.send(t, "/v1/batch", "", "no gzip, but nobody looks", "Content-Encoding", "gzip")
	compareAnswer(t, status, body, http.StatusTooManyRequests, "a compressed body")
	// Of each request: its test, its client's connection with two, its server's with two.
	if n := runtime.NumGoroutine(); n > before+6*10*(slots+places) {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	leave()
	group.Wait()
	if answered.Load() != places {
		t.Errorf("%d answered of the %d that waited", answered.Load(), places)
	}
	must.Eventually(t, "all is given back", func() bool { return b.held() == "" })
	good(t, b, "what is over")
}

// An owner is a request of a client that must not be cut off.
type owner struct {
	t      *testing.T
	client string
}

func (o owner) Client() string { return o.client }
func (o owner) CutOff()        { o.t.Error("cut off") }

// TestRefusedStream checks that if there is no memory for the answer of a batch, the batch ends with 429. It does not
// continue without a reader.
func TestRefusedStream(t *testing.T) {
	b := startWith(t, newIndex(t, 3, nil, make([]uint64, 3000)), "", bounds{Queue: waitMax, RequestMemory: 16 << 20})
	other := b.transfers.Begin(owner{t, "another client"})
	defer other.End()
	if err := other.Grow(16<<20 - 60<<10); err != nil { // the rest is enough for the body, but not for an answer
		t.Fatal(err)
	}
	b.wants(t, http.StatusTooManyRequests, "/v1/batch", "", strings.Repeat("\x00", 8*1000), "too many large requests")
	a := answer{streams: true, hasBegun: true, isRefused: true}
	if _, err := a.Write([]byte("a row")); !errors.Is(err, errRefused) {
		t.Errorf("a row of a refused answer: %v", err)
	}
	must.Eventually(t, "its slot is free", func() bool { return b.batches.State().Running == 0 })
}

var (
	slowClients = flag.Int("slow.clients", 24, "clients of each slow kind in TestSlowClients")
	slowRounds  = flag.Int("slow.rounds", 1, "times that TestSlowClients measures good requests: the median counts")
	slowRatio   = flag.Float64("slow.ratio", 0, "how many times as long good requests may take beside them, of a hundred "+
		"the slowest; 0: it is only measured")
)

// TestSlowClients checks that regular clients are answered while others idle, send half a header or half a body, or do
// not read a large answer. The time depends on the machine, so only the long form limits it.
func TestSlowClients(t *testing.T) {
	b := startWith(t, named(t, 4000), "", bounds{Queue: waitMax, Connections: max(1024, 8**slowClients), times: patient})
	alone := goodClients(t, b)
	for range *slowClients {
		dialRaw(t, b, "")
		dialRaw(t, b, "POST /v1/query HTTP/1.1\r\nHost: loc")
		dialRaw(t, b, "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
		dialRaw(t, b, "POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 800\r\n\r\n"+strings.Repeat("\x00", 800))
	}
	must.Eventually(t, "they are there", func() bool { return b.front.state().Accepted >= uint64(4**slowClients) })
	must.Eventually(t, "their answers stand still", func() bool {
		state := b.batches.State()
		return state.Running+state.Waiting == 0
	})
	loaded := goodClients(t, b)
	t.Logf("of 100 good requests the slowest took %v alone, and %v with %d slow clients", alone, loaded, 4**slowClients)
	if *slowRatio > 0 && loaded.Seconds() > *slowRatio*alone.Seconds() {
		t.Errorf("%v with slow clients, %v alone", loaded, alone)
	}
}

// goodClients has 8 clients make 200 queries each, and returns the 99th of a hundred times: the median of rounds, so
// that no single pause of the machine counts.
func goodClients(t *testing.T, b *bench) time.Duration {
	t.Helper()
	rounds := make([]time.Duration, *slowRounds)
	for round := range rounds {
		var all [8 * 200]time.Duration
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				for n := range 200 {
					began := time.Now()
					b.wants(t, http.StatusOK, "/v1/query", "", fmt.Sprintf(`{"fingerprint": "ffffffff%04x%04x"}`, i, n))
					all[200*i+n] = time.Since(began)
				}
			})
		}
		group.Wait()
		slices.Sort(all[:])
		rounds[round] = all[len(all)*99/100]
	}
	slices.Sort(rounds)
	return rounds[len(rounds)/2]
}

// TestLargeBodiesOfOneClient sends bodies that need more than a client's share of the memory. Many such requests of one
// client are answered one after the other, and its other requests at the same time.
func TestLargeBodiesOfOneClient(t *testing.T) {
	t.Parallel()
	limits := bounds{Queue: waitMax, RequestMemory: 64 << 20, times: patient}
	b := startWith(t, newIndex(t, 3, defaultRecipe(), nil), "", limits)
	other := b.transfers.Begin(owner{t, "127.0.0.1/32"})
	must.Do(t, other.Grow(1<<20))
	body := strings.Repeat(pageA+" ", 7_000_000/len(pageA))
	b.wants(t, http.StatusOK, "/v1/query", mediaText, body)
	var answered, shed atomic.Int64
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			for end := time.Now().Add(waitMax); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				a, err := b.Client().Do(b.request(t, "/v1/query", mediaText, body))
				if err != nil { // it was refused while it sent
					shed.Add(1)
					continue
				}
				a.Body.Close()
				if a.StatusCode == http.StatusOK {
					answered.Add(1)
					return
				}
				if a.Header.Get("Retry-After") == "" { // an answer 429, or 408 to a slow upload
					t.Errorf("%s %v", a.Status, a.Header)
					return
				}
				shed.Add(1)
			}
		})
	}
	group.Wait()
	t.Logf("%d answered, %d refused", answered.Load(), shed.Load())
	if answered.Load() != 12 {
		t.Errorf("%d of 12 were answered", answered.Load())
	}
	other.End()
	must.Eventually(t, "all is given back", func() bool { return b.held() == "" })
}

// TestWorkBytes checks that the reserved memory of a body covers the memory for processing it.
func TestWorkBytes(t *testing.T) {
	counting, err := simhash.RecipeByName(simhash.NameSimhash)
	must.Do(t, err)
	for _, c := range []struct {
		recipe *simhash.Recipe
		media  string
		body   string
		want   int64
	}{
		{nil, mediaText, "a", 6}, {nil, mediaJSON, `{"text":"a"}`, 6}, {nil, mediaJSON, `{"html":"a"}`, 9},
		{nil, mediaHTML, "<p>é", 9}, {nil, mediaHTML, "<p>\xe2\x80", 20},
		{&counting, mediaText, "a", 40}, {&counting, mediaHTML, "<p>", 43},
	} {
		if got := workBytes(&payload{media: c.media, body: []byte(c.body)}, c.recipe); got != c.want {
			t.Errorf("%s, %q: %d bytes for each, want %d", c.media, c.body, got, c.want)
		}
	}
}
