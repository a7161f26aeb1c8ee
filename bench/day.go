package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ndd/cmd/ndd/client"
)

// dayCrawlers write to and ask the server at a time.
const dayCrawlers = len(codewords)

// day lets crawlers write to a server and ask it, each of which knows what must be answered, while the server is killed, stopped,
// killed as it starts and as it is merged, told of new tokens, backed up and checked, one after the other in changing order,
// until the time is over and each has happened. After each start all that was stored must be there, and what was deleted must not; in the
// end the index is checked. Anything else is an error.
func day(ctx context.Context, b *bench, r *Result) error {
	dir, remove, err := b.folder("day")
	if err != nil {
		return err
	}
	defer remove()
	d := &rollingDay{seed: uint64(time.Now().UnixNano()), dir: dir, index: filepath.Join(dir, "index"), times: map[string]int{}, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * dayCrawlers}}}
	defer d.http.CloseIdleConnections()
	d.rng = rand.New(rand.NewPCG(d.seed, 18))
	if d.binary, err = buildProgram(ctx, dir, "./cmd/ndd"); err != nil {
		return err
	}
	for i := range dayCrawlers {
		d.crawlers = append(d.crawlers, newCrawler(d, i))
	}
	began := time.Now()
	if err := d.roll(ctx, b.lasts); err != nil {
		return errors.Join(err, d.mistakes())
	}
	d.report(r, time.Since(began))
	return d.mistakes()
}

// A rollingDay is a server that is not left in peace, and its crawlers.
type rollingDay struct {
	seed                       uint64
	rng                        *rand.Rand // of what happens to the server
	dir, binary, index, tokens string     // tokens is the file
	crawlers                   []*crawler
	server                     *served
	tokenList                  []string // the youngest first
	current                    atomic.Pointer[client.Client]
	times                      map[string]int // what happened
	starts                     int
	memory                     uint64 // bytes at most, of any server
	lost                       atomic.Int64
	http                       *http.Client

	mu      sync.Mutex
	mistake []string // the first of them
	count   int
}

// roll lets the day pass.
func (d *rollingDay) roll(ctx context.Context, lasts time.Duration) error {
	if err := d.newTokens(); err != nil {
		return err
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	defer func() { d.server.stop() }()
	var group sync.WaitGroup
	crawling, cancel := context.WithCancel(ctx)
	defer group.Wait()
	defer cancel() // before waiting
	for _, c := range d.crawlers {
		group.Go(func() { c.run(crawling) })
	}
	happenings := []struct {
		name string
		do   func(context.Context) error
	}{
		{"kill -9", d.kill}, {"kill -9, and again while it starts", d.killStarting}, {"stop and check", d.stopAndCheck}, {"stop and merge", d.stopAndMerge},
		{"stop, and kill -9 while it is merged", d.killMerging}, {"SIGHUP with a new token", d.hangUp}, {"backup and check", d.backUp},
	}
	end := time.Now().Add(lasts)
	for first := true; first || time.Now().Before(end); first = false {
		for _, i := range d.rng.Perm(len(happenings)) {
			if !first && !time.Now().Before(end) || d.wrongs() > 0 {
				break
			}
			if err := sleep(ctx, time.Duration(d.rng.ExpFloat64()*float64(min(max(lasts/60, 50*time.Millisecond), 10*time.Second)))); err != nil {
				return err
			}
			if err := happenings[i].do(ctx); err != nil {
				return fmt.Errorf("%s: %w", happenings[i].name, err)
			}
			d.times[happenings[i].name]++
		}
		if d.wrongs() > 0 {
			break
		}
	}
	if err := d.verify(ctx); err != nil {
		return err
	}
	cancel()
	group.Wait()
	if err := d.stop(); err != nil {
		return err
	}
	return d.ndd(ctx, "check", d.index)
}

// start starts the server; crawlers go on when all that they have stored was found.
func (d *rollingDay) start(ctx context.Context) error {
	args := []string{"serve", "-i", d.index, "--create", "--listen", "127.0.0.1:0", "--admin", "off", "--quiet", "--token-file", d.tokens}
	s, err := startProgram(ctx, d.binary, args)
	if err != nil {
		return err
	}
	d.server = s
	d.starts++
	c := d.client(d.tokenList[0])
	for _, w := range d.crawlers {
		if err := w.verify(ctx, c); err != nil {
			return fmt.Errorf("after start %d: %w", d.starts, err)
		}
	}
	d.current.Store(c)
	return nil
}

// client returns one with a token. A call is made once: whoever makes it must see what came of it.
func (d *rollingDay) client(token string) *client.Client {
	return client.New("http://"+d.server.address, client.Options{Token: token, Tries: 1, HTTP: d.http})
}

// up waits for a server, and returns nil when ctx has ended.
func (d *rollingDay) up(ctx context.Context) *client.Client {
	for {
		if c := d.current.Load(); c != nil {
			return c
		}
		if sleep(ctx, 5*time.Millisecond) != nil {
			return nil
		}
	}
}

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// verify holds all crawlers' documents against the server that runs.
func (d *rollingDay) verify(ctx context.Context) error {
	for _, c := range d.crawlers {
		if err := c.verify(ctx, d.current.Load()); err != nil {
			return err
		}
	}
	return nil
}

// wrong notes that the server has not done what it must.
func (d *rollingDay) wrong(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count++; len(d.mistake) < 10 {
		d.mistake = append(d.mistake, fmt.Sprintf(format, args...))
	}
}

func (d *rollingDay) wrongs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// mistakes returns what the server has done wrong, nil for nothing.
func (d *rollingDay) mistakes() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == 0 {
		return nil
	}
	return fmt.Errorf("seed %d: %d mistakes, of which %d documents are lost; the first are:\n%s", d.seed, d.count, d.lost.Load(), strings.Join(d.mistake, "\n"))
}

// report fills in the table.
func (d *rollingDay) report(r *Result, took time.Duration) {
	r.Columns = []string{"times"}
	count, held := map[string]int{}, 0
	for _, c := range d.crawlers {
		for kind, n := range c.count {
			count[kind] += n
		}
		held += len(c.list)
	}
	for _, counts := range []map[string]int{count, d.times} {
		names := make([]string, 0, len(counts))
		for name := range counts {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			r.row(name, number(float64(counts[name])))
		}
	}
	r.row("starts of the server", number(float64(d.starts)))
	r.row("documents in the end", number(float64(held)))
	r.row("documents lost", number(float64(d.lost.Load())))
	r.row("wrong answers", number(float64(d.wrongs())))
	r.row("memory of a server at most, MiB", number(float64(d.memory>>20)))
	r.note("%d crawlers for %v, seed %d; after each start all documents that were stored were found, and those deleted were not; ndd check found nothing in the end", len(d.crawlers), took.Round(time.Second), d.seed)
}

// signal sends the server a signal.
func (d *rollingDay) signal(s os.Signal) error { return d.server.cmd.Process.Signal(s) }

// stop ends the server as systemd would.
func (d *rollingDay) stop() error {
	d.measure()
	d.current.Store(nil)
	if err := d.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := d.server.cmd.Wait(); err != nil {
		return fmt.Errorf("it was stopped, and ended with %w", err)
	}
	return nil
}
