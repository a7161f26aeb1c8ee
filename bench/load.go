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

// A load is requests that are sent to a server: in a closed loop, each connection as fast as it is
// answered, or in an open one, at a rate, however slowly they are answered.
type load struct {
	address     string
	path        string
	media       string
	connections int
	rate        float64 // a second; 0 is a closed loop
	refusable   bool    // in a closed loop, too, some may be refused, and come again a little later
	lasts       time.Duration
	body        func(i int) []byte
	// bodies that are made before, and sent again and again; 0: each is made as it is sent
	again int
	check func(i int, answer []byte) error // of answers with status 200; nil: they are read and not kept
}

// A loaded is what became of a load.
type loaded struct {
	answered, refused int
	// answered in the time that the load lasts: those behind it, when nothing new comes, say
	// nothing of a rate
	within  int
	lasts   time.Duration
	seconds float64         // until all was answered
	latency []time.Duration // of those answered, sorted; in an open loop from when they were due
	spent   time.Duration   // processor time of this process
	late    int             // that were sent more than lateMax after they were due
	missed  bool            // the generator did not keep its rate: the figures say nothing
}

// rate returns answers a second.
func (l *loaded) rate() float64 {
	if l.within == 0 { // a short load on a machine that stood still
		return float64(l.answered) / l.seconds
	}
	return float64(l.within) / l.lasts.Seconds()
}

// quantile returns a latency in milliseconds.
func (l *loaded) quantile(q float64) float64 {
	if len(l.latency) == 0 {
		return 0
	}
	return float64(l.latency[min(len(l.latency)-1, int(q*float64(len(l.latency))))].Microseconds()) / 1e3
}

const (
	// keptMin is the part of the requests that an open loop must have sent, in time.
	keptMin = 0.99
	// lateMax is how late a request may be sent: while all connections wait for answers, it cannot
	// be.
	lateMax = 50 * time.Millisecond
	// refusedPause is how long a connection of a closed loop waits when it was refused.
	refusedPause = 10 * time.Millisecond
)

// run sends the load, on connections that are made before it begins.
func (l *load) run(ctx context.Context) (*loaded, error) {
	conns, err := l.dial()
	defer closeAll(conns)
	if err != nil {
		return nil, err
	}
	made := make([][]byte, l.again)
	for i := range made {
		made[i] = l.request(nil, i)
	}
	var next atomic.Int64
	began, spent := time.Now(), processorTime()
	results := make([]loaded, l.connections)
	errs := make([]error, l.connections)
	var group sync.WaitGroup
	for c := range l.connections {
		group.Go(func() { errs[c] = l.connection(ctx, conns[c], made, began, &next, &results[c]) })
	}
	group.Wait()
	sum := &loaded{lasts: l.lasts, seconds: max(time.Since(began), l.lasts).Seconds(), spent: processorTime() - spent}
	for i := range results {
		sum.answered += results[i].answered
		sum.refused += results[i].refused
		sum.within += results[i].within
		sum.late += results[i].late
		sum.latency = append(sum.latency, results[i].latency...)
	}
	slices.Sort(sum.latency)
	if l.rate > 0 {
		sum.missed = float64(sum.answered+sum.refused-sum.late) < keptMin*l.rate*l.lasts.Seconds()
	}
	return sum, errors.Join(errs...)
}

// dial makes the connections; with an error, those that could be made.
func (l *load) dial() (all []net.Conn, err error) {
	for range l.connections {
		c, err := net.Dial("tcp", l.address)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		c.Close()
	}
}

// request appends a request.
func (l *load) request(to []byte, i int) []byte {
	body := l.body(i)
	to = fmt.Appendf(to, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		l.path, l.media, len(body))
	return append(to, body...)
}

// connection sends requests on one connection, until the time is over.
func (l *load) connection(ctx context.Context, c net.Conn, made [][]byte, began time.Time, next *atomic.Int64,
	to *loaded) error {
	in, answer := bufio.NewReader(c), new(bytes.Buffer)
	var own, request []byte
	for ctx.Err() == nil {
		i := int(next.Add(1)) - 1
		due := time.Now()
		if l.rate > 0 {
			due = began.Add(time.Duration(float64(i) / l.rate * 1e9))
		}
		if due.Sub(began) >= l.lasts {
			return nil
		}
		time.Sleep(time.Until(due))
		if len(made) > 0 {
			request = made[i%len(made)]
		} else {
			own = l.request(own[:0], i)
			request = own
		}
		if time.Since(due) > lateMax {
			to.late++
		}
		if _, err := c.Write(request); err != nil {
			return err
		}
		status, err := l.readAnswer(in, answer)
		switch {
		case err != nil:
			return err
		case status == http.StatusOK:
			to.answered++
			if time.Since(began) <= l.lasts {
				to.within++
			}
			to.latency = append(to.latency, time.Since(due))
			if l.check != nil {
				if err := l.check(i, answer.Bytes()); err != nil {
					return err
				}
			}
		case status == http.StatusTooManyRequests && (l.rate > 0 || l.refusable):
			if to.refused++; l.rate == 0 {
				time.Sleep(refusedPause)
			}
		default:
			return fmt.Errorf("%s: status %d: %.200s", l.path, status, answer)
		}
	}
	return ctx.Err()
}

// readAnswer reads an answer and returns its status. It discards bodies that nothing checks.
func (l *load) readAnswer(in *bufio.Reader, body *bytes.Buffer) (int, error) {
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	body.Reset()
	if r.StatusCode == http.StatusOK && l.check == nil {
		_, err = io.Copy(io.Discard, r.Body)
		return r.StatusCode, err
	}
	_, err = io.Copy(body, r.Body)
	return r.StatusCode, err
}
