package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.org/ndd/engine"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

var (
	kills    = flag.Int("kills", 0, "how often TestKilledServer kills the server; 0: 5 times, 40 with -long")
	killSeed = flag.Uint64("kill-seed", 0, "the seed of TestKilledServer; 0: by the clock")
)

// TestKilledServer kills a server at random moments: while it serves eight writing clients, stops or recovers. After
// a restart, every acknowledged insert and deletion is present. A request of several documents is present completely
// or not at all. Every later start finds the same documents.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	times := cmp.Or(*kills, long.Or(5, 40)) // one kill of each kind
	seed := cmp.Or(*killSeed, uint64(time.Now().UnixNano()))
	t.Logf("-kill-seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), servedDir)
	x := &indexContents{docs: map[string]*expectedDoc{}}
	for round := range times {
		s := startServer(t, "", dir)
		x.check(t, s)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
		s.write(t, x, 8, rng, 10*(round%4)+rng.IntN(10), func() {
			if round%4 == 3 { // while it writes its memory to a segment
				s.cmd.Process.Signal(syscall.SIGTERM)
				time.Sleep(time.Duration(rng.IntN(700)) * time.Millisecond)
			}
			s.cmd.Process.Kill()
			s.cmd.Wait()
		})
		switch round % 5 {
		case 1: // while it recovers
			killedAfter(t, rng.IntN(60), "serve", "-i", dir, "--listen", "127.0.0.1:0", "--admin", "off")
		case 2: // while it is merged
			killedAfter(t, rng.IntN(120), "merge", dir)
		case 4:
			ran(t, exitDone, "merge", dir)
		}
	}
	s := startServer(t, "", dir)
	x.check(t, s)
	s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("stopped: %v", err)
	}
	ran(t, exitDone, "check", dir)
	t.Logf("%d kills, %d answers, %d documents", times, x.answers.Load(), len(x.docs))
	if n := x.answers.Load(); n < int64(5*times) {
		t.Errorf("only %d answers", n)
	}
}

// killedAfter starts a process and kills it after some milliseconds.
func killedAfter(t *testing.T, ms int, args ...string) {
	t.Helper()
	p := exec.Command("ndd", args...)
	must.Do(t, p.Start())
	time.Sleep(time.Duration(ms) * time.Millisecond)
	p.Process.Kill()
	p.Wait()
}

// An indexContents is the expected content of the server: acknowledged changes, and changes that were in progress
// during the kill.
type indexContents struct {
	mu      sync.Mutex
	docs    map[string]*expectedDoc // expected documents by ID
	open    [][]*expectedDoc        // requests without an answer; each was done completely or not at all
	next    int
	answers atomic.Int64
}

type expectedDoc struct {
	id          string
	fingerprint uint64
	present     bool
}

// fresh returns documents that are not there yet.
func (x *indexContents) fresh(n int) (docs []*expectedDoc) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for range n {
		x.next++
		docs = append(docs, &expectedDoc{id: fmt.Sprint("doc-", x.next), fingerprint: uint64(x.next) * 0x9e3779b97f4a7c15})
	}
	return docs
}

// record notes a request that inserts or deletes docs, and its result.
func (x *indexContents) record(docs []*expectedDoc, insert, answered bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, d := range docs {
		x.docs[d.id] = d
	}
	if !answered {
		x.open = append(x.open, docs)
		return
	}
	x.answers.Add(1)
	for _, d := range docs {
		d.present = insert
	}
}

// check asks a server that was just started for all documents.
func (x *indexContents) check(t *testing.T, s *serveProcess) {
	t.Helper()
	var body []byte
	var list []*expectedDoc
	for _, d := range x.docs {
		list = append(list, d)
		body = binary.LittleEndian.AppendUint64(body, d.fingerprint)
	}
	found := map[string]bool{}
	if len(list) > 0 {
		r, err := s.client.Post(s.url+"/v1/batch?k=0", "application/octet-stream", bytes.NewReader(body))
		must.Do(t, err)
		defer r.Body.Close()
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			if fields := strings.Split(lines.Text(), "\t"); len(fields) == 4 {
				row, err := strconv.Atoi(fields[0])
				if err != nil || list[row].id != fields[3] || found[fields[3]] {
					t.Errorf("answer %q for document %s, %v", lines.Text(), list[row].id, err)
				}
				found[fields[3]] = true
			}
		}
	}
	for _, docs := range x.open { // what was found is the outcome of the interrupted requests
		for _, d := range docs {
			if found[d.id] != found[docs[0].id] {
				t.Errorf("of the request for %s and %d others a part was done", docs[0].id, len(docs)-1)
			}
			d.present = found[d.id]
		}
	}
	x.open = nil
	for _, d := range list {
		if d.present != found[d.id] {
			t.Errorf("%s: there %v, and the answer said %v", d.id, found[d.id], d.present)
		}
	}
}

// A serveProcess is a process of ndd serve.
type serveProcess struct {
	cmd    *exec.Cmd
	ready  string // the line on standard output
	url    string // URL of the running process
	client *http.Client
	stderr string // file with its messages: a pipe would have them some time later
}

// startServed starts a server and waits until it is ready. Its messages go to a file in dir.
func startServed(cmd *exec.Cmd, dir string) (*serveProcess, error) {
	f, err := os.CreateTemp(dir, "stderr")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &serveProcess{cmd: cmd, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}, stderr: f.Name()}
	cmd.Stderr = f
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	s.ready, err = bufio.NewReader(out).ReadString('\n')
	if s.url = regexp.MustCompile(`http://[^ ]+`).FindString(s.ready); err != nil || s.url == "" {
		cmd.Wait()
		return nil, fmt.Errorf("%s is not ready: %q, %v\n%s", cmd, s.ready, err, s.messages())
	}
	return s, nil
}

// end kills the server.
func (s *serveProcess) end() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.client.CloseIdleConnections()
}

// messages returns the standard error of the server so far.
func (s *serveProcess) messages() string {
	text, err := os.ReadFile(s.stderr)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// startServer starts a server in a control group, unless its folder is "".
func startServer(t *testing.T, group, dir string, flags ...string) *serveProcess {
	t.Helper()
	args := append(append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "off"}, flags...), "-i", dir)
	if _, err := os.Stat(dir); err != nil { // the first time it makes the folder
		args = args[:len(args)-2]
	}
	cmd := exec.Command("ndd", args...)
	if group != "" {
		cmd = exec.Command("sh", append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec ndd "$@"`, group}, args...)...)
	}
	cmd.Dir = filepath.Dir(dir)
	s, err := startServed(cmd, t.TempDir())
	must.Do(t, err)
	t.Cleanup(s.end)
	return s
}

// write lets clients write until a number of requests were answered, and then calls end. It waits for the clients,
// which stop at the first request without an answer.
func (s *serveProcess) write(t *testing.T, x *indexContents, clients int, rng *rand.Rand, answers int, end func()) {
	enough := x.answers.Load() + int64(answers)
	var all sync.WaitGroup
	for range clients {
		seed := rng.Uint64()
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 2))
			var own []*expectedDoc // documents that only this client deletes
			for {
				docs, path, insert := x.fresh(1), "/v1/insert", true
				switch p := rng.IntN(10); {
				case p == 0:
					docs = x.fresh(1 + rng.IntN(20))
				case p < 3:
					path = "/v1/check-and-insert"
				case p == 3 && len(own) > 0:
					docs, own = own[len(own)-1:], own[:len(own)-1]
					path, insert = "/v1/delete", false
				}
				answered := s.send(t, path, docs)
				x.record(docs, insert, answered)
				if !answered {
					return
				}
				if insert {
					own = append(own, docs...)
				}
			}
		})
	}
	must.Eventually(t, "answers", func() bool { return x.answers.Load() >= enough || t.Failed() })
	time.Sleep(time.Duration(rng.IntN(5)) * time.Millisecond)
	end()
	all.Wait()
}

// send sends a request about documents, and says whether it was answered.
func (s *serveProcess) send(t *testing.T, path string, docs []*expectedDoc) bool {
	request := map[string]any{}
	if path == "/v1/delete" {
		request["id"] = docs[0].id
	} else {
		var list []map[string]string
		for _, d := range docs {
			list = append(list, map[string]string{"id": d.id, "fingerprint": fmt.Sprintf("%016x", d.fingerprint)})
		}
		request["documents"] = list
	}
	if path == "/v1/check-and-insert" {
		request["k"] = 0
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Error(err)
		return false
	}
	status, answer := s.post(path, "application/json", string(body))
	if status != http.StatusOK && status != http.StatusServiceUnavailable && status != 0 { // it is being stopped, or was
		t.Errorf("%s: %d %s", path, status, answer)
	}
	return status == http.StatusOK
}

// post sends a request and returns the first MiB of the answer. The status is 0 if the answer is missing or
// incomplete.
func (s *serveProcess) post(path, media, body string) (status int, answer []byte) {
	a, err := s.client.Post(s.url+path, media, strings.NewReader(body))
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer a.Body.Close()
	if answer, err = io.ReadAll(io.LimitReader(a.Body, 1<<20)); err != nil {
		return 0, []byte(err.Error())
	}
	return a.StatusCode, answer
}

// servedDir is the default folder of serve.
const servedDir = "ndd-data"

// TestClockConfirmed opens an index that was last open when the clock was ten years ahead. The server warns, except
// with --accept-clock.
func TestClockConfirmed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), servedDir)
	must.Do(t, engine.Create(dir, 3, engine.Options{}))
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{Write: true})
	must.Do(t, err)
	_, err = live.Unwrap(x).Insert(t.Context(), []rows.Doc{{Fingerprint: 1, TTL: 24 * time.Hour}})
	must.Do(t, err)
	must.Do(t, x.Close())
	m, err := live.ReadManifest(dir)
	must.Do(t, err)
	if m.Live.Time == 0 {
		t.Fatal("the manifest has no time")
	}
	m.Live.Time += 10 * 365 * 24 * 3600
	data, err := json.Marshal(m)
	must.Do(t, err)
	data = hostile.Bytes(store.KindManifest, store.Identity{Generation: m.Generation + 1},
		[]store.Section{{Name: "manifest", Data: data}})
	writeFile(t, filepath.Join(dir, "manifest"), data)
	for i, flags := range [][]string{nil, {"--accept-clock"}, nil} {
		s := startServer(t, "", dir, flags...)
		must.Do(t, s.cmd.Process.Signal(syscall.SIGTERM))
		s.cmd.Wait()
		const warning = "the system's clock is 3650.0 days behind the last use of the index"
		if messages := s.messages(); strings.Contains(messages, warning) != (i == 0) {
			t.Errorf("start %d with %s:\n%s", i, flags, messages)
		}
	}
}
