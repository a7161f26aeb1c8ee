package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
)

const (
	serveConnections = 64
	batchPrints      = 1024
	heavyPrints      = 8192 // of requests that are offered at ten times what can be answered
)

// serve measures a server and, beside it, one that answers a constant, by a generator in this
// process: the closed loop says how much can be answered, the open one, at half of that, how long
// it takes. An open loop that does not keep its rate is said to have missed it, and its figures are
// left out. Answers to queries are checked.
func serve(ctx context.Context, b *bench, r *Result) error {
	prints, index, err := b.index(ctx)
	if err != nil {
		return err
	}
	r.Columns = []string{"a second", "us processor, server", "us processor, generator", "p50 ms at half", "p99 ms at half"}
	lasts := min(5*time.Second, max(300*time.Millisecond, time.Duration(b.n)*time.Microsecond/5))
	hex := func(i int) string { return fmt.Sprintf("%016x", prints[i%len(prints)]) }
	query := load{path: "/v1/query", media: "application/json", connections: serveConnections, lasts: lasts,
		body: func(i int) []byte { return []byte(`{"fingerprint": "` + hex(i) + `"}`) }}
	query.check = func(i int, answer []byte) error { // as much work for the generator as with queries
		if !bytes.Contains(answer, []byte(`"hits":[{"fingerprint":"`)) || len(hex(i)) != 16 {
			return fmt.Errorf("%.300s", answer)
		}
		return nil
	}
	bare, err := b.serveRow(ctx, r, "net/http alone, a constant", "./bench/bare", nil, query, 1)
	if err != nil {
		return err
	}
	query.check = func(i int, answer []byte) error {
		if !bytes.Contains(answer, []byte(`"hits":[{"fingerprint":"`+hex(i)+`","distance":0`)) {
			return fmt.Errorf("%s: %.300s", hex(i), answer)
		}
		return nil
	}
	served := []string{"serve", "-i", index, "--listen", "127.0.0.1:0", "--admin", "off", "--memory-only", "--quiet"}
	queries, err := b.serveRow(ctx, r, "queries, one fingerprint each", "./cmd/ndd", served, query, 1)
	if err != nil {
		return err
	}
	r.note("queries: %s times the rate of net/http alone, %s times its processor time, %s times its p99 at half the "+
		"rate; - where one was not measured",
		number(queries.rate/bare.rate), number(queries.each/bare.each), number(queries.p99/bare.p99))
	batch := load{path: "/v1/batch", media: "application/octet-stream", connections: 2 * runtime.GOMAXPROCS(0),
		lasts: lasts, body: batchOf(prints, batchPrints), check: func(i int, answer []byte) error {
			if n := bytes.Count(answer, []byte{'\n'}); n < batchPrints {
				return fmt.Errorf("%d rows for %d fingerprints", n, batchPrints)
			}
			return nil
		}}
	_, err = b.serveRow(ctx, r, fmt.Sprintf("fingerprints, in batches of %d", batchPrints), "./cmd/ndd",
		served, batch, batchPrints)
	if err != nil {
		return err
	}
	if err := b.serveInserts(ctx, r, lasts); err != nil {
		return err
	}
	if err := b.overload(ctx, r, served, prints, lasts); err != nil {
		return err
	}
	r.note("%s fingerprints held, k = %d, two planar tables; %d connections that are kept; server and generator "+
		"share %d processors", humanize.Comma(int64(b.n)), distance, serveConnections, runtime.GOMAXPROCS(0))
	r.note("each request was checked: a query has what was asked for, a batch a row for each fingerprint; an open " +
		"loop that kept less than 99 %% of its rate is left out")
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

// A figure holds the measurements of one server.
type figure struct {
	rate float64 // things a second
	each float64 // us of processor for each, of the server
	p99  float64 // ms at half the rate; not a number where that was missed
}

// serveRow measures one server by one kind of request with a number of things in it.
func (b *bench) serveRow(ctx context.Context, r *Result, name, program string, args []string, l load,
	things int) (f figure, err error) {
	b.say("%s", name)
	s, err := startServer(ctx, b.dir, program, args)
	if err != nil {
		return f, err
	}
	defer s.stop()
	l.address, l.refusable = s.address, true // by a machine that stands still meanwhile
	peak, spent, err := s.under(ctx, &l)
	if err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	if peak.refused > 0 {
		r.note("%s: %d were refused, and %d answered", name, peak.refused, peak.answered)
	}
	n := float64(peak.answered * things)
	l.rate = peak.rate() / 2
	half, _, err := s.under(ctx, &l)
	if err != nil {
		return f, fmt.Errorf("%s at half the rate: %w", name, err)
	}
	f = figure{peak.rate() * float64(things), spent.Seconds() / n * 1e6, half.quantile(0.99)}
	cells := []Cell{number(f.rate), number(f.each), number(peak.spent.Seconds() / n * 1e6)}
	if half.missed {
		cells, f.p99 = append(cells, word("missed its rate"), word("missed its rate")), math.NaN()
	} else {
		cells = append(cells, number(half.quantile(0.5)), number(f.p99))
	}
	r.row(name, cells...)
	return f, nil
}

// serveInserts measures check-and-inserts of texts of 2 KB, durable.
func (b *bench) serveInserts(ctx context.Context, r *Result, lasts time.Duration) error {
	words := make([]string, 20_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range words {
		words[i] = fmt.Sprintf("w%x", rng.Uint32())
	}
	l := load{path: "/v1/check-and-insert", media: "application/json", connections: serveConnections, lasts: lasts,
		body: func(i int) []byte {
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
	args := []string{"serve", "-i", filepath.Join(b.dir, "inserted"), "--create", "--listen", "127.0.0.1:0", "--admin",
		"off", "--quiet"}
	if _, err := b.serveRow(ctx, r, "check-and-inserts of 2 KB, durable", "./cmd/ndd", args, l, 1); err != nil {
		return err
	}
	syncs, err := syncRate(b.dir)
	if err != nil {
		return err
	}
	r.note("this disk syncs 4 KiB %s times a second for one caller", humanize.CommafWithDigits(syncs, 0))
	return nil
}

// overload offers ten times as many large batches as can be answered.
func (b *bench) overload(ctx context.Context, r *Result, args []string, prints []uint64,
	lasts time.Duration) error {
	const name = "large batches at 10 times the peak"
	b.say("%s", name)
	s, err := startServer(ctx, b.dir, "./cmd/ndd", args)
	if err != nil {
		return err
	}
	defer s.stop()
	l := load{address: s.address, path: "/v1/batch?unique=true", media: "application/octet-stream",
		connections: 8 * runtime.GOMAXPROCS(0), refusable: true, lasts: lasts, body: batchOf(prints, heavyPrints), again: 32}
	peak, spent, err := s.under(ctx, &l)
	if err != nil {
		return err
	}
	r.row("large batches, at the peak", number(peak.rate()), number(spent.Seconds()/float64(peak.answered)*1e6),
		number(peak.spent.Seconds()/float64(peak.answered)*1e6), number(peak.quantile(0.5)), number(peak.quantile(0.99)))
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
	// of the processors, what the generator left to the server
	left := func(l *loaded) float64 { return float64(runtime.GOMAXPROCS(0)) - l.spent.Seconds()/l.seconds }
	r.row(name, number(over.rate()), number(spent.Seconds()/n*1e6), number(over.spent.Seconds()/n*1e6),
		number(over.quantile(0.5)), number(over.quantile(0.99)))
	r.note("%s: the generator left %.2f of %d processors to the server, at the peak %.2f; by what was left, the "+
		"goodput is %.2f times that of the peak",
		name, left(over), runtime.GOMAXPROCS(0), left(peak), over.rate()/left(over)/(peak.rate()/left(peak)))
	r.note("%s: %d answered, %d refused; the p50 and p99 of both rows of large batches are those of that load, not "+
		"of half of it", name, over.answered, over.refused)
	r.note("%s: %.2f times the goodput of the peak, %.2f times its p99; the server had %s of memory at "+
		"most", name, over.rate()/peak.rate(), over.quantile(0.99)/peak.quantile(0.99),
		humanize.IBytes(statusBytes(s.cmd.Process.Pid, "VmHWM")))
	return nil
}
