package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/oracle/must"
)

// backupBench is a server of a durable index, which makes backups in folder backups.
func backupBench(t *testing.T, tokens string) *bench {
	t.Helper()
	x, _ := durable(t, defaultRecipe(), nil)
	return startOptions(t, x, &Options{Backups: t.TempDir(), hooks: hooks{limit: bounds{Queue: waitMax}.set},
		Access: Access{TokenFile: tokenFile(t, tokens)}})
}

// TestBackup makes backups over HTTP while documents are inserted, flushed and merged. Each backup is an index with
// all documents that were acknowledged before the request.
func TestBackup(t *testing.T) {
	b := backupBench(t, "")
	x := b.index.Load()
	_, err := x.Insert(t.Context(), engine.Doc{ID: "first"})
	must.Do(t, err)
	must.Do(t, live.Unwrap(x).Flush(t.Context())) // each backup has a segment to link
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	var acknowledged atomic.Int64
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := x.Insert(t.Context(), engine.Doc{ID: fmt.Sprint(i),
				Fingerprint: simhash.Fingerprint(uint64(i+1) * 0x9e3779b97f4a7c15)}); err != nil {
				t.Error(err)
			}
			acknowledged.Store(int64(i + 1))
		}
	})
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := live.Unwrap(x).Flush(t.Context()); err != nil {
				t.Error(err)
			}
			if i%4 == 3 {
				if err := live.Unwrap(x).Merge(t.Context(), 1); err != nil {
					t.Error(err)
				}
			}
		}
	})
	const backups = 5
	var minimum [backups]int64
	for i := range backups {
		must.Eventually(t, "more is there than before", func() bool { return acknowledged.Load() >= int64(10*(i+1)) })
		minimum[i] = acknowledged.Load()
		a := ask[backupAnswer](t, b, "/v1/backup", fmt.Sprintf(`{"name": "day-%d"}`, i))
		if a.Name != fmt.Sprint("day-", i) || a.Files == 0 || a.Linked == 0 {
			t.Errorf("%+v", a)
		}
	}
	cancel()
	all.Wait()
	for i := range backups {
		y, err := engine.Open(t.Context(), filepath.Join(b.options.Backups, fmt.Sprint("day-", i)), engine.OpenOptions{})
		must.Do(t, err)
		must.Do(t, live.Unwrap(y).Check(t.Context()))
		n := int64(y.Stats().Documents)
		if _, ok, err := y.Find(fmt.Sprint(minimum[i] - 1)); n < minimum[i] || !ok || err != nil {
			t.Errorf("backup %d has %d documents, and %d were acknowledged: the last of those: %v %v", i, n, minimum[i], ok, err)
		}
		must.Do(t, y.Close())
	}
	if entries, err := os.ReadDir(b.options.Backups); err != nil || len(entries) != backups {
		t.Errorf("%v %v", entries, err)
	}
}

// TestBackupRefused checks that a backup requires the role admin and a plain name, and does not replace another backup.
func TestBackupRefused(t *testing.T) {
	t.Parallel()
	b := backupBench(t, tokenLines)
	backup := func(token, name string, want int, words ...string) {
		t.Helper()
		status, answer := b.send(t, "/v1/backup", mediaJSON, `{"name": "`+name+`"}`, "Authorization", "Bearer "+token)
		compareAnswer(t, status, answer, want, token+" "+name, words...)
	}
	for token, want := range map[string]int{"unknown-0123456789abcdef": 401, readToken: 403, writeToken: 403} {
		backup(token, "a", want)
	}
	above := len(entriesOf(t, filepath.Dir(b.options.Backups)))
	for _, name := range []string{"", ".", "..", "../a", "a/b", "a/../../b", "/tmp/a", ".hidden", `a\\b`, "a b",
		"a\\u0000", "a\\n", strings.Repeat("a", 101)} {
		backup(adminToken, name, http.StatusUnprocessableEntity)
	}
	if list := entriesOf(t, b.options.Backups); len(list) != 0 ||
		len(entriesOf(t, filepath.Dir(b.options.Backups))) != above {
		t.Errorf("refused, and there is %v", list)
	}
	backup(adminToken, "a-1.b_2", http.StatusOK)
	must.Do(t, os.Symlink("nowhere", filepath.Join(b.options.Backups, "link")))
	for _, name := range []string{"a-1.b_2", "link"} {
		backup(adminToken, name, http.StatusConflict, "choose another")
	}
	b.backingUp.Lock()
	backup(adminToken, "b", http.StatusTooManyRequests) // a second one at a time
	b.backingUp.Unlock()
	m := startOptions(t, newIndex(t, 3, nil, nil), &Options{Backups: t.TempDir()})
	m.wants(t, http.StatusConflict, "/v1/backup", "", `{"name": "a"}`, "in memory only")
}

func entriesOf(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	must.Do(t, err)
	return list
}
