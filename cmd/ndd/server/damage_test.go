package server

import (
	"context"
	"errors"
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

	"example.org/ndd/cmd/ndd/server/strict"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// TestIndexLosesItsEnd truncates a served index. Every query and batch is answered with 503, and the rest of the server
// continues to work.
func TestIndexLosesItsEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the system refuses to truncate a file in use
	}
	fingerprints := sets.Uniform(200_000, 5)
	dir := buildIndex(t, fingerprints, false)
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{})
	must.Do(t, err)
	b := start(t, x, "")
	query := func(f uint64, status int, word string) {
		b.wants(t, status, "/v1/query", mediaJSON, fmt.Sprintf(`{"fingerprint": "%016x"}`, f), word)
	}
	query(fingerprints[0], http.StatusOK, `"distance":0`)
	must.Do(t, os.Truncate(filepath.Join(dir, "00000001.segment"), 8192))
	for i := range 1000 {
		query(fingerprints[i], http.StatusServiceUnavailable, "cannot be read any more")
		b.wants(t, http.StatusServiceUnavailable, "/v1/batch", mediaBytes, string(store.Bytes64(fingerprints[i:i+20])))
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
func buildIndex(t *testing.T, fingerprints []uint64, noDocs bool) (dir string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.bin")
	must.Do(t, os.WriteFile(path, store.Bytes64(fingerprints), 0o644))
	file, err := ndf.Open(path, ndf.OpenOptions{})
	must.Do(t, err)
	defer file.Close()
	design, err := permute.ByName("halves", 3, 1)
	must.Do(t, err)
	dir = filepath.Join(t.TempDir(), "index")
	o := segment.Options{Design: design, NoDocs: noDocs, Table: table.Options{Layout: table.LayoutPlanar}}
	must.Do(t, live.Build(t.Context(), dir, []*ndf.File{file}, live.BuildOptions{Options: o}))
	return dir
}

// flip changes a byte of a file.
func flip(t *testing.T, path string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must.Do(t, err)
	defer f.Close()
	b := make([]byte, 1)
	_, err = f.ReadAt(b, offset)
	must.Do(t, err)
	b[0] ^= 0x10
	_, err = f.WriteAt(b, offset)
	must.Do(t, err)
}

var scrubPlaces = flag.Int("scrub.places", 3, "places that TestScrub damages, one after the other")

// TestScrub checks that scrubbing finds damage to a served index without a query. The server is then not ready, answers
// 503, and logs file, section and block. Without damage it continues to scrub.
func TestScrub(t *testing.T) {
	dir := buildIndex(t, sets.Uniform(200_000, 5), false)
	segment := filepath.Join(dir, "00000001.segment")
	info, err := os.Stat(segment)
	must.Do(t, err)
	for i := range *scrubPlaces {
		offset := info.Size() * int64(i+1) / int64(*scrubPlaces+1)
		var b *service
		o := Options{Scrub: 20 * time.Millisecond,
			hooks: hooks{started: func(s *service) { b = s }}}
		r := runServer(t, o, func(ctx context.Context, _ *LoadProgress) (*engine.Index, error) {
			return engine.Open(ctx, dir, engine.OpenOptions{})
		})
		c := r.client()
		must.Eventually(t, "it was scrubbed twice", func() bool { return value(t, scrape(b), "ndd_scrubs_total") >= 2 })
		c.wants(t, http.StatusOK, "GET /readyz", "", "")
		flip(t, segment, offset)
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
		flip(t, segment, offset)
	}
}

// TestOpenFiles checks that the limit of open files lowers the limit of connections. If it leaves none, the server does
// not start.
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
		if c.wrong != "" && err != nil && strings.Contains(err.Error(), c.wrong) {
			continue
		}
		if err != nil || b.limits.Connections != c.connections ||
			(c.connections < 4096) != strings.Contains(b.journal.String(), "instead of 4096") {
			t.Errorf("%d files: %d connections, %v, %s", c.files, b.limits.Connections, err, b.journal)
		}
	}
}

// TestFullDisk fills the disk of a server. Inserts and deletions are refused with a reason, and queries are answered.
// When there is space again, changes work without a restart. If the disk becomes full during a list, the answer has
// the results of the earlier documents, and an error for the others. Refused documents are absent, also after a
// restart, and acknowledged ones are present.
func TestFullDisk(t *testing.T) {
	var room atomic.Int64 // number of writes before the disk is full
	const plenty = 1 << 30
	room.Store(plenty)
	d := disk.WithFailures(func(c disk.Call, _ string) error {
		if (c == disk.CallWrite || c == disk.CallCreate) && room.Add(-1) < 0 {
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
	room.Store(0)
	for path, body := range map[string]string{"/v1/insert": insert(2), "/v1/check-and-insert": insert(3),
		"/v1/delete": `{"id": "1"}`} {
		b.wants(t, http.StatusInsufficientStorage, path, "", body, "the disk is full; queries are answered")
		b.wants(t, http.StatusOK, "/v1/query", "", `{"fingerprint": "9e3779b97f4a7c15"}`, `"ids":["1"]`)
	}
	room.Store(plenty)
	b.wants(t, http.StatusOK, "/v1/check-and-insert", "", insert(3), `"inserted":true`) // the answer does not list the document itself
	ask[insertAnswer](t, b, "/v1/insert", insert(9))
	b.wants(t, http.StatusOK, "/v1/delete", "", `{"id": "1"}`, `{"deleted":1}`)
	ask[insertAnswer](t, b, "/v1/insert", `{"id": "held", "fingerprint": "00000000ffffffff"}`)
	room.Store(1)
	list := []string{`{"documents": [{"id": "held", "fingerprint": "ffffffff00000000"}`}
	for i := range 1023 { // these are committed before the next one is looked at
		list = append(list, insert(100+i))
	}
	list = append(list, `{"id": "refused", "fingerprint": "0f0f0f0f0f0f0f0f"}]}`)
	b.wants(t, http.StatusOK, "/v1/check-and-insert", "", strings.Join(list, ","), `{"results":[{"status":200,"inserted":true,"id":"held",`, `"replaced":true,`,
		`{"status":507,"error":"nothing can be written, since the disk is full`, `,"inserted":false}]}`)
	if log := b.journal.String(); strings.Count(log, "space is free again") != 1 {
		t.Errorf("there is none yet:\n%s", log)
	}
	room.Store(plenty)
	ask[insertAnswer](t, b, "/v1/insert", `{"id": "later", "fingerprint": "00ff00ff00ff00ff"}`)
	b.wants(t, http.StatusOK, "/v1/query", "", `{"fingerprint": "0f0f0f0f0f0f0f0f"}`, `"hits":[]`)
	b.wants(t, http.StatusOK, "/v1/query", "", `{"fingerprint": "ffffffff00000000"}`, `"ids":["held"]`)
	for _, line := range []string{"changes are refused until space is free", "space is free again"} {
		if log := b.journal.String(); strings.Count(log, line) != 2 || strings.Contains(log, "request failed") {
			t.Errorf("not twice %q:\n%s", line, log)
		}
	}
	must.Do(t, x.Close())
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{})
	must.Do(t, err)
	defer x.Close()
	for id, want := range map[string]bool{"9": true, "1": false, "2": false, "3": true, "held": true, "refused": false} {
		if _, ok, err := x.Find(id); ok != want || err != nil {
			t.Errorf("after a restart document %s: %v, %v", id, ok, err)
		}
	}
}

// TestRestartUnwritable opens an index on a full disk, and on a read-only one. Queries are answered, and changes are
// refused. /readyz and the metrics report it. Changes work again when there is space.
func TestRestartUnwritable(t *testing.T) {
	for _, c := range []struct {
		why    error
		status int
		word   string
	}{
		{syscall.ENOSPC, http.StatusInsufficientStorage, "the disk is full; queries are answered"},
		{syscall.EROFS, http.StatusServiceUnavailable, "the disk is read-only; queries are answered"},
	} {
		x, dir := durable(t, nil, nil)
		ask[insertAnswer](t, start(t, x, ""), "/v1/insert", `{"id": "held", "fingerprint": "00000000ffffffff"}`)
		must.Do(t, x.Close())
		var unwritable atomic.Bool
		unwritable.Store(true)
		x, err := openAs(t.Context(), dir, live.OpenOptions{Write: true, Disk: disk.WithFailures(func(disk.Call, string) error {
			if unwritable.Load() {
				return c.why
			}
			return nil
		})})
		must.Do(t, err)
		b := start(t, x, "")
		b.wants(t, http.StatusOK, "/v1/query", "", `{"fingerprint": "00000000ffffffff"}`, `"ids":["held"]`)
		b.wants(t, http.StatusOK, "GET /readyz", "", "", `"status":"ready"`, `"changes":"refused: `, c.why.Error())
		for path, body := range map[string]string{"/v1/insert": `{"id": "new", "fingerprint": "ffffffff00000000"}`,
			"/v1/check-and-insert": `{"id": "new", "fingerprint": "ffffffff00000000"}`, "/v1/delete": `{"id": "held"}`,
			"DELETE /v1/documents?prefix=held": ""} {
			b.wants(t, c.status, path, "", body, c.word)
		}
		if value(t, scrape(b.service), "ndd_writable") != 0 {
			t.Error("the metrics say that changes are made")
		}
		unwritable.Store(false)
		ask[insertAnswer](t, b, "/v1/insert", `{"id": "new", "fingerprint": "ffffffff00000000"}`)
		if status, body := b.send(t, "GET /readyz", "", ""); status != http.StatusOK || body != "{\"status\":\"ready\"}\n" ||
			value(t, scrape(b.service), "ndd_writable") != 1 {
			t.Errorf("%d %s", status, body)
		}
		must.Do(t, x.Close())
	}
}

// TestUnknownOutcome makes the sync of a change fail. For every change and error, the answer says that the outcome is
// unknown. /readyz reports that changes are refused.
func TestUnknownOutcome(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/insert":                       `{"id": "new", "fingerprint": "ffffffff00000000"}`,
		"/v1/insert?list":                  `{"documents": [{"id": "new", "fingerprint": "ffffffff00000000"}]}`,
		"/v1/check-and-insert":             `{"id": "new", "fingerprint": "ffffffff00000000"}`,
		"/v1/check-and-insert?list":        `{"documents": [{"id": "new", "fingerprint": "ffffffff00000000"}]}`,
		"/v1/delete":                       `{"id": "held"}`,
		"/v1/delete?fingerprint":           `{"fingerprint": "00000000ffffffff"}`,
		"DELETE /v1/documents?prefix=held": "",
	} {
		for _, why := range []error{syscall.EIO, syscall.ENOSPC} {
			var broken atomic.Bool
			x, _ := durable(t, nil, disk.WithFailures(func(c disk.Call, _ string) error {
				if c == disk.CallSync && broken.Load() {
					return why
				}
				return nil
			}))
			b := start(t, x, "")
			ask[insertAnswer](t, b, "/v1/insert", `{"id": "held", "fingerprint": "00000000ffffffff"}`)
			broken.Store(true)
			path, _, _ := strings.Cut(path, "?list")
			path, _, _ = strings.Cut(path, "?fingerprint")
			b.wants(t, http.StatusInternalServerError, path, "", body, "it is not known whether the change lasts", why.Error())
			b.wants(t, http.StatusOK, "GET /readyz", "", "", `"changes":"refused: `)
			if err := b.index.Swap(nil).Close(); !errors.Is(err, why) {
				t.Errorf("closing: %v", err)
			}
		}
	}
}

// TestFullMemory fills the memory limit of a server. Inserts are refused with a specific error, while queries and
// deletions are answered.
func TestFullMemory(t *testing.T) {
	x, err := engine.New(3, engine.Options{Budget: memory.NewBudget(memory.Set(16 << 20))})
	must.Do(t, err)
	defer x.Close()
	b := start(t, x, "")
	random, id := rand.NewChaCha8([32]byte{18, 4}), make([]byte, 480) // random, so that few requests fill the memory
	for i := 0; ; i++ {
		docs := make([]string, strict.Max)
		for j := range docs {
			random.Read(id)
			docs[j] = fmt.Sprintf(`{"id": "%x", "fingerprint": "%016x"}`, id, random.Uint64())
		}
		status, answer := b.send(t, "/v1/insert", mediaJSON, `{"documents": [`+strings.Join(docs, ",")+`]}`)
		if status == http.StatusOK && i < 1000 {
			continue
		}
		const want = "nothing can be inserted; queries are answered: no memory for more documents"
		if status != http.StatusInsufficientStorage || !strings.Contains(answer, want) || i == 0 {
			t.Fatalf("request %d: %d %s", i, status, answer)
		}
		break
	}
	b.wants(t, http.StatusOK, "/v1/query", mediaJSON, `{"fingerprint": "0000000000000000"}`)
	b.wants(t, http.StatusOK, "/v1/delete", "application/json", `{"id": "none"}`)
}
