package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/oracle/long"
)

// TestServeMemory sends large requests of all kinds from 24 clients to servers in control groups of 512 and 256 MiB.
// The index has a fingerprint with many documents that have long IDs. No server is killed, and afterwards each
// request alone is answered. Without control groups, the test compares the peak memory of the process with --memory.
func TestServeMemory(t *testing.T) {
	skipUnderRace(t)
	limits, sending := []uint64{256 << 20}, time.Second/2
	if long.Form() {
		limits, sending = []uint64{512 << 20, 256 << 20}, 2*time.Second
	}
	for _, limit := range limits {
		t.Run(humanize.IBytes(limit), func(t *testing.T) { serveMemory(t, limit, sending) })
	}
}

func serveMemory(t *testing.T, limit uint64, sending time.Duration) {
	flags := []string{"--memory-only"}
	group := memoryGroup(t, limit)
	if group == "" {
		flags = append(flags, "--memory", fmt.Sprint(limit))
	}
	s := startServer(t, group, filepath.Join(t.TempDir(), servedDir), flags...)
	const documents, each = 20_000, 400
	for from := 0; from < documents; from += each {
		var list []string
		for i := from; i < from+each; i++ {
			list = append(list, fmt.Sprintf(`{"id": "%d %01000d", "fingerprint": "0000000000000000"}`, i, i))
		}
		if status, answer := s.post("/v1/insert", "", `{"documents": `+
			`[`+strings.Join(list, ",")+`]}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	kinds := largeRequests(7 << 20)
	var answered, shed atomic.Int64
	var clients sync.WaitGroup
	for client := range 24 {
		clients.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(client)))
			for end := time.Now().Add(sending); time.Now().Before(end) && !t.Failed(); {
				c := kinds[rng.IntN(len(kinds))]
				switch status, answer := s.post(c.path, c.media, c.body); status {
				// the last two were cut off
				case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusServiceUnavailable, 0:
					shed.Add(1)
				case http.StatusOK, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
					answered.Add(1)
				default:
					t.Errorf("%s: %d %s", c.name, status, answer)
				}
			}
		})
	}
	clients.Wait()
	for _, c := range kinds {
		status, answer := s.post(c.path, c.media, c.body)
		for end := time.Now().Add(waitMax); status == http.StatusTooManyRequests &&
			time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			// the request before may still hold memory, because its answer was not read to the end
			status, answer = s.post(c.path, c.media, c.body)
		}
		if status == 0 || status == http.StatusTooManyRequests || status >= 500 {
			t.Errorf("%s, alone: %d %s", c.name, status, answer)
		}
	}
	if status, answer := s.post("/v1/query", "", `{"fingerprint": "00000000ffffffff"}`); status != http.StatusOK {
		t.Errorf("after it: %d %s", status, answer)
	}
	peak := memoryNow(s.cmd, "VmHWM:")
	t.Logf("group %q: %d answered, %d shed, %d MiB at most", group, answered.Load(), shed.Load(), peak>>20)
	if peak == 0 || group == "" && peak > limit {
		t.Errorf("the server took %d bytes of %d", peak, limit)
	}
}

// memoryGroup creates a control group with a limit, and returns its folder. It returns "" if that is not possible.
func memoryGroup(t *testing.T, limit uint64) string {
	t.Helper()
	for _, v := range []struct{ mount, file string }{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max"}} {
		dir, err := os.MkdirTemp(v.mount, "ndd-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			for end := time.Now().Add(waitMax); os.Remove(dir) != nil &&
				time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			}
		})
		file := filepath.Join(dir, v.file)
		// otherwise no control groups are mounted in this folder
		if _, err := os.Stat(file); err == nil && os.WriteFile(file, fmt.Append(nil, limit), 0o644) == nil {
			return dir
		}
	}
	return ""
}

// A largeRequest is a request that needs much memory.
type largeRequest struct{ name, path, media, body string }

func largeRequests(size int) []largeRequest {
	words := func(n int) string {
		rng, text := rand.New(rand.NewPCG(1, uint64(n))), new(strings.Builder)
		for text.Len() < n {
			fmt.Fprintf(text, "w%x ", rng.Uint32N(1<<20))
		}
		return text.String()
	}
	fingerprints := make([]byte, 0, 8*(1<<16))
	for range 1 << 16 {
		fingerprints = binary.LittleEndian.AppendUint64(fingerprints, rand.Uint64())
	}
	return []largeRequest{
		{"a hot fingerprint", "/v1/query", "", `{"fingerprint": "0000000000000000", "limit": 65536}`},
		{"a hot fingerprint, checked", "/v1/check-and-insert", "",
			`{"id": "x", "fingerprint": "0000000000000000", "limit": 65536}`},
		{"a batch of a hot fingerprint", "/v1/batch", "", strings.Repeat("\x00", 8*512)},
		{"a batch of near ones", "/v1/batch", "", strings.Repeat("\x01\x00\x00\x00\x00\x00\x00\x00", 512)},
		{"a batch of the most", "/v1/batch", "", string(fingerprints)},
		{"as JSON lines", "/v1/batch?unique=true", "", strings.Repeat("\x00", 8*64)},
		{"a list of wrong numbers", "/v1/insert", "", `{"documents": [` + strings.Repeat("1,", size/2-20) + `1]}`},
		{"a list of wrong names", "/v1/insert", "", `{"documents": [` + strings.Repeat(`{"x":1},`, size/8-20) + `{}]}`},
		{"many unknown fields", "/v1/query", "", `{"fingerprint": "0000000000000000"` +
			strings.Repeat(`,"a":1`, size/6-20) + `}`},
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
		{"escaped text", "/v1/query", "", `{"text": "` + strings.Repeat(`\u00e9 a`, size/8-10) + `"}`},
		{"HTML in JSON", "/v1/query", "", `{"html": "` + strings.Repeat("<p>a b", size/6-10) + `"}`},
	}
}
