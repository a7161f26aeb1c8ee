package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// buildIndex makes an index of raw fingerprints in a folder.
func buildIndex(t *testing.T, prints []uint64) (dir string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.bin")
	if err := os.WriteFile(path, store.Bytes64(prints), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := ndf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	design, err := permute.Named("halves", 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "index")
	o := segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}}
	if err := engine.Build(t.Context(), dir, []*ndf.File{file}, engine.BuildOptions{Options: o}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// flip changes a byte of a file.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

var scrubPlaces = flag.Int("scrub.places", 3, "places that TestScrub damages, one after the other")

// Damage that comes while an index is served is found without any query: the server is not ready then, answers 503, and has
// logged file, section and block. Without damage it scrubs on.
func TestScrub(t *testing.T) {
	dir := buildIndex(t, sets.Uniform(200_000, 5))
	segment := filepath.Join(dir, "00000001.segment")
	info, err := os.Stat(segment)
	if err != nil {
		t.Fatal(err)
	}
	for i := range *scrubPlaces {
		at := info.Size() * int64(i+1) / int64(*scrubPlaces+1)
		var b *service
		r := runServer(t, Options{Scrub: 20 * time.Millisecond, notice: func() {}, started: func(s *service) { b = s }}, func(ctx context.Context, _ *Loading) (*engine.Index, error) {
			return engine.Open(ctx, dir, engine.OpenOptions{})
		})
		address := r.address()
		c := client(t)
		eventually(t, "it was scrubbed twice", func() bool {
			_, body := scrape(t, b)
			return !strings.Contains(body, "ndd_scrubs_total 0\n") && !strings.Contains(body, "ndd_scrubs_total 1\n")
		})
		if status, _, body, err := get(c, "GET", "http://"+address+"/readyz", ""); status != http.StatusOK || err != nil {
			t.Fatalf("sound: %d %s %v", status, body, err)
		}
		flip(t, segment, at)
		eventually(t, "damage is found", func() bool {
			status, _, _, err := get(c, "GET", "http://"+address+"/readyz", "")
			return err == nil && status == http.StatusServiceUnavailable
		})
		for _, what := range []struct{ path, body string }{{"/v1/query", `{"fingerprint": "0000000000000000"}`}, {"/v1/batch", "12345678"}, {"/v1/insert", `{"fingerprint": "0000000000000000"}`}} {
			if status, _, body, err := get(c, "POST", "http://"+address+what.path, what.body); err != nil || status != http.StatusServiceUnavailable || !strings.Contains(body, "damaged") {
				t.Errorf("%s: %d %s %v", what.path, status, body, err)
			}
		}
		eventually(t, "the log says where", func() bool {
			log := r.journal.String()
			return strings.Contains(log, "file="+segment) && strings.Contains(log, "section=") && strings.Contains(log, "block=")
		})
		r.stop()
		if err := r.wait(); err != nil {
			t.Error(err)
		}
		flip(t, segment, at)
	}
}

// What --preload reads is checked as it is read, also with --checksums fast.
func TestLoadedIsVerified(t *testing.T) {
	dir := buildIndex(t, sets.Uniform(1_000_000, 5)) // sections of more than 1 MiB, which --checksums fast leaves out
	segment := filepath.Join(dir, "00000001.segment")
	info, err := os.Stat(segment)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, segment, info.Size()/2)
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{Load: true, Verify: engine.VerifyFast})
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "block") {
		t.Errorf("%v", err)
	}
	if err == nil {
		x.Close()
	}
}

// scrape returns the metrics of a service.
func scrape(t *testing.T, s *service) (int, string) {
	t.Helper()
	families, err := s.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range families {
		for _, m := range f.Metric {
			fmt.Fprintf(&b, "%s %v\n", f.GetName(), m.GetCounter().GetValue()+m.GetGauge().GetValue())
		}
	}
	return len(families), b.String()
}

// The limit of open files lowers that of connections, and one that leaves no room is refused when the server starts.
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
		b.descriptors = func() int { return c.files }
		err := b.fitConnections()
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%d files: %v", c.files, err)
			}
			continue
		}
		if err != nil || b.limits.Connections != c.connections || (c.connections < 4096) != strings.Contains(b.journal.String(), "--max-connections 4096 is lowered") {
			t.Errorf("%d files: %d connections, %v, %s", c.files, b.limits.Connections, err, b.journal)
		}
	}
}
