package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

const (
	serveConnections = 64
	batchPrints      = 1024
	heavyPrints      = 8192 // of requests that are offered at ten times what can be answered
)

// serve measures a server and, beside it, one that answers a constant, by a generator in this process: the closed loop
// says how much can be answered, the open one, at half of that, how long it takes. An open loop that does not keep its rate is said to have
// missed it, and its figures are left out. Answers to queries have what was asked for.
func serve(ctx context.Context, b *bench, r *Result) error {
	dir, remove, err := b.folder("serve")
	if err != nil {
		return err
	}
	defer remove()
	prints := sets.Uniform(b.n, 1)
	path, index := filepath.Join(dir, "base.bin"), filepath.Join(dir, "index")
	if err := os.WriteFile(path, store.Bytes64(prints), 0o644); err != nil {
		return err
	}
	design, err := permute.Named("halves", distance, 1)
	if err != nil {
		return err
	}
	built, err := buildIndex(ctx, index, path, segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}})
	if err != nil {
		return err
	}
	built.Close()
	r.Columns = []string{"a second", "us processor, server", "us processor, generator", "p50 ms at half", "p99 ms at half"}
	lasts := min(5*time.Second, max(300*time.Millisecond, time.Duration(b.n)*time.Microsecond/5))
	hex := func(i int) string { return fmt.Sprintf("%016x", prints[i%len(prints)]) }
	query := load{path: "/v1/query", media: "application/json", connections: serveConnections, lasts: lasts, body: func(i int) []byte { return []byte(`{"fingerprint": "` + hex(i) + `"}`) }}
	if err := b.serveRow(ctx, dir, r, "net/http alone, a constant", "./bench/bare", nil, query, 1); err != nil {
		return err
	}
	query.check = func(i int, answer []byte) error {
		if !bytes.Contains(answer, []byte(`"hits":[{"fingerprint":"`+hex(i)+`","distance":0`)) {
			return fmt.Errorf("%s: %.300s", hex(i), answer)
		}
		return nil
	}
	served := []string{"serve", "-i", index, "--listen", "127.0.0.1:0", "--admin", "off", "--memory-only", "--quiet"}
	if err := b.serveRow(ctx, dir, r, "queries, one fingerprint each", "./cmd/ndd", served, query, 1); err != nil {
		return err
	}
	batch := load{path: "/v1/batch", media: "application/octet-stream", connections: 2 * runtime.GOMAXPROCS(0), lasts: lasts, body: batchOf(prints, batchPrints), check: func(i int, answer []byte) error {
		if n := bytes.Count(answer, []byte{'\n'}); n < batchPrints {
			return fmt.Errorf("%d rows for %d fingerprints", n, batchPrints)
		}
		return nil
	}}
	if err := b.serveRow(ctx, dir, r, fmt.Sprintf("fingerprints, in batches of %d", batchPrints), "./cmd/ndd", served, batch, batchPrints); err != nil {
		return err
	}
	if err := b.serveInserts(ctx, dir, r, lasts); err != nil {
		return err
	}
	if err := b.overload(ctx, dir, r, served, prints, lasts); err != nil {
		return err
	}
	r.note("%s fingerprints held, k = %d, two planar tables; %d connections that are kept; server and generator share %d processors", humanize.Comma(int64(b.n)), distance, serveConnections, runtime.GOMAXPROCS(0))
	r.note("each request was checked: a query has what was asked for, a batch a row for each fingerprint; an open loop that kept less than 99 %% of its rate is left out")
	return nil
}

// batchOf returns the bodies of batches.
func batchOf(prints []uint64, n int) func(i int) []byte {
	return func(i int) []byte {
		body := make([]byte, 0, 8*n)
		for j := range n {
			body = binary.LittleEndian.AppendUint64(body, prints[(i*n+j)%len(prints)])
		}
		return body
	}
}

// serveRow measures one server by one kind of request, which has so many things in it.
func (b *bench) serveRow(ctx context.Context, dir string, r *Result, name, program string, args []string, l load, things int) error {
	b.say("%s", name)
	s, err := startServer(ctx, dir, program, args)
	if err != nil {
		return err
	}
	defer s.stop()
	l.address = s.address
	peak, spent, err := s.under(ctx, &l)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n := float64(peak.answered * things)
	l.rate = peak.rate() / 2
	half, _, err := s.under(ctx, &l)
	if err != nil {
		return fmt.Errorf("%s at half the rate: %w", name, err)
	}
	cells := []Cell{number(peak.rate() * float64(things)), number(spent.Seconds() / n * 1e6), number(peak.spent.Seconds() / n * 1e6)}
	if half.missed {
		cells = append(cells, word("missed its rate"), word("missed its rate"))
	} else {
		cells = append(cells, number(half.quantile(0.5)), number(half.quantile(0.99)))
	}
	r.row(name, cells...)
	return nil
}

// serveInserts measures check-and-inserts of texts of 2 KB, durable.
func (b *bench) serveInserts(ctx context.Context, dir string, r *Result, lasts time.Duration) error {
	words := make([]string, 20_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range words {
		words[i] = fmt.Sprintf("w%x", rng.Uint32())
	}
	l := load{path: "/v1/check-and-insert", media: "application/json", connections: serveConnections, lasts: lasts, body: func(i int) []byte {
		rng := rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano())))
		text := fmt.Appendf(nil, `{"id": "%d-%d", "text": "`, i, rng.Uint64())
		for len(text) < 2048 {
			text = append(append(text, words[rng.IntN(len(words))]...), ' ')
		}
		return append(text, `"}`...)
	}, check: func(_ int, answer []byte) error {
		if !bytes.HasPrefix(answer, []byte(`{"inserted":true`)) {
			return fmt.Errorf("%.300s", answer)
		}
		return nil
	}}
	args := []string{"serve", "-i", filepath.Join(dir, "inserted"), "--create", "--listen", "127.0.0.1:0", "--admin", "off", "--quiet"}
	return b.serveRow(ctx, dir, r, "check-and-inserts of 2 KB, durable", "./cmd/ndd", args, l, 1)
}

// overload offers ten times as many large batches as can be answered.
func (b *bench) overload(ctx context.Context, dir string, r *Result, args []string, prints []uint64, lasts time.Duration) error {
	const name = "large batches at 10 times the peak"
	b.say("%s", name)
	s, err := startServer(ctx, dir, "./cmd/ndd", args)
	if err != nil {
		return err
	}
	defer s.stop()
	l := load{address: s.address, path: "/v1/batch?unique=true", media: "application/octet-stream", connections: 2 * runtime.GOMAXPROCS(0), lasts: lasts, body: batchOf(prints, heavyPrints)}
	peak, spent, err := s.under(ctx, &l)
	if err != nil {
		return err
	}
	r.row("large batches, at the peak", number(peak.rate()), number(spent.Seconds()/float64(peak.answered)*1e6), number(peak.spent.Seconds()/float64(peak.answered)*1e6), number(peak.quantile(0.5)), number(peak.quantile(0.99)))
	l.rate, l.connections = 10*peak.rate(), 1024
	over, spent, err := s.under(ctx, &l)
	switch {
	case err != nil:
		return err
	case over.missed:
		r.row(name, word("missed its rate"), word("-"), word("-"), word("-"), word("-"))
		return nil
	}
	n := float64(max(1, over.answered))
	r.row(name, number(over.rate()), number(spent.Seconds()/n*1e6), number(over.spent.Seconds()/n*1e6), number(over.quantile(0.5)), number(over.quantile(0.99)))
	r.note("%s: %d answered, %d refused; the p50 and p99 of both rows of large batches are those of that load, not of half of it", name, over.answered, over.refused)
	return nil
}

// A served is a server in a process of its own.
type served struct {
	cmd     *exec.Cmd
	address string
}

// startServer builds a program of this module, starts it, and waits until it is ready.
func startServer(ctx context.Context, dir, program string, args []string) (*served, error) {
	binary, err := buildProgram(ctx, dir, program)
	if err != nil {
		return nil, err
	}
	return startProgram(ctx, binary, args)
}

// buildProgram builds a program of this module into a folder.
func buildProgram(ctx context.Context, dir, program string) (binary string, err error) {
	binary = filepath.Join(dir, filepath.Base(program))
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "ndd/"+strings.TrimPrefix(program, "./"))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", program, err, out)
	}
	return binary, nil
}

// startProgram starts a server, and waits until it is ready.
func startProgram(ctx context.Context, binary string, args []string) (*served, error) {
	s := &served{cmd: exec.CommandContext(ctx, binary, args...)}
	var said bytes.Buffer
	s.cmd.Stderr = &said
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, after, ok := strings.Cut(line, "http://")
	if s.address, _, _ = strings.Cut(after, " "); !ok || err != nil {
		s.stop()
		return nil, fmt.Errorf("%s did not become ready: %q, %v\n%s", filepath.Base(binary), line, err, &said)
	}
	go io.Copy(io.Discard, out) // until it ends
	return s, nil
}

// under runs a load against the server, and returns the server's processor time, too.
func (s *served) under(ctx context.Context, l *load) (*loaded, time.Duration, error) {
	before := processTime(s.cmd.Process.Pid)
	result, err := l.run(ctx)
	spent := processTime(s.cmd.Process.Pid) - before
	if err == nil && result.answered == 0 {
		err = errors.New("nothing was answered")
	}
	return result, spent, err
}

// stop ends the server.
func (s *served) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait() // which says that it was killed
}

// processTime returns how long processors have worked for a process, in hundredths of a second; 0 where the system does not tell
// by /proc.
func processTime(pid int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(data), ") ")
	var utime, stime int64
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	fmt.Sscan(fields[11], &utime)
	fmt.Sscan(fields[12], &stime)
	return time.Duration(utime+stime) * 10 * time.Millisecond
}
