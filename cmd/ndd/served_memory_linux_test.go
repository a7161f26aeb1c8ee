package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// servedMemoryMax is what a server may take beside what it holds, with bodies and answers of 1 MiB and 16 MiB for all of them: some
// times as much, as text, tokens and shingles of the few requests that run at a time, before the collector has run. Half of
// it was measured.
const servedMemoryMax = 160 << 20

// TestServeMemory sends requests that want much, many of each at a time, to a server that holds a fingerprint with many documents of long
// names: it takes no more memory than its limits say, whatever the data.
func TestServeMemory(t *testing.T) {
	s := startServer(t, filepath.Join(t.TempDir(), servedDir), "--memory-only", "--max-body", "1MiB", "--max-answer", "1MiB", "--request-memory", "16MiB")
	const documents, each = 20_000, 400
	for from := 0; from < documents; from += each {
		var list []string
		for i := from; i < from+each; i++ {
			list = append(list, fmt.Sprintf(`{"id": "%d %01000d", "fingerprint": "0000000000000000"}`, i, i))
		}
		if status, answer := s.drain(t, "/v1/insert", "", `{"documents": [`+strings.Join(list, ",")+`]}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	held, most, times := s.memory(t), uint64(servedMemoryMax), 8
	if testing.Short() {
		times = 2
	}
	if underRace() { // whose own memory is several times that
		most *= 10
	}
	words := func(n int) string {
		rng, text := rand.New(rand.NewPCG(1, uint64(n))), new(strings.Builder)
		for text.Len() < n {
			fmt.Fprintf(text, "w%x ", rng.Uint32N(1<<20))
		}
		return text.String()
	}
	prints := make([]byte, 0, 8*(1<<16))
	for range 1 << 16 {
		prints = binary.LittleEndian.AppendUint64(prints, rand.Uint64())
	}
	const size = 1<<20 - 200
	for _, c := range []struct{ name, path, media, body string }{
		{"a hot fingerprint", "/v1/query", "", `{"fingerprint": "0000000000000000", "limit": 65536}`},
		{"a hot fingerprint, checked", "/v1/check-and-insert", "", `{"id": "x", "fingerprint": "0000000000000000", "limit": 65536}`},
		{"a batch of a hot fingerprint", "/v1/batch", "", strings.Repeat("\x00", 8*512)},
		{"a batch of near ones", "/v1/batch", "", strings.Repeat("\x01\x00\x00\x00\x00\x00\x00\x00", 512)},
		{"a batch of the most", "/v1/batch", "", string(prints)},
		{"as JSON lines", "/v1/batch?unique=true", "", strings.Repeat("\x00", 8*64)},
		{"a list of wrong numbers", "/v1/insert", "", `{"documents": [` + strings.Repeat("1,", size/2-20) + `1]}`},
		{"a list of wrong names", "/v1/insert", "", `{"documents": [` + strings.Repeat(`{"x":1},`, size/8-20) + `{}]}`},
		{"many unknown fields", "/v1/query", "", `{"fingerprint": "0000000000000000"` + strings.Repeat(`,"a":1`, size/6-20) + `}`},
		{"deep", "/v1/query", "", strings.Repeat(`{"a":`, size/5)},
		{"deep lists", "/v1/query", "", strings.Repeat(`[`, size)},
		{"a long ID", "/v1/insert", "", `{"id": "` + strings.Repeat("x", size-100) + `", "fingerprint": "0000000000000000"}`},
		{"a deletion of many", "/v1/delete", "", `{"ids": [` + strings.Repeat(`"no",`, 4000) + `"no"]}`},
		{"a long text", "/v1/query", "text/plain", words(size)},
		{"a long word", "/v1/query", "text/plain", strings.Repeat("x", size)},
		{"spaces", "/v1/query", "text/plain", strings.Repeat(" ", size)},
		{"no text", "/v1/query", "text/plain", strings.Repeat("\xff", size)},
		{"Chinese", "/v1/query", "text/plain", strings.Repeat("\u6f22\u5b57\u4eee", size/9)},
		{"a page of tags", "/v1/query", "text/html", strings.Repeat("<p>", size/3)},
		{"a page without an end", "/v1/query", "text/html", "<a " + strings.Repeat("a=b ", size/4-10)},
		{"a deep page", "/v1/query", "text/html", strings.Repeat("<div><b>", size/8)},
		{"a page of entities", "/v1/query", "text/html", strings.Repeat("&amp;", size/5)},
		{"a comparison", "/v1/compare", "", fmt.Sprintf(`{"a": {"text": %q}, "b": {"text": %q}}`, words(size/2-100), words(size/2-101))},
		{"a comparison of what has nothing in common", "/v1/compare", "", fmt.Sprintf(`{"a": {"text": %q}, "b": {"html": %q}}`, words(size/2-100), strings.Repeat("<p>a ", size/10-40))},
	} {
		var group sync.WaitGroup
		for range times {
			group.Go(func() { s.drain(t, c.path, c.media, c.body) })
		}
		group.Wait()
		if now := s.memory(t); now > held+most {
			t.Fatalf("%s: the server has taken %d MiB, and %d MiB before", c.name, now>>20, held>>20)
		} else if testing.Verbose() {
			t.Logf("%s: %d MiB at most so far", c.name, now>>20)
		}
	}
	if status, answer := s.drain(t, "/v1/query", "", `{"fingerprint": "00000000ffffffff"}`); status != http.StatusOK {
		t.Errorf("after it: %d %s", status, answer)
	}
}

// drain sends a request and reads the first MiB of what comes.
func (s *durableServer) drain(t *testing.T, path, media, body string) (status int, answer []byte) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	a, err := s.client.Do(r)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer a.Body.Close()
	answer, _ = io.ReadAll(io.LimitReader(a.Body, 1<<20))
	return a.StatusCode, answer
}

// memory returns how many bytes the server had at most.
func (s *durableServer) memory(t *testing.T) (most uint64) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(data), "VmHWM:")
	if _, err := fmt.Sscan(after, &most); err != nil {
		t.Fatal(err)
	}
	return most << 10
}
