package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A load describes requests to a server. In a closed loop, each connection sends a request when the previous one is
// answered. In an open loop, requests are sent at a rate, however slow the answers are.
type load struct {
	address     string
	path        string
	media       string
	connections int
	rate        float64 // requests per second; 0 is a closed loop
	lasts       time.Duration
	body        func(i int) []byte
	check       func(i int, answer []byte) error // checks answers with status 200
}

// A loadResult has the answers to a load and their times.
type loadResult struct {
	answered, refused int
	seconds           float64         // time until all requests were answered
	latency           []time.Duration // latencies of answered requests, sorted; in an open loop since the time when they were due
	spent             time.Duration   // CPU time of this process
	late              int             // number of requests that were sent more than lateMax after they were due
	missed            bool            // the generator did not keep its rate: the figures say nothing
}

// rate returns answers a second.
func (l *loadResult) rate() float64 { return float64(l.answered) / l.seconds }

// quantile returns a latency in milliseconds.
func (l *loadResult) quantile(q float64) float64 {
	if len(l.latency) == 0 {
		return 0
	}
	return float64(l.latency[min(len(l.latency)-1, int(q*float64(len(l.latency))))].Microseconds()) / 1e3
}

const (
	// keptMin is the share of requests that an open loop must send in time.
	keptMin = 0.99
	// lateMax is the maximum delay of a request. Requests are late if all connections wait for answers.
	lateMax = 50 * time.Millisecond
	// refusedPause is the time that a connection of a closed loop waits after a refusal, for example by a stalled
	// machine.
	refusedPause = 10 * time.Millisecond
)

// run sends the load, on connections that are made before it begins.
func (l *load) run(ctx context.Context) (*loadResult, error) {
	// Connect.
	conns := make([]net.Conn, l.connections)
	for i := range conns {
		var err error
		if conns[i], err = net.Dial("tcp", l.address); err != nil {
			return nil, err
		}
		defer conns[i].Close()
	}
	// Send requests on all connections at the same time.
	var next atomic.Int64
	began, spent := time.Now(), processorTime()
	results := make([]loadResult, l.connections)
	errs := make([]error, l.connections)
	var group sync.WaitGroup
	for c, conn := range conns {
		group.Go(func() { errs[c] = l.connection(ctx, conn, began, &next, &results[c]) })
	}
	group.Wait()
	// Sum up the results.
	sum := &loadResult{seconds: max(time.Since(began), l.lasts).Seconds(), spent: processorTime() - spent}
	for _, r := range results {
		sum.answered += r.answered
		sum.refused += r.refused
		sum.late += r.late
		sum.latency = append(sum.latency, r.latency...)
	}
	slices.Sort(sum.latency)
	if l.rate > 0 {
		sum.missed = float64(sum.answered+sum.refused-sum.late) < keptMin*l.rate*l.lasts.Seconds()
	}
	return sum, errors.Join(errs...)
}

// connection sends requests on one connection, until the time is over.
func (l *load) connection(ctx context.Context, c net.Conn, began time.Time, next *atomic.Int64, to *loadResult) error {
	in, answer := bufio.NewReader(c), new(bytes.Buffer)
	var request []byte
	for ctx.Err() == nil {
		// Wait until the next request is due.
		i := int(next.Add(1)) - 1
		due := time.Now()
		if l.rate > 0 {
			due = began.Add(time.Duration(float64(i) / l.rate * 1e9))
		}
		if due.Sub(began) >= l.lasts {
			return nil
		}
		time.Sleep(time.Until(due))
		// Send the request.
		body := l.body(i)
		request = fmt.Appendf(request[:0], "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: "+
			"%d\r\n\r\n", l.path, l.media, len(body))
		if time.Since(due) > lateMax {
			to.late++
		}
		if _, err := c.Write(append(request, body...)); err != nil {
			return err
		}
		// Read and check the answer.
		status, err := readAnswer(in, answer)
		switch {
		case err != nil:
			return err
		case status == http.StatusOK:
			to.answered++
			to.latency = append(to.latency, time.Since(due))
			if err := l.check(i, answer.Bytes()); err != nil {
				return err
			}
		case status == http.StatusTooManyRequests:
			if to.refused++; l.rate == 0 {
				time.Sleep(refusedPause)
			}
		default:
			return fmt.Errorf("%s: status %d: %.200s", l.path, status, answer)
		}
	}
	return ctx.Err()
}

// readAnswer reads an answer and returns its status.
func readAnswer(in *bufio.Reader, body *bytes.Buffer) (int, error) {
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	body.Reset()
	_, err = io.Copy(body, r.Body)
	return r.StatusCode, err
}
