package server

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// TestIndexLosesItsEnd truncates a served index: every
// query and batch is answered with 503, the process lives, and the rest of the
// server too.
func TestIndexLosesItsEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // which refuses to truncate a file that is in use
	}
	prints := sets.Uniform(200_000, 5)
	dir := buildIndex(t, prints, false)
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{})
	must.Do(t, err)
	b := start(t, x, "")
	query := func(f uint64, status int, word string) {
		b.wants(t, status, "/v1/query", mediaJSON, fmt.Sprintf(`{"fingerprint": "%016x"}`, f), word)
	}
	query(prints[0], http.StatusOK, `"distance":0`)
	must.Do(t, os.Truncate(filepath.Join(dir, "00000001.segment"), 8192))
	for i := range 1000 {
		query(prints[i], http.StatusServiceUnavailable, "cannot be read any more")
		b.wants(t, http.StatusServiceUnavailable, "/v1/batch", mediaBytes, string(store.Bytes64(prints[i:i+20])))
	}
	for range 10 {
		b.wants(t, http.StatusServiceUnavailable, "GET /readyz", "", "")
	}
	if !strings.Contains(scrape(b.service), "\nndd_ready 0\n") {
		t.Error("the metrics say that it is ready")
	}
	if log := b.journal.String(); strings.Count(log, "the index is damaged") != 1 ||
		strings.Count(log, "level=ERROR") != 1 {
		t.Errorf("damage was not logged once:\n%.2000s", log)
	}
	b.wants(t, http.StatusOK, "GET /livez", "", "")
}

// buildIndex makes an index of raw fingerprints in a folder.
func buildIndex(t *testing.T, prints []uint64, noDocs bool) (dir string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.bin")
	must.Do(t, os.WriteFile(path, store.Bytes64(prints), 0o644))
	file, err := ndf.Open(path)
	must.Do(t, err)
	defer file.Close()
	design, err := permute.Named("halves", 3, 1)
	must.Do(t, err)
	dir = filepath.Join(t.TempDir(), "index")
	o := segment.Options{Design: design, NoDocs: noDocs, Table: table.Options{Layout: table.LayoutPlanar}}
	must.Do(t, engine.Build(t.Context(), dir, []*ndf.File{file}, engine.BuildOptions{Options: o}))
	return dir
}

// flip changes a byte of a file.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must.Do(t, err)
	defer f.Close()
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	must.Do(t, err)
	b[0] ^= 0x10
	_, err = f.WriteAt(b, at)
	must.Do(t, err)
}

var scrubPlaces = flag.Int("scrub.places", 3, "places that TestScrub damages, one after the other")

// Damage that comes while an index is served is found without any query: the server is not ready
// then, answers 503, and has logged file, section and block. Without damage it scrubs on.
func TestScrub(t *testing.T) {
	dir := buildIndex(t, sets.Uniform(200_000, 5), false)
	segment := filepath.Join(dir, "00000001.segment")
	info, err := os.Stat(segment)
	must.Do(t, err)
	for i := range *scrubPlaces {
		at := info.Size() * int64(i+1) / int64(*scrubPlaces+1)
		var b *service
		o := Options{Scrub: 20 * time.Millisecond,
			hooks: hooks{started: func(s *service) { b = s }}}
		r := runServer(t, o, func(ctx context.Context, _ *Loading) (*engine.Index, error) {
			return engine.Open(ctx, dir, engine.OpenOptions{})
		})
		c := r.client()
		must.Eventually(t, "it was scrubbed twice", func() bool { return value(t, scrape(b), "ndd_scrubs_total") >= 2 })
		c.wants(t, http.StatusOK, "GET /readyz", "", "")
		flip(t, segment, at)
		must.Eventually(t, "damage is found", func() bool {
			status, _ := c.send(t, "GET /readyz", "", "")
			return status == http.StatusServiceUnavailable
		})
		for path, body := range map[string]string{"/v1/query": `{"fingerprint": "0000000000000000"}`,
			"/v1/batch": "12345678", "/v1/insert": `{"fingerprint": "0000000000000000"}`} {
			c.wants(t, http.StatusServiceUnavailable, path, "", body, "damaged")
		}
		must.Eventually(t, "the log says where", func() bool {
			log := r.journal.String()
			return strings.Contains(log, "file="+segment) && strings.Contains(log, "section=") && strings.Contains(log, "block=")
		})
		r.end()
		flip(t, segment, at)
	}
}

// The limit of open files lowers that of connections, and one that leaves no room is refused when
// the server starts.
func TestOpenFiles(t *testing.T) {
	for _, c := range []struct {
		files, connections int
		wrong              string
	}{
		{1 << 20, 4096, ""},
		{1024, 1024 - descriptorsKept, ""},
		{64, 0, "ulimit -n"},
		{descriptorsKept + connectionsMin - 1, 0, "ulimit -n"},
	} {
		b := start(t, nil, "")
		err := b.fitConnections(c.files)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%d files: %v", c.files, err)
			}
			continue
		}
		if err != nil || b.limits.Connections != c.connections ||
			(c.connections < 4096) != strings.Contains(b.journal.String(), "instead of 4096") {
			t.Errorf("%d files: %d connections, %v, %s", c.files, b.limits.Connections, err, b.journal)
		}
	}
}

// TestFullDisk fills the disk under a server: inserts and deletions are refused, by name, while
// queries are answered; and when there is room again both go on, without a restart. What was
// refused may be not there, neither then nor after a restart; what was answered is.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	d := disk.Failing(func(c disk.Call, _ string) error {
		if full.Load() && (c == disk.CallWrite || c == disk.CallCreate) {
			return syscall.ENOSPC
		}
		return nil
	})
	x, dir := durable(t, nil, d)
	b := start(t, x, "")
	insert := func(i int) string {
		return fmt.Sprintf(`{"id": "%d", "fingerprint": "%016x"}`, i, uint64(i)*0x9e3779b97f4a7c15)
	}
	ask[insertAnswer](t, b, "/v1/insert", insert(1))
	full.Store(true)
	for path, body := range map[string]string{"/v1/insert": insert(2), "/v1/check-and-insert": insert(3),
		"/v1/delete": `{"id": "1"}`} {
		b.wants(t, http.StatusInsufficientStorage, path, "", body, "the disk is full; queries are answered")
		if got := ask[Neighbours](t, b, "/v1/query", fmt.Sprintf(`{"fingerprint": "%016x"}`,
			uint64(0x9e3779b97f4a7c15))); len(got.Hits) != 1 {
			t.Errorf("a query beside it: %+v", got)
		}
	}
	full.Store(false)
	if got := ask[checkAnswer](t, b, "/v1/check-and-insert", insert(3)); !got.Inserted {
		t.Errorf("sent again, a document is told of itself: %+v", got)
	}
	ask[insertAnswer](t, b, "/v1/insert", insert(9))
	for _, line := range []string{"changes are refused until there is room", "there is room again"} {
		if log := b.journal.String(); strings.Count(log, line) != 1 || strings.Contains(log, "request failed") {
			t.Errorf("not once %q:\n%s", line, log)
		}
	}
	if got := ask[deleteAnswer](t, b, "/v1/delete", `{"id": "1"}`); got.Deleted != 1 {
		t.Errorf("%+v", got)
	}
	must.Do(t, x.Close())
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{})
	must.Do(t, err)
	defer x.Close()
	for id, want := range map[string]bool{"9": true, "1": false, "2": false, "3": true} {
		if _, ok, err := x.Find(id); ok != want || err != nil {
			t.Errorf("after a restart document %s: %v, %v", id, ok, err)
		}
	}
}

// TestFullDiskWithinAList fills the disk while a list is decided upon: what was written before is
// told of as it is, and the others that they were not decided upon; they are not there.
func TestFullDiskWithinAList(t *testing.T) {
	var full atomic.Bool
	var writes atomic.Int32
	d := disk.Failing(func(c disk.Call, _ string) error {
		if full.Load() && c == disk.CallWrite && writes.Add(1) > 1 {
			return syscall.ENOSPC
		}
		return nil
	})
	x, _ := durable(t, nil, d)
	b := start(t, x, "")
	ask[insertAnswer](t, b, "/v1/insert", `{"id": "held", "fingerprint": "00000000ffffffff"}`)
	full.Store(true)
	// What takes the place of another is committed before the next one is looked at.
	got := ask[answerList[checkAnswer]](t, b, "/v1/check-and-insert", `{"documents": [
		{"id": "held", "fingerprint": "ffffffff00000000"}, {"id": "refused", "fingerprint": "0f0f0f0f0f0f0f0f"}]}`).Results
	if len(got) != 2 || !got[0].Inserted || !got[0].Replaced || got[0].Status != http.StatusOK {
		t.Fatalf("what was written before the disk was full: %+v", got)
	}
	if got[1].Inserted || got[1].Status != http.StatusInsufficientStorage || !strings.Contains(got[1].Error,
		"the disk is full") {
		t.Errorf("what was not: %+v", got[1])
	}
	full.Store(false)
	ask[insertAnswer](t, b, "/v1/insert", `{"id": "later", "fingerprint": "00ff00ff00ff00ff"}`)
	if got := ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "0f0f0f0f0f0f0f0f"}`); len(got.Hits) != 0 {
		t.Errorf("what was refused is there: %+v", got)
	}
	if got := ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "ffffffff00000000"}`); len(got.Hits) != 1 {
		t.Errorf("what was accepted is not: %+v", got)
	}
}

// TestFullMemory fills the memory that a server may take: inserts are refused, by name, while
// queries and deletions are answered.
func TestFullMemory(t *testing.T) {
	x, err := engine.New(3, engine.Options{Budget: memory.NewBudget(memory.Set(16 << 20))})
	must.Do(t, err)
	defer x.Close()
	b := start(t, x, "")
	random := rand.New(rand.NewPCG(18, 4))
	for i := 0; ; i += 500 {
		var docs strings.Builder
		for j := range 500 {
			if j > 0 {
				docs.WriteByte(',')
			}
			fmt.Fprintf(&docs, `{"id": "%d `, i+j)
			for range 60 { // which cannot be made much smaller, so that some tens of requests are enough
				fmt.Fprintf(&docs, "%016x", random.Uint64())
			}
			fmt.Fprintf(&docs, `", "fingerprint": "%016x"}`, random.Uint64())
		}
		status, answer := b.send(t, "/v1/insert", mediaJSON, `{"documents": [`+docs.String()+`]}`)
		if status == http.StatusOK && i < 1_000_000 {
			continue
		}
		const want = "nothing can be inserted; queries are answered: no room for more documents in memory"
		if status != http.StatusInsufficientStorage || !strings.Contains(answer, want) || i == 0 {
			t.Fatalf("%d documents: %d %s", i, status, answer)
		}
		break
	}
	b.wants(t, http.StatusOK, "/v1/query", mediaJSON, `{"fingerprint": "0000000000000000"}`)
	b.wants(t, http.StatusOK, "/v1/delete", "application/json", `{"id": "none"}`)
}
