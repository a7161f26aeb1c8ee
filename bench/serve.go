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
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
)

const (
	serveConnections  = 64
	batchFingerprints = 1024
)

// serve measures a server and, for comparison, a server that answers a constant. The load generator is in this process.
// A closed loop measures the maximum rate. An open loop at half of it measures latencies. If an open loop does not keep
// its rate, its figures are omitted. Answers to queries are verified.
func serve(ctx context.Context, b *bench, r *Result) error {
	fingerprints, index, err := b.index(ctx)
	if err != nil {
		return err
	}
	r.Columns = []string{"a second", "us processor, server", "us processor, generator", "p50 ms at half", "p99 ms at half"}
	// Prepare the requests.
	lasts := min(5*time.Second, max(300*time.Millisecond, time.Duration(b.n)*time.Microsecond/5))
	hex := func(i int) string { return fmt.Sprintf("%016x", fingerprints[i%len(fingerprints)]) }
	query := load{path: "/v1/query", media: "application/json", connections: serveConnections, lasts: lasts,
		body: func(i int) []byte { return []byte(`{"fingerprint": "` + hex(i) + `"}`) }}
	query.check = func(i int, answer []byte) error { // this costs the generator as much as the check of queries
		if !bytes.Contains(answer, []byte(`"hits":[{"fingerprint":"`)) || len(hex(i)) != 16 {
			return fmt.Errorf("%.300s", answer)
		}
		return nil
	}
	// Measure the server that answers a constant.
	bare, err := b.serveRow(ctx, r, "net/http alone, a constant", "./bench/bare", nil, query, 1)
	if err != nil {
		return err
	}
	// Measure single queries, and compare the two.
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
		short(queries.rate/bare.rate), short(queries.each/bare.each), short(queries.p99/bare.p99))
	// Measure batches and inserts.
	_, err = b.serveRow(ctx, r, fmt.Sprintf("fingerprints, in batches of %d", batchFingerprints), "./cmd/ndd",
		served, batchLoad(fingerprints, lasts), batchFingerprints)
	if err != nil {
		return err
	}
	if err := b.serveInserts(ctx, r, lasts); err != nil {
		return err
	}
	r.note("%s fingerprints held, k = %d, two planar tables; %d connections that are kept; server and generator "+
		"share %d processors", humanize.Comma(int64(b.n)), distance, serveConnections, runtime.GOMAXPROCS(0))
	r.note("each answer was checked: that of a query has the fingerprint, that of a batch a row for each fingerprint; an open " +
		"loop that kept less than 99 %% of its rate is left out (-)")
	return nil
}

// batchLoad returns requests of batches of fingerprints.
func batchLoad(fingerprints []uint64, lasts time.Duration) load {
	return load{path: "/v1/batch", media: "application/octet-stream", connections: 2 * runtime.GOMAXPROCS(0),
		lasts: lasts, body: func(i int) []byte {
			body := make([]byte, 0, 8*batchFingerprints)
			for j := range batchFingerprints {
				body = binary.LittleEndian.AppendUint64(body, fingerprints[(i*batchFingerprints+j)%len(fingerprints)])
			}
			return body
		}, check: func(i int, answer []byte) error {
			if n := bytes.Count(answer, []byte{'\n'}); n < batchFingerprints {
				return fmt.Errorf("%d rows for %d fingerprints", n, batchFingerprints)
			}
			return nil
		}}
}

// A figure holds the measurements of one server.
type figure struct {
	rate float64 // things a second
	each float64 // CPU time of the server for each thing, in us
	p99  float64 // ms at half the rate; NaN if that rate was not reached
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
	l.address = s.address
	peak, spent, err := s.measure(ctx, &l)
	if err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	if peak.refused > 0 {
		r.note("%s: %d were refused, and %d answered", name, peak.refused, peak.answered)
	}
	n := float64(peak.answered * things)
	l.rate = peak.rate() / 2
	half, _, err := s.measure(ctx, &l)
	if err != nil {
		return f, fmt.Errorf("%s at half the rate: %w", name, err)
	}
	f = figure{peak.rate() * float64(things), spent.Seconds() / n * 1e6, half.quantile(0.99)}
	p50 := half.quantile(0.5)
	if half.missed {
		p50, f.p99 = math.NaN(), math.NaN()
	}
	r.row(name, f.rate, f.each, peak.spent.Seconds()/n*1e6, p50, f.p99)
	return f, nil
}

// serveInserts measures check-and-inserts of texts of 2 KB, durable.
func (b *bench) serveInserts(ctx context.Context, r *Result, lasts time.Duration) error {
	l := load{path: "/v1/check-and-insert", media: "application/json", connections: serveConnections, lasts: lasts,
		body: func(i int) []byte {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano())))
			text := fmt.Appendf(nil, `{"id": "%d-%d", "text": "`, i, rng.Uint64())
			for len(text) < 2048 {
				text = append(strconv.AppendUint(text, uint64(rng.Uint32()), 36), ' ')
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
	_, err := b.serveRow(ctx, r, "check-and-inserts of 2 KB, durable", "./cmd/ndd", args, l, 1)
	return err
}
