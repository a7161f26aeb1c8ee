package server

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"ndd/engine"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
)

// TestFullDisk fills the disk under a server: inserts and deletions are refused, by name, while queries
// are answered; and when there is room again both go on, without a restart. What was refused may be
// not there, neither then nor after a restart; what was answered is.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	d := disk.Failing(func(c disk.Call, _ string) error {
		if full.Load() && (c == disk.CallWrite || c == disk.CallCreate) {
			return syscall.ENOSPC
		}
		return nil
	})
	dir := filepath.Join(t.TempDir(), "index")
	if err := engine.Create(dir, 3, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	open := func() *engine.Index {
		x, err := engine.Open(t.Context(), dir, engine.OpenOptions{Write: true, Disk: d})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := open()
	b := start(t, x, "")
	insert := func(i int) string {
		return fmt.Sprintf(`{"id": "%d", "fingerprint": "%016x"}`, i, uint64(i)*0x9e3779b97f4a7c15)
	}
	ask[insertAnswer](t, b, "/v1/insert", insert(1))
	full.Store(true)
	for i, path := range []string{"/v1/insert", "/v1/check-and-insert", "/v1/delete"} {
		body := insert(2 + i)
		if path == "/v1/delete" {
			body = `{"id": "none"}`
		}
		status, answer := b.send(t, "POST "+path, "application/json", body)
		if path == "/v1/delete" && status == http.StatusOK {
			continue // nothing was to be written
		}
		if status != http.StatusInsufficientStorage || !strings.Contains(answer, "the disk is full; queries are answered") {
			t.Errorf("%s: %d %s", path, status, answer)
		}
		if got := ask[Neighbours](t, b, "/v1/query", fmt.Sprintf(`{"fingerprint": "%016x"}`, uint64(0x9e3779b97f4a7c15))); len(got.Hits) != 1 {
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
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open()
	defer x.Close()
	for id, want := range map[string]bool{"9": true, "1": false, "2": false, "3": true} {
		if _, ok, err := x.Find(id); ok != want || err != nil {
			t.Errorf("after a restart document %s: %v, %v", id, ok, err)
		}
	}
}

// TestFullDiskWithinAList fills the disk while a list is decided upon: what was written before is told of as it
// is, and the others that they were not decided upon; they are not there.
func TestFullDiskWithinAList(t *testing.T) {
	var full atomic.Bool
	var writes atomic.Int32
	d := disk.Failing(func(c disk.Call, _ string) error {
		if full.Load() && c == disk.CallWrite && writes.Add(1) > 1 {
			return syscall.ENOSPC
		}
		return nil
	})
	dir := filepath.Join(t.TempDir(), "index")
	if err := engine.Create(dir, 3, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{Write: true, Disk: d})
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, x, "")
	ask[insertAnswer](t, b, "/v1/insert", `{"id": "held", "fingerprint": "00000000ffffffff"}`)
	full.Store(true)
	// What takes the place of another is committed before the next one is looked at.
	got := ask[checkAnswers](t, b, "/v1/check-and-insert", `{"documents": [
		{"id": "held", "fingerprint": "ffffffff00000000"}, {"id": "refused", "fingerprint": "0f0f0f0f0f0f0f0f"}]}`).Results
	if len(got) != 2 || !got[0].Inserted || !got[0].Replaced || got[0].Status != http.StatusOK {
		t.Fatalf("what was written before the disk was full: %+v", got)
	}
	if got[1].Inserted || got[1].Status != http.StatusInsufficientStorage || !strings.Contains(got[1].Error, "the disk is full") {
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

// TestFullMemory fills the memory that a server may take: inserts are refused, by name, while queries
// and deletions are answered.
func TestFullMemory(t *testing.T) {
	x, err := engine.New(3, engine.Options{Budget: memory.NewBudget(memory.Set(16 << 20))})
	if err != nil {
		t.Fatal(err)
	}
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
		status, answer := b.send(t, "POST /v1/insert", "application/json", `{"documents": [`+docs.String()+`]}`)
		if status == http.StatusOK && i < 1_000_000 {
			continue
		}
		const want = "nothing can be inserted; queries are answered: no room for more documents in memory"
		if status != http.StatusInsufficientStorage || !strings.Contains(answer, want) || i == 0 {
			t.Fatalf("%d documents: %d %s", i, status, answer)
		}
		break
	}
	if status, answer := b.send(t, "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000"}`); status != http.StatusOK {
		t.Errorf("a query beside it: %d %s", status, answer)
	}
	if status, answer := b.send(t, "POST /v1/delete", "application/json", `{"id": "none"}`); status != http.StatusOK {
		t.Errorf("a deletion beside it: %d %s", status, answer)
	}
}
