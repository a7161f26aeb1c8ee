package server

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/storage/store"
)

// ballast lets the heap grow by this size before the next garbage collection. The tables are mapped files, and the
// heap has only a few MiB, so under load the collector would run dozens of times a second. The ballast is never
// touched, so it takes no memory. There is only one: a second one might reuse memory, which Go would clear.
// memory.Program covers it.
var ballast = sync.OnceValue(func() []byte { return make([]byte, 24<<20) })

const (
	// drainNotice is the time during which a stopping server is not ready, but still answers, with Connection: close.
	// In this time clients and load balancers choose another server.
	drainNotice = 500 * time.Millisecond
	// drainMax is the maximum time for running requests to end. With drainNotice and the rest of the shutdown, the
	// process ends within 10 s.
	drainMax = 8 * time.Second
)

// Run serves until ctx ends, and then drains. It returns nil after a regular stop. Errors name the address or the
// file.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	// Set the defaults of optional functions.
	if o.notice == nil {
		o.notice = func() { time.Sleep(drainNotice) }
	}
	o.drainMax = cmp.Or(o.drainMax, drainMax)
	// Reserve the memory of requests, and make the service.
	requestMemory, release, err := reserve(o.Budget)
	if err != nil {
		return err
	}
	defer release()
	s, err := newService(&o, requestMemory)
	if err != nil {
		return err
	}
	if s.limits.Body < bodyBytesMax {
		o.Log.Info(fmt.Sprintf("a body may have at most %s instead of %s, since the memory of requests is a quarter of --memory: "+
			"%s", humanize.IBytes(uint64(s.limits.Body)), humanize.IBytes(bodyBytesMax), humanize.IBytes(uint64(requestMemory))))
	}
	ballast()
	if o.started != nil {
		o.started(s)
	}
	// Open the listeners, and then load and serve the index.
	failed := make(chan error, 2)
	front, closeAll, err := s.listenAll(failed)
	defer closeAll()
	if err != nil {
		return err
	}
	return s.live(ctx, front, failed)
}

// listenAll opens the addresses, and serves them until closeAll is called. A server that fails sends its error to
// failed.
func (s *service) listenAll(failed chan<- error) (front *listener, closeAll func(), err error) {
	o, closeAll := s.options, func() {}
	if err := s.fitConnections(descriptors()); err != nil {
		return nil, closeAll, err
	}
	if front, err = s.listen("--listen", o.Listen, s.front, s.handler); err != nil {
		return nil, closeAll, err
	}
	go front.serve(failed)
	if o.Admin == "" {
		return front, front.close, nil
	}
	back, err := s.listen("--admin", o.Admin, newConnections(adminConnections), s.adminHandler)
	if err != nil {
		return nil, front.close, err
	}
	go back.serve(failed)
	return front, func() { back.close(); front.close() }, nil
}

// live runs the phases of the server: it loads the index, serves it until ctx ends or something fails, drains,
// and closes the index.
func (s *service) live(ctx context.Context, front *listener, failed <-chan error) error {
	o := s.options
	loadContext, cancel := context.WithCancel(ctx)
	loaded := make(chan error, 1)
	go func() { defer close(loaded); loaded <- s.load(loadContext) }()
	err := s.loop(ctx, front, loaded, failed)
	cancel()
	// The index can be closed only after loading has ended, even if another event ended the loop.
	if e := <-loaded; err == nil && e != nil && !errors.Is(e, context.Canceled) {
		err = e
	}
	if err == nil && s.life.phase() == ready {
		s.life.enter(leaving)
		o.Log.Info("draining")
		notify("STOPPING=1")
		o.notice()
	}
	s.life.enter(draining)
	if !front.drain(o.drainMax) {
		o.Log.Warn(fmt.Sprintf("some requests were still under way after %v and were cut off", o.drainMax))
	}
	s.background.Wait()
	if x := s.index.Swap(nil); x != nil {
		err = errors.Join(err, x.Close())
	}
	return err
}

// loop handles the events between start and stop.
func (s *service) loop(ctx context.Context, front *listener, loaded, failed <-chan error) error {
	o := s.options
	// The watchdog of systemd expects a message in each interval.
	var watch <-chan time.Time
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return err
	}
	if interval > 0 {
		ticker := time.NewTicker(interval / 3)
		defer ticker.Stop()
		watch = ticker.C
	}
	// Handle events until the context ends or something fails.
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case err := <-loaded:
			loaded = nil
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			notify("READY=1")
			_, err = fmt.Fprintln(o.Ready, s.readyLine(front.scheme()+front.address()))
			if b, ok := o.Ready.(*bufio.Writer); ok && err == nil {
				err = b.Flush() // scripts wait for the line
			}
			if err != nil {
				return fmt.Errorf("standard output: %w", err)
			}
		case <-o.Reload:
			s.reload()
		case <-watch:
			notify("WATCHDOG=1")
		}
	}
}

// notify sends a message to systemd. It does nothing without systemd.
func notify(state string) { daemon.SdNotify(false, state) }

func (s *service) load(ctx context.Context) error {
	x, err := s.options.Load(ctx, &s.loading)
	if err != nil {
		return err
	}
	s.serve(x)
	if s.options.Scrub > 0 {
		s.background.Go(func() { s.scrub(ctx, x) })
	}
	return nil
}

// reload reads tokens and certificates again, after SIGHUP. If a file cannot be read, its old content stays in use.
func (s *service) reload() {
	if s.keys == nil && s.tls == nil {
		s.log.Warn("hang-up signal ignored: there is no token file and no certificate to read again")
		return
	}
	if s.keys != nil {
		s.reloadTokens()
	}
	if s.tls != nil {
		if err := s.tls.Reload(); err != nil {
			s.log.Error("certificate not read; it is unchanged", "error", err)
		} else {
			s.log.Info("certificate read again")
		}
	}
}

func (s *service) reloadTokens() {
	switch n, err := s.keys.Reload(); {
	case err != nil:
		s.log.Error("token file not read; the tokens are unchanged", "error", err)
	case n == 0:
		s.log.Warn("token file read again: it has no tokens any more, so all requests are refused")
	default:
		s.log.Info("token file read again", "tokens", n)
	}
}

// scrub checks all blocks of the index's files again and again, one round per Options.Scrub, to find damage before a
// query does. It ends with ctx, or with the first damage, which takes the server out of service.
func (s *service) scrub(ctx context.Context, x *engine.Index) {
	every := s.options.Scrub
	for ctx.Err() == nil {
		began := time.Now()
		err := live.Unwrap(x).Scrub(ctx, func(bytes, total uint64) error {
			return sleep(ctx, time.Duration(float64(every)*float64(bytes)/float64(max(total, bytes))))
		})
		switch {
		case errors.Is(err, store.ErrCorrupt):
			s.noticeDamage(err)
			return
		case err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrClosed):
			s.log.Warn("the index could not be scrubbed", "error", err)
		case err == nil:
			s.metrics.scrubs.Inc()
		}
		if sleep(ctx, every-time.Since(began)) != nil {
			return
		}
	}
}

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readyLine returns the line that the server prints when it is ready, with a command to try at a URL.
func (s *service) readyLine(url string) string {
	x := s.index.Load()
	text := fmt.Sprintf("ready: %s, k=%d, %s", cli.Number(x.Stats().Documents, "document"), x.Design().K, url)
	if tooShort := s.loading.tooShort.Load(); tooShort > 0 {
		text += fmt.Sprintf(" (%s too short, left out)", humanize.Comma(tooShort))
	}
	text += " - try: curl -s "
	if socket, ok := strings.CutPrefix(s.options.Listen, socketPrefix); ok {
		text += "--unix-socket " + socket + " "
	}
	if s.keys != nil {
		text += `-H "Authorization: Bearer $TOKEN" `
	}
	first := s.loading.first.Load()
	if first == nil && x.Recipe() != nil {
		return text + url + `/v1/check-and-insert -d '{"id": "first", "text": "Now is the winter of our ` +
			`discontent made glorious summer by this sun of York"}'`
	}
	if first == nil {
		first = new(simhash.Fingerprint)
	}
	return text + fmt.Sprintf(`%s/v1/query -d '{"fingerprint": "%s"}'`, url, first)
}
