package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/index/live"
	"ndd/engine/index/live/rows"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

// TestClockConfirmed starts a server with an index that was last open when the clock was ten years
// ahead: it says so, and starts without a word with --accept-clock.
func TestClockConfirmed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), servedDir)
	must.Do(t, engine.Create(dir, 3, engine.Options{}))
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{Write: true})
	must.Do(t, err)
	_, err = x.Live().Insert(t.Context(), []rows.Doc{{Fingerprint: 1, TTL: 24 * time.Hour}})
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
	data = store.AppendFile(nil, store.KindManifest, store.Identity{Generation: m.Generation + 1},
		[]store.Section{{Name: "manifest", Data: data}})
	writeFile(t, filepath.Join(dir, "manifest"), data)
	for i, flags := range [][]string{nil, {"--accept-clock"}, nil} {
		s := startServer(t, dir, flags...)
		must.Do(t, s.cmd.Process.Signal(syscall.SIGTERM))
		s.cmd.Wait()
		const told = "the system's clock is 3650.0 days behind the index's"
		if said := s.cmd.Stderr.(*bytes.Buffer).String(); strings.Contains(said, told) != (i == 0) {
			t.Errorf("start %d with %s:\n%s", i, flags, said)
		}
	}
}
