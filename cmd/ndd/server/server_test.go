package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.org/ndd/cmd/ndd/server/admit"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/permute"
)

const (
	pageA = "the quick brown fox jumps over the lazy dog while seven wizards brew strong coffee beneath a pale moon"
	pageB = "an entirely different article on how sourdough bread rises slowly inside a cold stone kitchen at dawn"
)

// A journal is a log that tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// newIndex is an index in memory; with a nil recipe, of raw fingerprints.
func newIndex(t testing.TB, k int, recipe *simhash.Recipe, fingerprints []uint64) *engine.Index {
	t.Helper()
	design, err := permute.ByName("halves", k, 1)
	must.Do(t, err)
	x, err := engine.New(design.K, engine.Options{Design: &design, Recipe: recipe})
	must.Do(t, err)
	docs := make([]engine.Doc, len(fingerprints))
	for i, f := range fingerprints {
		docs[i] = engine.Doc{Fingerprint: simhash.Fingerprint(f), ID: fmt.Sprintf("row-%d", i)}
	}
	_, err = x.Insert(t.Context(), docs...)
	must.Do(t, err)
	return x
}

// durable makes an index in a folder, and opens it on a disk.
func durable(t testing.TB, recipe *simhash.Recipe, d *disk.Disk) (x *engine.Index, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "index")
	must.Do(t, engine.Create(dir, 3, engine.Options{Recipe: recipe}))
	x, err := openAs(t.Context(), dir, live.OpenOptions{Write: true, Disk: d})
	must.Do(t, err)
	return x, dir
}

// bench is a service under test, with an HTTP server in front of it.
type bench struct {
	*service
	*httptest.Server
	target
	journal *journal
	tokens  string // path of the token file
}

// start serves an index, nil while loading. The tokens, unless empty, are the
// text of a token file.
func start(t testing.TB, x *engine.Index, tokens string) *bench {
	t.Helper()
	return startWith(t, x, tokens, bounds{Queue: waitMax}) // no request is refused because this machine is slow
}

// startWith serves an index with limits.
func startWith(t testing.TB, x *engine.Index, tokens string, limits bounds) *bench {
	t.Helper()
	return startOptions(t, x, &Options{hooks: hooks{limit: limits.set}, Access: Access{TokenFile: tokenFile(t, tokens)}})
}

// tokenFile writes a token file, and returns its path, unless the text is empty.
func tokenFile(t testing.TB, text string) (path string) {
	if text != "" {
		path = filepath.Join(t.TempDir(), "tokens")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return path
}

// set puts the bounds that are not zero in the place of others.
func (l bounds) set(to *bounds) {
	to.Connections, to.Body = cmp.Or(l.Connections, to.Connections), cmp.Or(l.Body, to.Body)
	to.RequestMemory, to.times = cmp.Or(l.RequestMemory, to.RequestMemory), cmp.Or(l.times, to.times)
	to.Answer = cmp.Or(l.Answer, to.Answer)
	to.Timeout, to.Queue = cmp.Or(l.Timeout, to.Timeout), cmp.Or(l.Queue, to.Queue)
}

// startOptions serves an index with options.
func startOptions(t testing.TB, x *engine.Index, o *Options) *bench {
	t.Helper()
	b := &bench{journal: new(journal), tokens: o.TokenFile}
	o.Version, o.Log = "test", slog.New(slog.NewTextHandler(b.journal, nil))
	var err error
	b.service, err = newService(o, requestMemoryMax)
	must.Do(t, err)
	if x != nil {
		b.serve(x)
	}
	b.Server = httptest.NewUnstartedServer(nil)
	b.Config = b.serverOf(b.handler(true))
	b.front.limit(b.Config)
	b.Server.Start()
	b.target = target{b.URL, b.Client()}
	t.Cleanup(func() {
		b.Server.Close()
		if x := b.index.Load(); x != nil {
			must.Do(t, x.Close())
		}
	})
	return b
}

// held describes the resources that requests hold, or returns "".
func (s *service) held() string {
	for _, g := range []*admit.Gate{s.queries, s.batches, s.inserts} {
		if state := g.State(); state.Running+state.Waiting > 0 {
			return fmt.Sprintf("%d slots of %s, %d wait", state.Running, g.Name, state.Waiting)
		}
	}
	if n := s.transfers.Held(); n > 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return ""
}

// defaultRecipe returns a pointer to the default recipe.
func defaultRecipe() *simhash.Recipe {
	r := simhash.Default()
	return &r
}

// A target is a server as a client sees it.
type target struct {
	url    string
	client *http.Client
}

// request returns a request of "METHOD /path", or "/path" for POST; headers are names and values in turn.
func (x *target) request(t testing.TB, what, contentType, body string, headers ...string) *http.Request {
	t.Helper()
	method, path, ok := strings.Cut(what, " ")
	if !ok {
		method, path = http.MethodPost, what
	}
	r, err := http.NewRequestWithContext(context.Background(), method, x.url+path, strings.NewReader(body))
	must.Do(t, err)
	for pair := range slices.Chunk(append(headers, "Content-Type", contentType), 2) {
		if pair[1] != "" {
			r.Header.Set(pair[0], pair[1])
		}
	}
	return r
}

// do makes a request and reads the answer.
func (x *target) do(t testing.TB, r *http.Request) (int, http.Header, string) {
	t.Helper()
	a, err := x.client.Do(r)
	must.Do(t, err)
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	must.Do(t, err)
	return a.StatusCode, a.Header, string(data)
}

// send makes a request as of [target.request] and returns the status and the body.
func (x *target) send(t testing.TB, what, contentType, body string, headers ...string) (int, string) {
	t.Helper()
	status, _, answer := x.do(t, x.request(t, what, contentType, body, headers...))
	return status, answer
}

// wants makes a request, and checks the status and some words of the answer.
func (x *target) wants(t testing.TB, status int, what, contentType, body string, words ...string) {
	t.Helper()
	got, answer := x.send(t, what, contentType, body)
	compareAnswer(t, got, answer, status, what+" "+body, words...)
}

// compareAnswer compares an answer with an expected status and texts.
func compareAnswer(t testing.TB, got int, answer string, status int, what string, words ...string) {
	t.Helper()
	for _, word := range append(words, "") {
		if got != status || !strings.Contains(answer, word) {
			t.Errorf("%.100q: %d %.500s\nwant %d with %q", what, got, answer, status, words)
			return
		}
	}
}

// ask sends JSON and decodes the answer, which must be 200.
func ask[T any](t testing.TB, b *bench, path, body string) (answer T) {
	t.Helper()
	return post[T](t, b, path, mediaJSON, body)
}

// post sends a body and decodes the answer, which must be 200.
func post[T any](t testing.TB, b *bench, path, media, body string, headers ...string) (answer T) {
	t.Helper()
	status, data := b.send(t, path, media, body, headers...)
	d := json.NewDecoder(strings.NewReader(data))
	d.DisallowUnknownFields()
	if status != http.StatusOK || d.Decode(&answer) != nil {
		t.Fatalf("%s, %s, %.200q: %d %s", path, media, body, status, data)
	}
	return answer
}

// openAs opens an index with options of the implementation.
func openAs(ctx context.Context, dir string, o live.OpenOptions) (*engine.Index, error) {
	x, err := live.Open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	return engine.Wrap(x), nil
}
