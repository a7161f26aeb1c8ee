package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

const (
	floodPrints  = 2048 // in a batch of the flood: 16 KiB
	floodClients = 64
)

// footprint measures what a server takes of memory and of processors: while nobody asks, and while each of many clients asks
// for all documents of one fingerprint, thousands of times in each request.
func footprint(ctx context.Context, b *bench, r *Result) error {
	dir, remove, err := b.folder("footprint")
	if err != nil {
		return err
	}
	defer remove()
	r.Columns = []string{"MiB of the index", "MiB of its own, at most", "processor, seconds a second"}
	lasts := min(10*time.Second, max(500*time.Millisecond, time.Duration(b.n)*time.Microsecond/5))
	if err := b.serveHeld(ctx, dir, r, "idle", sets.Uniform(b.n, 1), func(s *served) error {
		return sleep(ctx, lasts)
	}); err != nil {
		return err
	}
	documents := min(b.n, 200_000)
	body := make([]byte, 8*floodPrints)
	var read int64
	if err := b.serveHeld(ctx, dir, r, fmt.Sprintf("%d clients ask for %s documents %s times a request", floodClients, humanize.Comma(int64(documents)), humanize.Comma(floodPrints)), make([]uint64, documents), func(s *served) (err error) {
		read, err = flood(ctx, s.address, body, lasts)
		return err
	}); err != nil {
		return err
	}
	r.note("idle: %s fingerprints held, k = %d, two planar tables in files that are mapped; the memory of its own is what the server takes beside them", humanize.Comma(int64(b.n)), distance)
	r.note("the flood lasted %v, and %s of answers were read", lasts.Round(time.Second), humanize.IBytes(uint64(read)))
	return nil
}

// serveHeld serves an index of fingerprints while during runs.
func (b *bench) serveHeld(ctx context.Context, dir string, r *Result, name string, prints []uint64, during func(*served) error) error {
	b.say("%s", name)
	path, index := filepath.Join(dir, "base.bin"), filepath.Join(dir, "index")
	defer os.RemoveAll(index)
	if err := os.WriteFile(path, store.Bytes64(prints), 0o644); err != nil {
		return err
	}
	if err := buildServed(ctx, index, path); err != nil {
		return err
	}
	held, err := treeBytes(index)
	if err != nil {
		return err
	}
	s, err := startServer(ctx, dir, "./cmd/ndd", []string{"serve", "-i", index, "--listen", "127.0.0.1:0", "--admin", "off", "--memory-only", "--quiet"})
	if err != nil {
		return err
	}
	defer s.stop()
	most, before, began := s.watch(), processTime(s.cmd.Process.Pid), time.Now()
	err = during(s)
	spent := (processTime(s.cmd.Process.Pid) - before).Seconds() / time.Since(began).Seconds()
	own := most()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.row(name, number(float64(held)/(1<<20)), number(float64(own)/(1<<20)), number(spent))
	return stillAnswers(ctx, s.address)
}

// flood has clients read answers to a batch, each as fast as it can, and returns how many bytes came.
func flood(ctx context.Context, address string, body []byte, lasts time.Duration) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	var mu sync.Mutex
	var read int64
	var group sync.WaitGroup
	for range floodClients {
		group.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v1/batch", bytes.NewReader(body))
				if err != nil {
					return
				}
				r.Header.Set("Content-Type", "application/octet-stream")
				a, err := http.DefaultClient.Do(r)
				if err != nil {
					continue // the time is over
				}
				n, _ := io.Copy(io.Discard, a.Body) // which does not end before the time
				a.Body.Close()
				if a.StatusCode != http.StatusOK {
					time.Sleep(10 * time.Millisecond) // refused, as it may be
				}
				mu.Lock()
				read += n
				mu.Unlock()
			}
		})
	}
	group.Wait()
	http.DefaultClient.CloseIdleConnections()
	if read == 0 {
		return 0, fmt.Errorf("nothing was answered")
	}
	return read, nil
}

// stillAnswers demands that a server answers a query.
func stillAnswers(ctx context.Context, address string) error {
	l := load{address: address, path: "/v1/query", media: "application/json", connections: 1, lasts: 100 * time.Millisecond, body: func(int) []byte { return []byte(`{"fingerprint": "0000000000000000", "limit": 1}`) }}
	_, err := l.run(ctx)
	return err
}
